"""Where more notes have changed than are indexed before an answer, the person hears that the answer may lack them."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.workspace import catch_up
from tests.interfaces.cli.vaults import Captured
from tests.stories.agents import furnish
from tests.vaults import write

BEHIND = "degraded: 3 changes are not indexed yet: vault-agent index, or start the daemon"


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Callable[..., str]:
    """Ask in a vault where three notes have changed, one more than are indexed at once; what is said beside answers."""
    root = furnish(tmp_path, monkeypatch.setenv)
    assert main(["--vault", str(root), "search", "tea"]) == 0
    monkeypatch.setattr(catch_up, "FEW", 2)
    for name in ("boat", "oar", "sail"):
        write(root / f"{name}.md", f"The {name} is green.\n")

    def answer(*words: str, said: str = "") -> str:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(said.encode()), "utf-8"))
        assert main(["--vault", str(root), *words]) == 0
        return capsys.readouterr().err

    return answer


def test_ask_says_it_until_they_are_indexed(ask: Callable[..., str]) -> None:
    assert BEHIND in ask("ask", "Which colour is the boat?")
    ask("reindex")
    assert "degraded" not in ask("ask", "Which colour is the sail?")


def test_a_chat_says_it_once(ask: Callable[..., str]) -> None:
    assert ask("chat", said="Which colour is the boat?\nAnd the oar?\n").count(BEHIND) == 1
