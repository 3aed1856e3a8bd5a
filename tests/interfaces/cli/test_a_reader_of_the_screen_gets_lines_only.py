"""With TERM=dumb, as programs that read a screen aloud set it, nothing is coloured, moved or drawn twice."""

from pathlib import Path

import pytest

from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import furnish, script, settings


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


def test_a_chat_is_lines_of_text(root: Path, tmp_path: Path) -> None:
    answer = "**Slate**, not tiles:\n\n> We decided on slate.\n\n| offer | price |\n|---|---|\n| Meyer | 9 |"
    said = script(tmp_path / "script.json", answer)
    own = {**settings(tmp_path, said), "TERM": "dumb", "NO_COLOR": ""}
    with terminal(root, own, "chat") as person:
        person.sees("> ")
        person.type("which roof?\n")
        person.sees("| Meyer | 9 |")
        person.sees("> ")
        person.type("\x04")
        assert person.ends() == 0
    assert b"\x1b" not in person.raw and b"**Slate**, not tiles" in person.raw
    assert person.raw.count(b"not tiles") == 1


def test_a_command_has_no_colours_there(root: Path, tmp_path: Path) -> None:
    (root / "tea.md").write_text("Green.\n")
    for name, has_codes in (("dumb", False), ("xterm", True)):
        with terminal(root, {**settings(tmp_path), "TERM": name, "NO_COLOR": ""}, "diff") as person:
            assert person.ends() == 0
        assert (b"\x1b[" in person.raw) is has_codes, person.raw
