"""Who closes the terminal in the middle of an answer has stopped it, as with Ctrl-C: what was done is kept."""

import io
import os
import sys
from errno import EIO
from pathlib import Path

import pytest

from agent.interfaces.cli.printing import show
from tests.interfaces.cli.terminal import terminal
from tests.interfaces.cli.test_chat_on_a_terminal import served, speaks
from tests.llm.servers import model_server
from tests.stories.agents import furnish, only
from tests.vaults import git


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with a person and three notes."""
    return furnish(tmp_path, monkeypatch.setenv)


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_the_run_is_closed_and_its_session_committed(root: Path, tmp_path: Path, command: str) -> None:
    task = "tell me a story"
    words = ("ask", task) if command == "ask" else ("chat",)
    with model_server(speaks) as server, terminal(root, served(tmp_path, server.url), *words) as person:
        if command == "chat":
            person.sees("> ")
            person.type(f"{task}\n")
        person.shows("Once upon a time a time")
        person.close()
        assert person.ends() == 0
    session = only(list((root / "sessions").rglob("*.md")))
    assert '"outcome": "interrupted"' in session.read_text("utf-8")
    assert git(root, "status", "--short") == ""


class BrokenDisk(io.StringIO):
    """A file on a disk that can no longer be written."""

    def write(self, text: str) -> int:
        raise OSError(EIO, os.strerror(EIO))

    def fileno(self) -> int:
        return self.descriptor

    descriptor = -1


def test_a_file_that_cannot_be_written_is_still_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = BrokenDisk()
    with (tmp_path / "out").open("w") as file:
        broken.descriptor = file.fileno()
        monkeypatch.setattr(sys, "stdout", broken)
        with pytest.raises(OSError, match=os.strerror(EIO)):
            show("words")
