"""Tells a program that a call goes on: many of them end one of which they hear nothing for a minute."""

import logging
from collections.abc import Sequence
from typing import Protocol

import anyio

logger = logging.getLogger(__name__)

LOOK = 0.5
"""Seconds between two looks at whether there is something to tell."""
QUIET = 10.0
"""Seconds after which it is told that the call goes on, if nothing else is."""


class ReportProgress(Protocol):
    """Sends one notification, for a program that has asked for them."""

    async def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...


async def tell_progress(report: ReportProgress, told: Sequence[str]) -> None:
    """Report the last of the lines in `told` whenever there are more, and that the call goes on; until it is
    cancelled, or the program cannot be told. Raises nothing: the call goes on without."""
    known, number, since = 0, 0, anyio.current_time()
    while True:
        await anyio.sleep(LOOK)
        if len(told) == known and anyio.current_time() - since < QUIET:
            continue
        known, number, since = len(told), number + 1, anyio.current_time()
        try:
            await report(number, None, told[-1] if told else "it goes on")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):  # the program has gone
            return
        except Exception:
            logger.warning("a program cannot be told how far its call is", exc_info=True)
            return
