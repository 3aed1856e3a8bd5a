"""A run that is killed again and again finishes in the end: no write lost, none doubled, nothing left open."""

from pathlib import Path

import pytest

from tests.trust.agent_crash import crash


@pytest.mark.parametrize(
    ("kills", "seed"), [(5, "small"), *(pytest.param(20, f"full {n}", marks=pytest.mark.chaos) for n in range(5))]
)
def test_kills_at_random_moments_of_a_long_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int, seed: str
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    total = crash(tmp_path, kills, seed)
    assert total.kills >= min(kills, 12), "the run was over too soon"
    assert total.cut > total.kills // 2
