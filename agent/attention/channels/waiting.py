"""Waits for a library that blocks: the work has a thread of its own, and ends when its connection is shut."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from agent.errors import Interrupted
from agent.llm.messages import Cancelled

T = TypeVar("T")
_POLL_SECONDS = 0.1


def awaited(work: Callable[[], T], cancelled: Cancelled, hang_up: Callable[[], None]) -> T:
    """The result of `work`; raises what it raises, and `Interrupted` soon after `cancelled` is true.

    `hang_up` is called from another thread to end the work: it shuts the connection.
    """
    results: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            results.put((work(), None))
        except BaseException as error:  # noqa: BLE001  the waiting thread must get every error
            results.put((None, error))

    thread = threading.Thread(target=run, name="channel", daemon=True)
    thread.start()
    while True:
        if cancelled():
            hang_up()
            thread.join(0.2)
            raise Interrupted("the call was cancelled")
        with suppress(Empty):
            result, error = results.get(timeout=_POLL_SECONDS)
            if error is not None:
                raise error
            return result  # type: ignore[return-value]  # without an error it is what `work` returned
