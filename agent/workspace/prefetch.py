"""Work that mostly waits for git, started before its result is needed, while the modules of search load."""

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

from agent.vault.listing import contents
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace

T = TypeVar("T")


class Prefetch(Generic[T]):
    """Work that runs in its own thread."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._done: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def result(self) -> T:
        """The result of the work, once it is done; raises the exception that the work raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._done[0]

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again by `result`
            self._error = error


def prefetch_contents(workspace: Workspace) -> Prefetch[dict[str, str]] | None:
    """The result of `contents`, started now; None if a daemon runs, as it updates the index itself."""
    return None if is_watched(workspace) else Prefetch(lambda: contents(workspace.vault))
