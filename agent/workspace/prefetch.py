"""Work that is mostly waiting for git, begun before its result is needed: the modules that search load meanwhile."""

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

from agent.vault.listing import contents
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace

T = TypeVar("T")


class Prefetch(Generic[T]):
    """Something under way in a thread of its own."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._done: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def result(self) -> T:
        """Wait for it; raises what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._done[0]

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is asked for
            self._error = error


def prefetch_contents(workspace: Workspace) -> Prefetch[dict[str, str]] | None:
    """What `contents` gives, begun now; None where a daemon watches, who knows it."""
    return None if is_watched(workspace) else Prefetch(lambda: contents(workspace.vault))
