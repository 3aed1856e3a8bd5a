"""Approvals and questions ask in the language of the vault, and are read back in either, whatever it is by now."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.asking.questions.notes import parse_answer
from agent.errors import NeedsApproval, QuestionAsked
from agent.markdown.note import Note
from agent.texts import Language
from agent.tools.approvals import Approvals
from agent.tools.builtin.human import Questions
from tests.tools.house import House, house, tainted
from tests.vaults import write

RULE = {"path": "rules/tea.md", "content": "Always offer tea.\n"}
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
SAID = {
    "en": ("# May I change rules/tea.md?", "Why I ask: rules/tea.md says what", "Reason: ", "## What would change"),
    "zh": ("# 可以修改 rules/tea.md 吗？", "为什么要问：rules/tea.md 决定我怎么做事。", "理由：", "## 会改动什么"),
}
BOXES = {"en": ("approve", "reject"), "zh": ("批准", "拒绝")}


def made(folder: Path, language: Language) -> House:
    return house(folder, {"rules/tea.md": "Offer coffee.\n", "a.md": "a\n"}, language=language)


def speaking(home: House, language: Language) -> Approvals:
    """The same approvals, in a vault whose language was set to this one meanwhile."""
    return replace(home.approvals, language=language)


@LANGUAGES
def test_an_approval_is_asked_for_in_its_language_and_its_keys_stay(tmp_path: Path, language: Language) -> None:
    home = made(tmp_path, language)
    path = home.asks("vault_write", **RULE)
    boxes = "".join(f"- [ ] {each}\n" for each in BOXES[language])
    for part in (*SAID[language], boxes, "status: pending\n", "type: approval\n"):
        assert part in home.text(path)
    asked = home.approvals.find(path)
    assert asked is not None and asked.paths == ("rules/tea.md",)
    assert asked.why.startswith(SAID[language][1])
    assert asked.change.splitlines()[-2:] == ["-Offer coffee.", "+Always offer tea."]


@LANGUAGES
def test_a_no_and_its_reason_are_read_whatever_the_language_is_by_now(tmp_path: Path, language: Language) -> None:
    home, label = made(tmp_path, language), SAID[language][2]
    path = home.asks("vault_write", **RULE)
    home.tick(path, BOXES[language][1])
    write(home.vault.place.root / path, home.text(path).replace(label, f"{label}太贵 too dear"))
    found = speaking(home, "en" if language == "zh" else "zh").find(path)
    assert found is not None and (found.status, found.reason) == ("rejected", "太贵 too dear")


@LANGUAGES
def test_a_command_writes_its_reason_behind_the_note_s_own_word(tmp_path: Path, language: Language) -> None:
    home = made(tmp_path, language)
    path = home.asks("vault_write", **RULE)
    speaking(home, "en" if language == "zh" else "zh").decide(path, False, "not now")
    assert f"- [x] {BOXES[language][1]}\n\n{SAID[language][2]}not now\n" in home.text(path)


@LANGUAGES
def test_a_yes_to_a_note_of_either_language_lets_the_call_run(tmp_path: Path, language: Language) -> None:
    home = made(tmp_path, language)
    home.tick(home.asks("vault_write", **RULE), BOXES[language][0])
    home.restarted()
    home.says("vault_write", **RULE)
    assert home.text("rules/tea.md") == "Always offer tea.\n"


def test_every_reason_to_ask_is_told_in_chinese(tmp_path: Path) -> None:
    home = tainted(made(tmp_path, "zh"))
    loads = "![](https://evil.example)"
    for path, content, said in (
        ("entries/x.md", "x", "entries/x.md 会进入以后的运行"),
        ("b.md", loads, f"这篇笔记打开时会加载或运行：{loads}"),
    ):
        with pytest.raises(NeedsApproval) as error:
            home.call("vault_write", path=path, content=content)
        assert "等你批准：这次运行读过来自" in error.value.message and said in error.value.message
        assert "勾选“批准”或“拒绝”" in error.value.hint and "为什么要问：这次运行读过来自" in home.text(
            error.value.path
        )


@LANGUAGES
def test_a_question_is_asked_in_its_language_and_the_answer_read_in_either(tmp_path: Path, language: Language) -> None:
    home = made(tmp_path, language)
    with pytest.raises(QuestionAsked) as error:
        home.call("human_ask", question="Which tea?", options=["green", "black"])
    path, heading = error.value.path, {"en": "## Answer", "zh": "## 回答"}[language]
    text = home.text(path)
    assert text.endswith(f"- [ ] green\n- [ ] black\n\n{heading}\n\n")
    write(home.vault.place.root / path, text + "the one from last week\n")
    assert parse_answer(home.text(path).encode()) == "the one from last week"
    other = Questions(home.vault, home.clock, 24, "en" if language == "zh" else "zh").tool()
    given = other.perform({"question": "Which tea?", "options": ["green", "black"]}, home.context)
    assert given.text == "the person answered: the one from last week"
    assert Note.parse(home.text(path).encode()).string("status") == "answered"
