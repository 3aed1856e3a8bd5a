"""Saves are taken into the index at once; where very many come, those of half a minute are taken in together."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import cast

import pytest

from agent.background.index_sync import LATEST, MANY, RUSH, IndexSync
from agent.events.types import FilesChanged, NoteEdited, Origin, TurnEnded
from agent.index.update import IndexReport
from agent.markdown.changes import NoteChange
from agent.workspace.search_index import SearchIndex
from tests.fakes import FakeClock


class CountingIndex:
    """An index that takes in whatever it is given, and remembers how many notes it was each time."""

    def __init__(self) -> None:
        self.taken = list[int]()
        self.released = 0

    def touch(self, changed: Mapping[str, str | None]) -> IndexReport:
        self.taken.append(len(changed))
        return IndexReport(len(changed))

    def release_files(self) -> None:
        self.released += 1


class Rush:
    def __init__(self) -> None:
        self.clock, self.index, self.saved = FakeClock(), CountingIndex(), 0
        index = cast(SearchIndex, self.index)
        self.sync = IndexSync(index, self.clock, 240.0, lambda event: None, nullcontext, lambda listing: None)

    def turn(self, saves: int, seconds: float, *, more: bool) -> None:
        """One turn with so many saves, after which more wait or none."""
        paths = [f"{self.saved + number}.md" for number in range(saves)]
        self.saved += saves
        edits: tuple[NoteEdited[NoteChange], ...] = tuple(NoteEdited(path, "a", "b", Origin.HUMAN) for path in paths)
        self.sync.changed(FilesChanged(edits, self.clock.monotonic()))
        self.sync.turn_ended(TurnEnded(True, 1, int(more), None, 0, ""))
        self.clock.sleep(seconds)


@pytest.fixture
def rush() -> Rush:
    return Rush()


def test_who_saves_each_second_for_an_hour_finds_each_save_at_once(rush: Rush) -> None:
    for _ in range(3600):
        rush.turn(1, 1.0, more=True)
    assert rush.index.taken == [1] * 3600


def test_of_a_hundred_a_second_those_of_half_a_minute_are_taken_in_together(rush: Rush) -> None:
    for _ in range(100):
        rush.turn(100, 1.0, more=True)
    rush.turn(1, 1.0, more=False)
    assert sum(rush.index.taken) == rush.saved
    at_once = [taken for taken in rush.index.taken if taken < MANY]
    assert sum(at_once) < 2 * MANY
    assert len(rush.index.taken) - len(at_once) <= 100 / LATEST + 1
    assert rush.index.released == 1


def test_after_a_rush_each_save_is_taken_in_at_once_again(rush: Rush) -> None:
    rush.turn(MANY, 0.5, more=False)
    assert rush.index.taken == [MANY]
    for _ in range(3):
        rush.turn(1, 0.5, more=False)
    assert rush.index.taken == [MANY, 1, 1, 1]
    rush.clock.sleep(RUSH)
    rush.turn(1, 0.5, more=True)
    assert rush.index.taken[-1] == 1
