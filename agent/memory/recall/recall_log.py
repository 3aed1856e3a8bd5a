"""One line in the log for each recall, at debug: what was asked, with secrets masked, and how much was found.

The line has paths and counts, no text of a note.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from agent.markdown.title import clipped
from agent.memory.recall.recaller import Remembered

_LONGEST = 120

logger = logging.getLogger(__name__)


class Searched(Protocol):
    """How a recall was searched: in which mode, with what missing (None: nothing), and among how many candidates."""

    @property
    def mode(self) -> str: ...

    @property
    def degraded(self) -> str | None: ...

    @property
    def looked_at(self) -> int: ...


def log_recall(
    question: str, given: Sequence[Remembered], searched: Searched, seconds: float, mask: Callable[[str], str]
) -> None:
    """Log a recall by which `given` is given to the model."""
    if not logger.isEnabledFor(logging.DEBUG):
        return
    asked = " ".join(mask(question).split())  # masked before it is cut: half a key is not recognised
    logger.debug(
        "recall: %r: %d candidates, %d given (%s), %s, %.0f ms",
        clipped(asked, _LONGEST),
        searched.looked_at,
        len(given),
        ", ".join(f"{each.path} {each.score:.2f}" for each in given) or "none",
        searched.degraded or searched.mode,
        seconds * 1_000,
    )
