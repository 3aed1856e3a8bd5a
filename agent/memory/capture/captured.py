"""What became of the entries of one capture, as the event for the figures."""

from collections import Counter
from collections.abc import Callable, Sequence

from agent.events.runs import MemoryCaptured
from agent.memory.capture.dedupe import Judgement, Resolution

_WRITTEN = frozenset((Resolution.NEW, Resolution.SUPERSEDES, Resolution.CONTRADICTS))


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
        merged=fates[Resolution.MERGED],
        known=fates[Resolution.AGAIN],
        contradicting=fates[Resolution.CONTRADICTS],
        superseding=fates[Resolution.SUPERSEDES],
        refused=fates[Resolution.NONE],
        tokens=sum(map(count, new)) if count is not None else 0,
    )
