"""What only asks tells nothing: it makes no entry, and is not given for an answer."""

import pytest

from agent.memory.understanding.statements import only_asks


@pytest.mark.parametrize(
    "text",
    [
        "What is the name of my sister?",
        "Where does Mara live? And since when?",
        "When do we fly to Lisbon?\n\n([[inbox/q]])",
        "Who has the spare key?\n\n([[inbox/2026-11-26 10.30 note 7]])",
        "Who has it? ([[a 1]], [[b 2]])",
        "我妹妹叫什么名字？",
        "钥匙在哪里？谁有备用的？",
        "靠窗那排矮座定的多高来着",
    ],
)
def test_questions_only_ask(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "My sister Mara lives in Porto.",
        "My flight is on 3 March. When do I have to leave?",
        "Write a note about tea",
        "我妹妹住在波尔图。她叫什么？",
        "我刚才还在家来着",
        "",
        "([[inbox/q]])",
    ],
)
def test_what_says_something_does_not(text: str) -> None:
    assert not only_asks(text)
