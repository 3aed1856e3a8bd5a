"""The times awake of a day are in its log once, also when the daemon ends between writing and forgetting them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.background.pool import Pool
from agent.background.presence import Presence, load_times, save_times
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.stories.agents import furnish
from tests.vaults import git

NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOON)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> Workspace:
    return open_workspace(furnish(tmp_path, monkeypatch.setenv), clock=clock)


def present(workspace: Workspace) -> Presence:
    """A daemon's part that has just started."""
    presence = Presence(workspace, Pool(workspace.clock), lambda _: None)
    presence.start(None)
    return presence


def work(presence: Presence, clock: FakeClock, *titles: str) -> None:
    """Do these, each in a time awake of its own."""
    for title in titles:
        with presence.working(title, is_task=True) as done:
            done.append(title)
            clock.advance(60)
        for _ in range(4):
            clock.advance(1800)
            presence.turn(clock.monotonic())


def lines(workspace: Workspace) -> list[str]:
    """The rows of all days' logs."""
    days = workspace.vault.place.root.rglob("daily/*.md")
    return [row for each in days for row in each.read_text("utf-8").splitlines() if row.startswith("- ")]


def test_what_is_in_the_log_is_not_written_again_when_it_could_not_be_forgotten(
    workspace: Workspace, clock: FakeClock
) -> None:
    presence, records = present(workspace), workspace.vault.records
    work(presence, clock, "Tidy up", "Read on")
    held = load_times(records)
    clock.advance(timedelta(days=1).total_seconds())
    presence.turn(clock.monotonic())
    written = lines(workspace)
    assert [row.rpartition(": ")[2] for row in written] == ["Tidy up", "Read on"]
    before = git(workspace.vault.place.root, "rev-parse", "HEAD")
    save_times(records, held)  # as a daemon leaves it that ends before it has forgotten them
    again = present(workspace)
    again.turn(clock.monotonic())
    assert lines(workspace) == written
    assert load_times(records) == ()
    assert git(workspace.vault.place.root, "rev-parse", "HEAD") == before, "and nothing is committed"


def test_a_day_of_which_only_a_part_is_in_the_log_gets_the_rest(workspace: Workspace, clock: FakeClock) -> None:
    presence, records = present(workspace), workspace.vault.records
    work(presence, clock, "Tidy up")
    first = load_times(records)
    work(presence, clock, "Read on")
    both = load_times(records)
    assert first != both
    save_times(records, first)
    clock.advance(timedelta(days=1).total_seconds())
    present(workspace).turn(clock.monotonic())
    save_times(records, both)
    present(workspace).turn(clock.monotonic())
    assert [row.rpartition(": ")[2] for row in lines(workspace)] == ["Tidy up", "Read on"]
