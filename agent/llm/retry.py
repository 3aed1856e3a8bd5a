"""Retries with growing random pauses, or those that the server asks for; no retry after text was passed on.

Only `Retryable` errors are retried; the number of retries is a setting.
"""

from collections.abc import Callable
from itertools import count
from typing import TypeAlias, TypeVar

from agent.clock import Clock
from agent.errors import Interrupted, LockHeld, Retryable, Stopping
from agent.llm.messages import Cancelled, OnText
from agent.texts import Sentence

FIRST_PAUSE = 2.0
"""The longest pause before the second attempt, in seconds; doubled for each further one. Four add up to half a minute
at most."""
LONGEST_PAUSE = 60.0
SLICE = 0.2

Jitter: TypeAlias = Callable[[], float]
"""A new number from 0 to 1, 1 excluded, at each call: `random.random`."""
OnRetry: TypeAlias = Callable[[float, str], object]
"""Called before each pause, with its length in seconds and the reason."""

T = TypeVar("T")


def ignore_retry(seconds: float, reason: str) -> None:
    """Ignore the pause, for callers who only wait."""


class CountedText:
    """Passes text on and counts its characters: after the first one the same request must not be retried silently."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self.characters = 0

    def __call__(self, text: str) -> None:
        if text:
            self.characters += len(text)
            self._on_text(text)


def with_retries(
    attempt: Callable[[], T],
    handed: CountedText,
    retries: int,
    clock: Clock,
    jitter: Jitter,
    cancelled: Cancelled,
    on_retry: OnRetry = ignore_retry,
) -> T:
    """The result of `attempt`, after at most `retries` retries on `Retryable`; raises the last error.

    The error's `delay` is the shortest pause. Raises `Interrupted` within half a second after `cancelled` is true.
    """
    for number in count():
        try:
            return attempt()
        except (LockHeld, Stopping):
            raise  # our own spend ledger has already waited; a process that stops waits for nothing
        except Retryable as error:
            last = error
        if handed.characters:
            raise Retryable(
                "{problem} (after {characters} characters of the answer)",
                delay=max(last.delay, 1.0),
                hint="what has come so far is not the whole answer: ask again",
                problem=last,
                characters=handed.characters,
            )
        if number >= retries:
            problem = Sentence("{problem} ({tries} tries)", problem=last, tries=number + 1) if number else last.message
            raise Retryable(problem, delay=max(last.delay, 1.0), hint=last.hint)
        seconds = max(last.delay, jitter() * min(LONGEST_PAUSE, FIRST_PAUSE * 2**number))
        on_retry(seconds, last.message)
        pause(seconds, clock, cancelled)
    raise AssertionError("unreachable")


def pause(seconds: float, clock: Clock, cancelled: Cancelled) -> None:
    """Wait in short intervals; raises `Interrupted` when `cancelled` is true between two of them."""
    left = seconds
    while True:
        if cancelled():
            raise Interrupted("the call of the model was cancelled")
        if left <= 0:
            return
        clock.sleep(min(SLICE, left))
        left -= SLICE
