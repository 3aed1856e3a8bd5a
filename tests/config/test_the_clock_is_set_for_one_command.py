"""Two variables run one command at another time and faster, for trying things out; others never get such times."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.background.jobs.once import PendingRun
from agent.background.jobs.recording import JobAttempt
from agent.clock import SetClock, SystemClock, in_machine_seconds, rate_of, time_on_clock
from agent.config.directories import RATE, START, process_clock
from agent.config.load import load_settings
from agent.errors import ConfigError
from agent.runs.job_upkeep import job_shelf
from agent.schedule.occurrences import Occurrence
from agent.workspace.interruptible import StopSignal, interruptible
from agent.workspace.workspace import load_workspace
from tests.fakes import FakeClock
from tests.remotes import shared_with_mallory
from tests.stories.agents import document, furnish, settings, tell
from tests.vaults import git, head, write

DAY = {START: "2031-03-04T05:06+00:00", RATE: "7200"}


@pytest.mark.parametrize("rate", [1.0, 20.0, 36_000.0])
def test_its_rate_is_known(rate: float) -> None:
    clock = SetClock.from_now(datetime(2031, 3, 4, 5, 6, tzinfo=UTC), rate)
    assert [round(rate_of(each), 1) for each in (clock, in_machine_seconds(clock))] == [rate, rate]
    assert rate_of(SystemClock()) == 1


def test_it_begins_at_the_given_time_and_runs_as_fast_as_wanted() -> None:
    clock = SetClock.from_now(datetime(2031, 3, 4, 5, 6, tzinfo=UTC), 36_000)
    began = clock.monotonic()
    assert timedelta(0) <= clock.now() - datetime(2031, 3, 4, 5, 6, tzinfo=UTC) < timedelta(days=2)
    clock.sleep(3_600)  # a tenth of a second
    assert clock.monotonic() - began >= 3_600
    assert clock.now() >= datetime(2031, 3, 4, 6, 6, tzinfo=UTC)
    assert clock.new_id()[:4] == SetClock.from_now(datetime(2031, 3, 4, 5, 6, tzinfo=UTC), 1).new_id()[:4]


def test_a_time_without_an_offset_is_of_the_machines_zone() -> None:
    clock = process_clock({START: "2031-03-04T05:06"})
    assert isinstance(clock, SetClock)
    assert clock.start == datetime(2031, 3, 4, 5, 6).astimezone()  # just that is meant


def test_what_the_machine_waits_for_goes_no_faster() -> None:
    clock = SetClock.from_now(datetime(2031, 3, 4, 5, 6, tzinfo=UTC), 36_000)
    waits = in_machine_seconds(clock)
    before = waits.monotonic()
    clock.sleep(3_600)
    assert waits.monotonic() - before < 3_000
    assert abs(waits.now() - clock.now()) < timedelta(hours=6)
    fake = FakeClock()
    assert in_machine_seconds(fake) is fake and time_on_clock(fake, 5.0) == 5.0


def test_the_time_of_a_file_is_as_the_clock_showed_it_then() -> None:
    start = datetime(2031, 3, 4, 5, 6, tzinfo=UTC)
    clock = SetClock(start, 60, (1_000.0, 0.0))
    assert time_on_clock(clock, 1_010.0) == start.timestamp() + 600
    assert time_on_clock(in_machine_seconds(clock), 990.0) == start.timestamp() - 10, "before it was set"


@pytest.mark.parametrize(
    ("variable", "text"),
    [(START, "tomorrow"), (START, "2031-13-01"), (START, "1066-10-14"), (RATE, "0"), (RATE, "-2"), (RATE, "nan"),
     (RATE, "fast"), (RATE, "1e9")],
)  # fmt: skip
def test_nonsense_is_refused_by_name(variable: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=variable):
        process_clock({variable: text})
    own = settings(tmp_path) | {variable: text}
    root = furnish(tmp_path, lambda key, value: None)
    tell(root, own, "status", code=2)


def test_a_variable_that_is_nearly_one_is_an_unknown_setting(tmp_path: Path) -> None:
    home = {"VAULT_AGENT_HOME": str(tmp_path)}
    with pytest.raises(ConfigError, match="strat"):
        load_settings(environ={**home, "VAULT_AGENT_CLOCK__STRAT": "2031-03-04"})
    load_settings(environ={**home, **DAY})
    assert isinstance(process_clock({START: "", RATE: ""}), SystemClock)


def test_a_command_says_that_its_clock_is_set_and_commits_at_that_time(tmp_path: Path) -> None:
    own, root = settings(tmp_path), furnish(tmp_path, lambda key, value: None)
    assert "clock" not in tell(root, own, "status") and document(root, own, "status")["clock"] is None
    told = tell(root, own | {START: "2031-03-04T05:06", RATE: "1"}, "status")
    assert "the clock is set: 2031-03-04 05:0" in told and "as fast" not in told
    assert ", 7200 times as fast" in tell(root, own | DAY, "status")
    write(root / "mine.md", "mine\n")
    tell(root, own | DAY, "commit")
    assert git(root, "log", "-1", "--format=%ad", "--date=format:%Y").strip() == "2031"


def test_the_vault_waits_in_the_machines_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    for name, value in DAY.items():
        monkeypatch.setenv(name, value)
    workspace = load_workspace(root)
    assert isinstance(workspace.clock, SetClock) and workspace.clock.rate == 7200
    before = workspace.vault.clock.monotonic()
    workspace.clock.sleep(7_200)
    assert workspace.vault.clock.monotonic() - before < 7_200
    assert workspace.vault.clock.now().year == 2031
    in_daemon = interruptible(workspace, StopSignal())
    began = in_daemon.vault.clock.monotonic(), in_machine_seconds(in_daemon.clock).monotonic()
    in_daemon.clock.sleep(7_200)
    assert in_daemon.vault.clock.monotonic() - began[0] < 7_200
    assert in_machine_seconds(in_daemon.clock).monotonic() - began[1] < 7_200
    assert time_on_clock(in_daemon.vault.clock, 0.0) == time_on_clock(workspace.clock, 0.0) != 0.0


def test_a_run_of_a_job_gets_as_much_of_the_machines_time_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a day that passes in a minute would end each run of a job after a second, as too long."""
    root = furnish(tmp_path, monkeypatch.setenv)
    write(root / "jobs/tea.md", "---\ntype: job\non: {cron: '0 9 * * *'}\ntimezone: UTC\n---\nMake tea.\n")
    for name, value in DAY.items():
        monkeypatch.setenv(name, value)
    workspace = load_workspace(root)
    job = job_shelf(workspace).load().get("tea")
    assert job is not None
    began = in_machine_seconds(workspace.clock).monotonic()
    entry = PendingRun(job, Occurrence(job.id, workspace.clock.now()), 0.0)
    attempt = JobAttempt(workspace, entry, "here", workspace.clock.now(), began, lambda: False)
    workspace.clock.sleep(7_200)
    assert 1.0 <= attempt.seconds < attempt.longest


def test_nothing_is_pushed_and_what_others_have_pushed_arrives(tmp_path: Path) -> None:
    own, root = settings(tmp_path), furnish(tmp_path, lambda key, value: None)
    other = shared_with_mallory(root, tmp_path)
    tell(root, own, "sync", "setup", str(other.remote), "--only-me")
    there = other.pushes({"theirs.md": "theirs\n"})
    write(root / "mine.md", "mine\n")
    before = git(other.remote, "for-each-ref", "refs/vault-agent")
    found = document(root, own | DAY, "sync", code=1)
    assert "the clock is set" in str(found)
    assert (root / "theirs.md").exists(), "it was fetched and taken in"
    assert git(other.remote, "rev-parse", "main").strip() == there, "and nothing was sent"
    assert git(other.remote, "for-each-ref", "refs/vault-agent") == before
    tell(root, own, "sync")
    assert git(other.remote, "rev-parse", "main").strip() == head(root)
