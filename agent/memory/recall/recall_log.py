"""One line in the log for each recall, at debug: what was asked, with secrets masked, and how much was found.

The line has paths and counts, no text of a note.
"""

import logging
from collections.abc import Callable

from agent.markdown.title import clipped
from agent.memory.recall.recaller import Recollection

_LONGEST = 120

logger = logging.getLogger(__name__)


def log_recall(
    question: str, found: Recollection, given: Recollection, seconds: float, mask: Callable[[str], str]
) -> None:
    """Log a recall that found `found`, of which `given` is given to the model."""
    if not logger.isEnabledFor(logging.DEBUG):
        return
    asked = " ".join(mask(question).split())  # masked before it is cut: half a key is not recognised
    logger.debug(
        "recall: %r: %d candidates, %d given (%s), %d below the floor (%.2f), %s, %.0f ms",
        clipped(asked, _LONGEST),
        found.candidates,
        len(given.found),
        ", ".join(each.path for each in given.found) or "none",
        len(found.found) - len(given.found),
        found.helps,
        found.degraded or found.mode,
        seconds * 1_000,
    )
