"""Promise 22: whatever a stranger pushes, nothing acts, nothing private is sent, and the next good note arrives."""

import resource
from pathlib import Path
from typing import Any

import pytest

from agent.vault.provenance import database
from agent.vault.receiving import choice
from agent.vault.worktree import survey
from tests.trust.strange_pushes import check, check_clone, push, world

SMALL = 2
"""Worlds of each check; five pushes of 50 strange things each, so 500 of them. The other ones are behind `-m chaos`."""
PUSHES = 5
MEGABYTES = 500


def _play(folder: Path, seed: int) -> list[str]:
    folder.mkdir(exist_ok=True)
    here, found = world(folder, seed), list[str]()
    for _ in range(PUSHES):
        push(here)
        found += check(here)
    return found + check_clone(here, folder / "clone")


@pytest.mark.parametrize("seed", range(SMALL))
def test_nothing_strange_acts_or_stops_anything(tmp_path: Path, seed: int) -> None:
    assert _play(tmp_path, seed) == []


BUGS: dict[str, tuple[object, str, Any]] = {
    "everything comes silently": (choice, "comes_silently", lambda *each: True),
    "nothing is ignored": (choice, "ignored_here", lambda *each: frozenset()),
    "rules that are held back count": (survey, "ignored_here", lambda *each: frozenset()),
    "names are stored as they are": (database, "_stored", lambda path: path),
}


@pytest.mark.chaos
@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    monkeypatch.setattr(*BUGS[bug])
    for seed in range(4):
        try:
            if _play(tmp_path / str(seed), seed):
                return
        except UnicodeError:
            return
    pytest.fail("no world has shown it")


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(SMALL, 40))
def test_nothing_strange_acts_or_stops_anything_at_full_size(tmp_path: Path, seed: int) -> None:
    assert _play(tmp_path, seed) == []
    used = [resource.getrusage(whose).ru_maxrss / 1_000 for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    assert max(used) < MEGABYTES, used
