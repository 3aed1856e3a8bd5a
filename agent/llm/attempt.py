"""One try of a model call: how long its answer may be, and how many tokens it has used so far.

A wire makes one for each request that it sends, and fills it in while the answer comes; the spend meter reads it when
the try is over. A call that is tried five times has five of them.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from agent.errors import Interrupted
from agent.llm.messages import Request, Usage

_OVERRUN, _SPARE = 2, 200
"""An answer is cut off at twice its limit and 200 tokens: by characters, tokens can be told to within a factor of two.
"""
_PLAIN_PER_TOKEN = 4
"""ASCII characters of a token, about; every other character counts as one token."""
_CHUNK = 1_000
"""Characters that are counted at once."""


@dataclass(slots=True)
class Attempt:
    """One try. `count` gives the tokens of a text, `most` the tokens that were asked for at most.

    `unsent`: no connection was made. `refused`: the server answered that it did nothing (4xx). `reported`: the usage
    that the server stated; `final`: it did so for the whole answer.
    """

    count: Callable[[str], int]
    most: int
    unsent: bool = False
    refused: bool = False
    reported: Usage | None = None
    final: bool = False
    _counted: int = 0
    _rough: float = 0.0
    _waiting: list[str] = field(default_factory=list)
    _length: int = 0

    def add(self, text: str) -> None:
        """Take in text that the model has written: its answer, its reasoning, or a part of a tool call."""
        if not text:
            return
        plain = len(text) if text.isascii() else sum(map(str.isascii, text))
        self._rough += plain / _PLAIN_PER_TOKEN + len(text) - plain
        self._waiting.append(text)
        self._length += len(text)
        if self._length >= _CHUNK:
            self._count_waiting()

    @property
    def output(self) -> int:
        """Tokens that the model has written so far, reasoning and tool calls included."""
        self._count_waiting()
        return self._counted

    @property
    def too_long(self) -> bool:
        """Whether the server goes on far beyond `most`, so that no more should be read."""
        return self._rough > _OVERRUN * self.most + _SPARE

    def used(self, reserved: Usage) -> Usage:
        """The usage of a try that ended well: as the server reports it, else what was asked and what came."""
        if self.too_long:
            return _larger(self.reported, Usage(reserved.input, max(self.output, reserved.output)))
        if self.reported is None or not (self.reported.input or self.reported.output):
            return Usage(reserved.input, self.output)
        return self.reported if self.final else _larger(self.reported, Usage(output=self.output))

    def used_after(self, error: BaseException, reserved: Usage) -> Usage:
        """The usage of a try that ended with `error`: all that was reserved, where nothing smaller is certain.

        Certain are the server's own figure for the whole answer, and that nothing was written where the server refused
        or could not be reached. What was cancelled counts with what had come, if anything had.
        """
        if self.unsent:
            return Usage()
        if self.reported is not None and self.final:
            return self.reported
        if self.refused:
            return Usage(reserved.input, self.output)
        if isinstance(error, Interrupted) and self.output:
            return _larger(self.reported, Usage(reserved.input, self.output))
        return _larger(self.reported, Usage(reserved.input, max(self.output, reserved.output)))

    def _count_waiting(self) -> None:
        if self._waiting:
            self._counted += self.count("".join(self._waiting))
        self._waiting, self._length = [], 0


def _larger(one: Usage | None, other: Usage) -> Usage:
    """The larger count of each kind."""
    if one is None:
        return other
    return Usage(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cached, other.cached),
        max(one.written, other.written),
    )


class SpendAccount(Protocol):
    """The account on which each try of a call is reserved and counted."""

    def attempt(self, request: Request) -> AbstractContextManager[Attempt]:
        """Enter before a request is sent, leave when its answer is there or has failed.

        Entering raises `LimitReached` when this try could pass a ceiling, `Permanent` when spending cannot be counted.
        """
        ...


@dataclass(frozen=True, slots=True)
class Unmetered:
    """An account without limits that keeps no record."""

    count: Callable[[str], int]

    @contextmanager
    def attempt(self, request: Request) -> Iterator[Attempt]:
        """See `SpendAccount`."""
        yield Attempt(self.count, request.max_output)
