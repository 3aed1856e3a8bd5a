"""Promise 16: whatever arrives from where others write gets no effect without a yes, in any order of events."""

from pathlib import Path
from random import Random

import pytest

from tests.trust.arrivals import play, world

A_WORLD = 10
"""Sequences that are played one after the other in the same vault: what came earlier is still there."""


def _play(folder: Path, seed: int) -> list[str]:
    here = world(folder, Random(seed))
    return [what for _ in range(A_WORLD) for what in play(here)]


@pytest.mark.parametrize("seed", range(20))
def test_nothing_that_arrived_has_an_effect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    assert _play(tmp_path, seed) == []


@pytest.mark.chaos
@pytest.mark.parametrize("seed", range(1_000, 1_200))
def test_nothing_that_arrived_has_an_effect_at_full_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    assert _play(tmp_path, seed) == []
