"""What became of the entries of one capture: the event for the figures, and one line in the log.

The line has paths and counts, no text of an entry.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence

from agent.events.runs import MemoryCaptured
from agent.memory.capture.dedupe import Judgement, Resolution

logger = logging.getLogger(__name__)

_WRITTEN = frozenset((Resolution.NEW, Resolution.SUPERSEDES))


def captured(
    run: str, session: str, verdicts: Sequence[Judgement], count: Callable[[str], int] | None = None
) -> MemoryCaptured:
    """The event for these verdicts; `count` gives the tokens of a text."""
    fates = Counter(verdict.resolution for verdict in verdicts)
    new = [verdict.entry.text for verdict in verdicts if verdict.resolution in _WRITTEN]
    return MemoryCaptured(
        run,
        session,
        len(new),
        known=fates[Resolution.AGAIN],
        superseding=fates[Resolution.SUPERSEDES],
        refused=fates[Resolution.NONE],
        tokens=sum(map(count, new)) if count is not None else 0,
    )


def log_capture(what: str, verdicts: Sequence[Judgement], seconds: float) -> None:
    """Log, at debug, what was kept, known and refused of a run or a session (`what`)."""
    if not logger.isEnabledFor(logging.DEBUG):
        return
    kept = [f"{verdict.entry.path} ({verdict.resolution})" for verdict in verdicts if verdict.resolution in _WRITTEN]
    known = [
        f"{verdict.other.path} ({verdict.resolution})"
        for verdict in verdicts
        if verdict.resolution is Resolution.AGAIN and verdict.other is not None
    ]
    refused = Counter(verdict.why for verdict in verdicts if verdict.resolution is Resolution.NONE)
    reasons = [f"{number} {why}" for why, number in sorted(refused.items())]
    logger.debug(
        "capture: %s: kept %s; known %s; refused %s; %.0f ms",
        what,
        *(", ".join(each) or "nothing" for each in (kept, known, reasons)),
        seconds * 1_000,
    )
