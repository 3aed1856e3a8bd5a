"""Promise 16: whatever arrives from where others write gets no effect without a yes, in any order of events."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from agent.vault.provenance import marks
from agent.vault.provenance.record import Provenance
from agent.vault.provenance.reflog import Maker, ReflogStep
from agent.vault.store import Vault
from tests.trust.arrivals import play, world

SMALL = 4
"""Worlds in each check; the other seeds are behind `-m chaos`."""
A_WORLD = 10
"""Sequences that are played one after the other in the same vault: what came earlier is still there."""


def _play(folder: Path, seed: int) -> list[str]:
    folder.mkdir(exist_ok=True)
    here = world(folder, Random(seed))
    return [what for _ in range(A_WORLD) for what in play(here)]


@pytest.mark.parametrize("seed", range(SMALL))
def test_nothing_that_arrived_has_an_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    assert _play(tmp_path, seed) == []


BUGS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "arrivals are recorded and never count": lambda put: put.setattr(Provenance, "_counts", lambda *each: False),
    "notes are read as they are": lambda put: put.setattr(Vault, "own_version", Vault.read),
    "lines are compared to the letter": lambda put: put.setattr(marks, "normalized", lambda line: line),
    "every commit in the reflog was made here": lambda put: put.setattr(ReflogStep, "maker", Maker.PROGRAM),
}


@pytest.mark.chaos
@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    BUGS[bug](monkeypatch)
    assert any(_play(tmp_path / str(seed), seed) for seed in range(3))


@pytest.mark.chaos
@pytest.mark.parametrize("seed", [*range(SMALL, 20), *range(1_000, 1_200)])
def test_nothing_that_arrived_has_an_effect_at_full_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    assert _play(tmp_path, seed) == []
