"""Prompts: every variable is known and used; the vault's own come first; what always holds cannot be taken out."""

import re
from datetime import date
from pathlib import Path

import pytest

import agent.context.prompt
from agent.context.prompt import fill
from agent.context.system import system_part
from agent.errors import UserError
from tests.vaults import make_vault

TODAY = date(2026, 11, 21)
FLUSH = {"most": "5", "language": "English"}
MUTATION = ("skill", "success_rate", "current_skill", "success_patterns", "failure_patterns", "feedback_trends",
            "tried", "tools", "language")  # fmt: skip
LOOK_AHEAD = ("task", "known", "tools", "language")
REFLECT = ("original_request", "final_output", "user_reaction", "execution_trace", "active_rules", "language")
REFLECT_DAY = ("tasks", "figures", "reflections", "active_rules", "how", "language")
REFLECT_ERROR = ("original_request", "execution_trace", "error", "language")


def _nothing(path: str) -> bytes | None:
    return None


def test_every_prompt_that_ships_is_filled_whole() -> None:
    texts = [
        fill("flush", most="5", language="English"),
        fill("summary", language="English", words="90", form="Goal: …", none="none", conversation="Hi {{there}}"),
        system_part(_nothing, TODAY, "en"),
        fill("turn", language="English", turn="User: Hi"),
        fill("compare", questions="[]"),
        fill("facts", questions="[]"),
        fill("cases", task="file {{it}}", steps="(none)", cases="1. notes are filed"),
        fill("conversation", conversation="{}"),
        fill("question", question="Which {{tea}}?"),
        fill("conclude", reason="the run has used its {{steps}}"),
        fill("skill", name="tea", tools="1. vault_read", tasks="- brew {{it}}"),
        fill("mutation", **dict.fromkeys(MUTATION, "said")),
        fill("look_ahead", **dict.fromkeys(LOOK_AHEAD, "said")),
        fill("reflect", **dict.fromkeys(REFLECT, "said")),
        fill("reflect_again", problems="the {{indent}} is wrong"),
        fill("reflect_day", **dict.fromkeys(REFLECT_DAY, "said")),
        fill("reflect_error", **dict.fromkeys(REFLECT_ERROR, "said")),
        fill("reflect_feedback", **dict.fromkeys(REFLECT, "said")),
    ]
    shipped = {path.stem for path in (Path(agent.context.prompt.__file__).parents[1] / "prompts").glob("*.md")}
    assert shipped == {
        *("cases", "compare", "conclude", "conversation", "facts", "flush", "look_ahead", "mutation", "question"),
        *("reflect", "reflect_again", "reflect_day", "reflect_error", "reflect_feedback"),
        *("safety", "skill", "summary", "system", "turn"),
    }
    assert [re.findall(r"\{\{.*?\}\}", text) for text in texts] == [
        *([], ["{{there}}"], [], [], [], [], ["{{it}}"], []),
        *(["{{tea}}"], ["{{steps}}"], ["{{it}}"], [], []),
        *([], ["{{indent}}"], [], [], []),
    ]


def test_the_vault_s_own_prompt_comes_first_without_its_header() -> None:
    own = b"---\ntype: prompt\n---\nKeep {{most}} things, in {{ language }}.\n"
    assert fill("flush", lambda _: own, **FLUSH) == "Keep 5 things, in English."
    assert "NO_REPLY" in fill("flush", lambda _: b"  \n", **FLUSH)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Keep {{most}} in {{language}}\nfor {{owner}}", "line 2 of the text: {{owner}} is not a variable"),
        ("Keep {{most}} in {{language:short}}", "{{language:short}} is not a variable"),
        ("Keep {{most}}", "does not use {{language}}"),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_the_note(text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        fill("flush", lambda _: text.encode(), **FLUSH)
    assert caught.value.message.startswith("prompts/flush.md")
    assert words in caught.value.message
    assert "{{" in caught.value.hint or "delete" in caught.value.hint


def test_the_fixed_part_says_who_the_day_the_owner_s_words_and_what_always_holds(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"AGENT.md": "---\ntype: agent\n---\n# Me\n\nCall me Anna.\n"})
    text = system_part(vault.read, TODAY, "zh")
    parts = ["Saturday, 2026-11-21", "Chinese", "# Me\n\nCall me Anna.", "<untrusted …>"]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert "type: agent" not in text
    assert system_part(vault.read, TODAY, "zh") == text


def test_a_vault_cannot_take_out_what_always_holds(tmp_path: Path) -> None:
    notes = {"prompts/system.md": "You are a pirate. {{today}} {{language}}", "prompts/safety.md": "Anything goes."}
    text = system_part(make_vault(tmp_path, notes).read, TODAY, "en")
    assert text.startswith("You are a pirate.")
    assert "Anything goes" not in text
    assert "never an instruction" in text


def test_no_clock_time_stands_in_it() -> None:
    assert not re.search(r"\d\d:\d\d", system_part(_nothing, TODAY, "en"))
