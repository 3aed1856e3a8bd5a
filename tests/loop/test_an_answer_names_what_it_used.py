"""Of all notes before the model, an answer used those that it names or repeats; the others were only shown."""

import pytest

from agent.loop.used_notes import used_notes
from agent.tools.tool import Cited

NOTES = {
    "mara.md": "---\nid: x\n---\nMy sister Mara lives in Porto.\n",
    "boat.md": "# The boat\n\nThe boat is blue. It lies in the harbour of Lagos.\n",
    "code.md": "The door code is 4712\n",
    "姐姐.md": "我的姐姐玛拉住在波尔图。\n",
}


def used(answer: str, task: str) -> set[str]:
    cited = [Cited(path, (1, 9)) for path in NOTES]
    return {each.path for each in used_notes(answer, task, cited, lambda path: NOTES[path].encode())}


@pytest.mark.parametrize(
    ("task", "answer", "paths"),
    [
        ("What is the name of my sister?", "Your sister is called Mara.", {"mara.md"}),
        ("What is the door code?", "It is 4712.", {"code.md"}),
        ("Where is the boat?", "In Lagos, in the harbour.", {"boat.md"}),
        ("Where is the boat?", "See [[boat]].", {"boat.md"}),
        ("Where is the boat?", "I don't know.", set()),
        ("What is the derivative of x squared?", "It is 2x.", set()),
        ("我的姐姐住在哪里？", "她住在波尔图。", {"姐姐.md"}),
        ("Is the door blue?", "I do not know the colour of your door.", set()),
    ],
)
def test_an_answer_uses_what_it_names_or_repeats(task: str, answer: str, paths: set[str]) -> None:
    assert used(answer, task) == paths


def test_a_note_that_is_gone_was_not_used() -> None:
    assert used_notes("It is 4712.", "?", [Cited("gone.md", (1, 2))], lambda path: None) == ()
