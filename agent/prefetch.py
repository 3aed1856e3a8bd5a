"""Work that goes on in a thread while its caller does something else, and whose result is waited for."""

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

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
