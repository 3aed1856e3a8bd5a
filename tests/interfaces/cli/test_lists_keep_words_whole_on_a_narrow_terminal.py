"""A list with columns keeps its words whole on any terminal: what does not fit stands below, beside its name."""

import io
import os
from contextvars import copy_context
from pathlib import Path

import pytest

from agent.interfaces.cli.printing import beside, print_on
from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import call, furnish, script, settings, tell
from tests.vaults import write

JOB = "---\ntype: job\non: {cron: '30 7 * * 1-5'}\n---\n# Say what is due and what waits for an answer\n\nDo it.\n"


@pytest.mark.parametrize("command", ["skills", "jobs", "channels"])
def test_no_word_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    root, own = furnish(tmp_path, monkeypatch.setenv), settings(tmp_path)
    write(root / "jobs" / "morning.md", JOB)
    whole = tell(root, own, command)
    assert max(map(len, whole.splitlines())) > 64, "there is something to fold"
    with terminal(root, own, command, columns=64) as person:
        assert person.ends() == 0
        assert person.seen.split() == whole.split()


def test_no_word_of_a_question_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    asks = call("human_ask", question="Which of the offers for the roof shall I take, " + "and why " * 12 + "that one?")
    own = settings(tmp_path, script(tmp_path / "said.json", asks))
    tell(root, own, "ask", "have the roof mended")
    whole = tell(root, own, "questions")
    with terminal(root, own, "questions", columns=80) as person:
        assert person.ends() == 0
        shown = person.seen
    assert "and why and why" in whole
    assert shown.split() == whole.split()


class Page(io.StringIO):
    """The terminal of a command that another process answers."""

    terminal_size = os.terminal_size((40, 20))

    def isatty(self) -> bool:
        return True


def test_words_fit_the_terminal_of_whoever_asked() -> None:
    def rows() -> list[str]:
        print_on(Page(), Page())
        return beside("index    ", "666 notes found by hybrid search, 搜索到六百六十六篇笔记")

    assert copy_context().run(rows) == [
        "index    666 notes found by hybrid",
        "         search, 搜索到六百六十六篇笔记",
    ]
    assert beside("index    ", "666 notes " * 20) == ["index    " + "666 notes " * 20], "not in a pipe"
