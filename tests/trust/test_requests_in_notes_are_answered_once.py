"""Mixed edits by a scripted person: each finished request is answered once, nothing of ours is, no word is lost."""

from pathlib import Path

import pytest

from tests.daemon.house import BRISK
from tests.stories.agents import furnish, script
from tests.trust.inbox_human import desk

PLAIN = {
    **BRISK,
    "VAULT_AGENT_WATCH__QUIET_SECONDS": "0.2",
    "VAULT_AGENT_INBOX__QUIET_SECONDS": "5",
    "VAULT_AGENT_MEMORY__AUTO_CAPTURE": "false",
    "VAULT_AGENT_MEMORY__CAPTURE": "off",
    "VAULT_AGENT_MEMORY__LIFECYCLE": "false",
    "VAULT_AGENT_MEMORY__LONG_TERM": "false",
}


def work(root: Path, edits: int, seed: int) -> None:
    """Let the person do so many things, and look."""
    with desk(root, seed) as at:
        while at.count < edits:
            at.act()
            if at.count % 20 == 0:
                at.check()
        at.rest()
        at.check()
        assert at.runs() > edits / 5, "the person has asked for nearly nothing"
        assert at.overwrites > edits / 50, "hardly any answer was overwritten"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in PLAIN.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", *["Here is - [ ] @agent what you want."] * 200)
    return furnish(tmp_path, monkeypatch.setenv, said)


def test_sixty_edits(root: Path) -> None:
    work(root, 60, 7)


@pytest.mark.chaos
def test_a_thousand_edits(root: Path) -> None:
    work(root, 1_000, 11)
