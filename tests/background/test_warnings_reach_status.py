"""What the daemon logs as a warning is told by `status` for a day, without secrets, and takes little room."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.background.pool import Pool
from agent.background.state_file import JsonStateFile, RecentWarnings
from agent.events.types import TurnEnded
from tests.fakes import FakeClock

logger = logging.getLogger("agent.tests")


@dataclass
class Board:
    """The state file of a daemon that looks after a vault with one secret."""

    path: Path
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        masked = lambda text: text.replace("hunter2", "***")  # noqa: E731
        warnings = RecentWarnings(self.clock)
        self.file = JsonStateFile(self.path, Pool(self.clock), dict, masked, warnings)
        self.file.starting()

    def logged(self) -> object:
        self.file.turn_ended(TurnEnded(True, 1, 0, None, 0, ""))
        return json.loads(self.path.read_text("utf-8"))["logged"]


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    made = Board(tmp_path / "state.json")
    yield made
    made.file.close()


def test_a_warning_is_told_with_its_time_and_without_secrets(board: Board) -> None:
    assert board.logged() is None
    logger.info("nothing to worry about")
    logger.warning("commit: %s", "no such file: hunter2")
    assert board.logged() == {"count": 1, "last": "commit: no such file: ***", "at": "2026-11-21T14:12:00+00:00"}


def test_it_is_told_for_a_day_and_the_last_one_by_its_words(board: Board) -> None:
    logger.error("first")
    board.clock.advance(3_600)
    logger.warning("second\nwith a second line")
    assert board.logged() == {"count": 2, "last": "second with a second line", "at": "2026-11-21T15:12:00+00:00"}
    board.clock.advance(23 * 3_600)
    assert board.logged() == {"count": 2, "last": "second with a second line", "at": "2026-11-21T15:12:00+00:00"}
    board.clock.advance(1)
    assert board.logged() == {"count": 1, "last": "second with a second line", "at": "2026-11-21T15:12:00+00:00"}
    board.clock.advance(3_600)
    assert board.logged() is None


def test_a_record_whose_values_do_not_fit_ends_nothing(board: Board) -> None:
    board.file.warnings.handle(logging.LogRecord("agent.tests", logging.WARNING, "", 0, "%d notes", ("many",), None))
    assert board.logged() == {"count": 1, "last": "%d notes", "at": "2026-11-21T14:12:00+00:00"}


def test_warnings_without_end_take_no_memory(board: Board) -> None:
    for number in range(1_200):
        logger.warning("%d %s", number, "x" * 1_000)
    logged = board.logged()
    assert isinstance(logged, dict) and logged["count"] == 1_000 and len(logged["last"]) == 300


def test_after_the_end_nothing_is_heard(board: Board) -> None:
    board.file.close()
    logger.warning("too late")
    assert board.logged() is None
