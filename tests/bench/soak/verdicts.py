"""Judges what hours of work have left behind in a daemon."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.benches.figures import Measure
from tests.bench.soak.daemon_log import DaemonLog
from tests.bench.soak.readings import Reading, left_over, slope

SETTLED = 1.0
"""Hours after which nothing may grow: by then each part has been used."""
FEWEST = 8
"""Readings after that time from which a growth can be told from chance."""
MEMORY_PER_HOUR = 1.0
HANDLES_PER_HOUR = 0.5
GIT_TIMES = 3.0


@dataclass(frozen=True, slots=True)
class Ending:
    """The seconds until the daemon had ended, and the size of a fresh clone in MB, packed anew."""

    seconds: float
    fresh: float


def judge(
    readings: Sequence[Reading], log: DaemonLog, ending: Ending, deeds: int, failed: Sequence[str]
) -> list[Measure]:
    """One row for each thing; growth is judged after the first hour, and only from enough readings."""
    settled = [each for each in readings if each.hour >= SETTLED] or list(readings)
    is_judged = len(settled) >= FEWEST
    last = readings[-1]
    memory, handles = (limit if is_judged else None for limit in (MEMORY_PER_HOUR, HANDLES_PER_HOUR))
    return [
        Measure("deeds of the person", deeds, ""),
        Measure("deeds that failed", len(failed), "", 0),
        Measure("private memory at the end", last.private, "MB"),
        Measure("private memory: growth in an hour", slope(settled, lambda each: each.private), "MB", memory),
        Measure("whole memory: growth in an hour", slope(settled, lambda each: each.whole), "MB", memory),
        Measure("open file handles at the end", last.open, ""),
        Measure("open file handles: growth in an hour", slope(settled, lambda each: each.open), "", handles),
        Measure("threads at the end", sum(last.threads.values()), ""),
        Measure("threads left behind", sum(left_over(settled[0], last).values()), "", 0),
        Measure("child processes left behind", len(last.children), "", 0),
        Measure(".git at the end", last.git, "MB"),
        Measure(".git beside a fresh clone, packed anew", last.git / ending.fresh, "×", GIT_TIMES),
        Measure("errors in the log", len(log.errors), ""),
        Measure("errors in the log that status does not tell", len(log.untold), "", 0),
        Measure("the daemon's end", ending.seconds, "s"),
    ]
