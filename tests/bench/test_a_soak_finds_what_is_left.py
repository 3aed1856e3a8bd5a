"""Hours of a person beside a daemon: a few minutes of them are lived, and each verdict finds what it is there for."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.bench.process import Process
from tests.bench.soak.daemon_log import DaemonLog, errors_in
from tests.bench.soak.readings import Reading
from tests.bench.soak.verdicts import Ending, judge

HEALTHY = [
    Reading(0.25 * n, 100 + n % 3, 150 + n % 2, {"files": 12, "sockets": 3}, {"http": 1, "python": 4}, (), 1.0, n)
    for n in range(33)
]
HANDLES, THREADS, PRIVATE, GIT = (
    "open file handles: growth in an hour",
    "threads left behind",
    "private memory: growth in an hour",
    ".git beside a fresh clone, packed anew",
)


def failures(readings: list[Reading], log: DaemonLog | None = None, fresh: float = 0.8) -> list[str]:
    """The names of the rows that do not keep their limits."""
    found = judge(readings, log or DaemonLog(Path("none")), Ending(1.0, fresh), 10, ())
    return [each.name for each in found if not each.reached]


def test_hours_that_leave_nothing_behind_keep_all_limits() -> None:
    assert failures(HEALTHY) == []


def test_memory_that_grows_by_more_than_a_megabyte_an_hour_is_found() -> None:
    assert failures([replace(each, private=each.private + 0.5 * each.hour) for each in HEALTHY]) == []
    assert failures([replace(each, private=each.private + 1.5 * each.hour) for each in HEALTHY]) == [PRIVATE]


def test_what_the_first_hour_takes_is_no_growth() -> None:
    warm = [replace(each, private=each.private - 40 * max(1 - each.hour, 0)) for each in HEALTHY]
    assert failures(warm) == []


def test_a_handle_in_each_hour_and_a_thread_at_the_end_are_found() -> None:
    leaking = [replace(each, handles={"files": 12 + int(each.hour)}) for each in HEALTHY]
    assert failures(leaking) == [HANDLES]
    last = replace(HEALTHY[-1], threads={"http": 1, "python": 4, "note": 1})
    assert failures([*HEALTHY[:-1], last]) == [THREADS]


def test_a_history_that_is_not_packed_is_found() -> None:
    assert failures(HEALTHY, fresh=0.3) == [GIT]


def test_few_readings_judge_no_growth() -> None:
    assert failures([replace(each, private=each.private + 50 * each.hour) for each in HEALTHY[:5]]) == []


LOG = """looking through your notes
INFO agent.background.jobs: jobs: not yet: locked
WARNING agent.background.human_edits: commit: IndexError: list index out of range
Traceback (most recent call last):
  File "x.py", line 1, in x
IndexError: list index out of range
Exception in thread Thread-1:
Traceback (most recent call last):
ValueError: no
"""


def test_each_error_of_the_log_is_looked_for_in_status(tmp_path: Path) -> None:
    assert list(errors_in(LOG)) == [
        "agent.background.human_edits: commit: IndexError: list index out of range",
        "Exception in thread Thread-1:",
    ]
    path = tmp_path / "daemon.log"
    path.write_text(LOG + "WARNING agent.x: half a li", "utf-8")
    log = DaemonLog(path)
    found = log.new_errors()
    log.compare(found, {"daemon": {"problem": "commit: IndexError: list index out of range; and more"}})
    assert log.untold == ["Exception in thread Thread-1:"]
    with path.open("a") as file:
        file.write("ne\n")
    assert log.new_errors() == ["agent.x: half a line"]


def test_errors_that_status_counts_are_told(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    path.write_text(LOG, "utf-8")
    for number, untold in ((1, 2), (2, 0)):
        log = DaemonLog(path)
        log.compare(log.new_errors(), {"daemon": {"logged": {"count": number, "last": "else"}}})
        assert len(log.untold) == untold


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_process_is_read_with_its_files_and_threads(tmp_path: Path) -> None:

    process, go = Process(os.getpid()), threading.Event()
    before, threads = process.handles(), sum(process.threads().values())
    waiting = threading.Thread(target=go.wait, daemon=True)
    waiting.start()
    with (tmp_path / "open").open("w"):
        assert process.handles().get("files", 0) == before.get("files", 0) + 1
        (tmp_path / "open").unlink()
        assert process.handles().get("deleted files", 0) == before.get("deleted files", 0) + 1
    assert sum(process.threads().values()) == threads + 1
    go.set()
    waiting.join()
    assert 0 < process.private_memory() < process.memory()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
@pytest.mark.chaos
def test_minutes_of_a_person_are_lived(capsys: pytest.CaptureFixture[str]) -> None:
    main(["soak", "--hours", "0.3", "--rate", "150", "--notes", "20", "--json"])
    printed = capsys.readouterr()
    figures = {each["name"]: each for each in json.loads(printed.out)["figures"]}
    assert figures["deeds of the person"]["value"] >= 3
    assert figures["deeds that failed"]["value"] == 0, printed.err
    assert figures["errors in the log that status does not tell"]["value"] == 0, printed.err
    assert figures["child processes left behind"]["value"] == 0
    rows = [line for line in printed.err.splitlines() if " files" in line and "http" in line]
    assert len(rows) >= 2, printed.err
