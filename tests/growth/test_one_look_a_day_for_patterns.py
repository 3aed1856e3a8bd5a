"""The daemon looks for what repeats once a day, and not while its person talks."""

from datetime import date
from pathlib import Path

import pytest

from agent.background.insights import Insights
from agent.background.part import PartTable
from agent.background.pool import Pool
from agent.background.routine import RoutineRunner
from agent.clock import SystemClock
from agent.events.bus import Bus
from agent.events.growth import PatternDetected
from agent.events.runs import Speaker, TaskCompleted
from agent.events.types import FilesChanged, NoteEdited, Origin, Tick
from agent.markdown.changes import NoteChange
from agent.records.table import Table
from tests.growth.fortnight import NOW, fortnight
from tests.growth.work import Office, office
from tests.vaults import write


def kept(made: Office) -> Table[date]:
    """The day of the last look, as it is kept."""
    return Table(made.workspace.vault.records, "patterns-looked", date)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """A vault after the fortnight."""
    life = fortnight("en")
    made = office(tmp_path, monkeypatch, life.notes)
    life.apply_edits(made.root)
    assert made.clock.now() == NOW
    return made


def ended(made: Office, job: str = "") -> TaskCompleted:
    return TaskCompleted("r1", session(made), "Shelves", Speaker("cli"), "finished", "…", (), 1.0, 1, job=job)


def session(made: Office) -> str:
    return max(path.relative_to(made.root).as_posix() for path in (made.root / "sessions").rglob("*.md"))


def insights(made: Office, told: list[object]) -> Insights:
    return Insights(made.workspace, told.append, lambda: None)


def test_one_look_a_day_one_commit_and_no_notice(made: Office) -> None:
    told: list[object] = []
    before = made.commit_count()
    insights(made, told).look()
    assert made.commit_count() == before + 1 and made.actors()[0] == "job:growth/patterns"
    assert "greenhouse" in made.text("profile/51-patterns-insights.md")
    assert all(isinstance(each, PatternDetected) for each in told) and len({*told}) >= 4
    made.clock.advance(600)
    write(made.root / "profile/51-patterns-insights.md", "# Mine\n")
    insights(made, told).look()  # a daemon that was begun again
    assert made.text("profile/51-patterns-insights.md") == "# Mine\n", "one look a day"
    assert kept(made).get() == NOW.date(), "no word of the vault is kept outside it"


def test_nothing_is_looked_for_while_the_person_talks(made: Office) -> None:
    told: list[object] = []
    pool, bus = Pool(SystemClock()), Bus(made.clock)
    routine = insights(made, told).routine()
    PartTable(pool, [RoutineRunner(routine, pool, made.clock).part()]).subscribe(bus)

    def tick() -> bool:
        bus.publish(Tick(made.clock.monotonic()))
        return pool.has("insights")

    bus.publish(ended(made, job="morning-briefing"))
    made.clock.advance(2 * routine.quiet)
    assert not tick(), "a job is not the person"
    bus.publish(ended(made))
    made.clock.advance(routine.quiet - 1)
    assert not tick() and not told
    said: NoteEdited[NoteChange] = NoteEdited(session(made), "a", "b", Origin.OWN)
    bus.publish(FilesChanged((said,), made.clock.monotonic()))
    made.clock.advance(routine.quiet - 1)
    assert not tick() and not told, "they talk on"
    made.clock.advance(1)
    tick()
    pool.close()
    assert told


@pytest.mark.parametrize("damage", ["", "{", "2026-11-09 2026"])
def test_a_damaged_day_costs_nothing_but_a_look(made: Office, damage: str) -> None:
    told: list[object] = []
    kept(made).database.rows("INSERT INTO record VALUES (?, '', ?)", kept(made).name, damage)
    insights(made, told).look()
    assert told
