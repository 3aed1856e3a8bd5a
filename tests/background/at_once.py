"""A pool for tests without threads: work is done at once, or when the test says so."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

from agent.background.pool import Pool, PoolState, Priority
from agent.llm.messages import Cancelled, never

T = TypeVar("T")


@dataclass(eq=False)
class AtOnce(Pool):
    """Does the work as it is submitted; while `holds`, it waits for `let_go`. `begun` has the keys in their order."""

    holds: bool = False
    is_busy: bool = False
    """True: something goes on here, as others see it."""
    patience: float = 0.0
    """That of the last work."""
    begun: list[str] = field(default_factory=list)
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def submit(
        self,
        work: Callable[[Cancelled], T],
        *,
        key: str,
        priority: Priority,
        deadline: float | None = None,
        patience: float = 4.0,
    ) -> "Future[T]":
        future: Future[T] = Future()

        def perform() -> None:
            try:
                future.set_result(work(never))
            except Exception as error:  # noqa: BLE001 - as the pool does
                future.set_exception(error)

        self.begun.append(key)
        self.patience = patience
        if self.holds:
            self.waiting.append(perform)
        else:
            perform()
        return future

    @property
    def state(self) -> PoolState:
        return PoolState(("work",) if self.is_busy else (), ())

    def let_go(self) -> None:
        """Do what waits."""
        waiting, self.waiting = self.waiting, []
        for perform in waiting:
            perform()
