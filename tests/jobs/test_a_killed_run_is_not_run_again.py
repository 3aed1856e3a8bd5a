"""A daemon, a process of its own, is killed in the middle of a job: the job's history says so, and it goes on."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.schedule.ledger import OccurrenceLedger
from tests.daemon.process import end, environment, kill, spawn, wait_for
from tests.jobs.town import found, job


def test_a_killed_run_is_interrupted_and_the_next_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own: dict[str, str] = {}
    town = found(tmp_path, own.__setitem__, often=job("{cron: '* * * * *'}"))
    for key, value in own.items():
        monkeypatch.setenv(key, value)
    vault = open_workspace(town.root).vault

    def begun() -> tuple[str, ...]:
        return OccurrenceLedger(vault.records).open()

    def env(start: str) -> dict[str, str]:
        return environment(Path(own["VAULT_AGENT_HOME"]), {**own, "VAULT_AGENT_CLOCK__START": start})

    town.says({"text": "At last.", "seconds": 60.0}, after="Soon.")
    daemon = spawn(town.root, env("2026-11-23T08:59:58+00:00"))
    try:
        wait_for(daemon, lambda: begun() and list((town.root / "sessions").rglob("*.md")), "it runs", 60)
    finally:
        kill(daemon)
    (key,) = begun()
    assert town.rows("often") == ()
    town.says("Good morning.", after="Good morning.")
    daemon = spawn(town.root, env("2026-11-23T09:02:50+00:00"))
    try:
        wait_for(daemon, lambda: "done" in town.outcomes("often"), "the next one has run", 60)
        assert end(daemon)[0] == 0
    finally:
        kill(daemon)
    planned = [row.planned for row in town.rows("often")]
    first, *others = town.rows("often")
    assert key == f"often@{first.planned:%Y-%m-%dT%H:%M:%SZ}"
    assert first.outcome == "interrupted" and "killed" in first.reason and first.started is not None
    assert len(set(planned)) == len(planned) and "interrupted" not in [each.outcome for each in others]
    assert "done" in [each.outcome for each in others] and "Good morning." in town.daily()
