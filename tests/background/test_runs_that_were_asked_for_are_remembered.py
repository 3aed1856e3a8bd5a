"""A hundred runs are remembered once they are over; what was shown of them by the way, of the last few only."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.background.asked_runs import FOLLOWED, AskedRun, AskedRuns, ModelText, RunFailed
from agent.background.pool import Pool
from agent.clock import SystemClock
from agent.errors import UserError
from agent.events.bus import Bus
from agent.loop.outcome import Ended
from agent.runs.run_io import RunIO
from tests.stories.agents import furnish


class Runs:
    """Runs that say three words and fail."""

    def __init__(self) -> None:
        self.bus = Bus(SystemClock())


@contextmanager
def open_runs() -> Iterator[Any]:
    yield Runs()


def speak(_: Any, line: RunIO) -> Ended:
    for word in ("one", "two", "three"):
        line.on_text(word)
    raise UserError("no more words")


def until_closed(run: AskedRun) -> None:
    woken = threading.Event()
    run.news.listen(woken.set)
    while not run.news.closed:
        assert woken.wait(30)
        woken.clear()


def test_of_older_runs_only_the_end_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(SystemClock())
    runs = AskedRuns(open_workspace(furnish(tmp_path, monkeypatch.setenv)), pool, open_runs)
    made = list[str]()
    for number in range(FOLLOWED + 3):
        run = runs.begin(f"task {number}", "", speak)
        made.append(run.id)
        until_closed(run)
    old, new = runs.get(made[0]), runs.get(made[-1])
    assert old is not None and new is not None
    (last,) = old.news.after(0)
    assert isinstance(last.event, RunFailed) and last.number == 4
    assert [each.event for each in new.news.after(0)][:3] == [ModelText(word) for word in ("one", "two", "three")]
    assert [each.id for each in runs.all()] == made[::-1]
    pool.close()
