"""Promise 21: a stranger's text stays a stranger's on each of the person's machines, whichever way it goes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from agent.tools.text_origin import TextOrigin
from agent.vault.provenance import marks
from agent.vault.provenance.foreign_record import ForeignRecord
from agent.vault.provenance.record import Provenance
from tests.trust.one_person import person, play

SMALL = 1
"""Persons in each check; the other seeds are behind `-m chaos`."""
A_PERSON = 10
"""Sequences that are played one after the other on the same machines."""


def _play(folder: Path, seed: int) -> Iterator[str]:
    who = person(folder, Random(seed))
    return (what for _ in range(A_PERSON) for what in play(who))


@pytest.mark.parametrize("seed", range(SMALL))
def test_it_stays_so_on_three_machines_with_two_remotes(tmp_path: Path, seed: int) -> None:
    assert list(_play(tmp_path, seed)) == []


def _nothing(*_: object) -> None:
    return None


def _nothing_is_taken_in(put: pytest.MonkeyPatch) -> None:
    put.setattr(ForeignRecord, "take", _nothing)
    put.setattr(ForeignRecord, "knows", lambda *_: True)


BUGS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "what a tainted run writes is not recorded": lambda put: put.setattr(TextOrigin, "remember", _nothing),
    "nothing is taken in": _nothing_is_taken_in,
    "commits of others go on unmarked": lambda put: put.setattr(Provenance, "handed_on", lambda *_: {}),
    "sentences have no marks": lambda put: put.setattr(marks, "sentence_marks", lambda lines: [()] * len(lines)),
}


@pytest.mark.chaos
@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    BUGS[bug](monkeypatch)
    assert any(what for seed in range(3) for what in _play(tmp_path / str(seed), seed))


@pytest.mark.chaos
@pytest.mark.parametrize("seed", [*range(SMALL, 20), *range(1_000, 1_182)])
def test_it_stays_so_at_full_size(tmp_path: Path, seed: int) -> None:
    assert list(_play(tmp_path, seed)) == []
