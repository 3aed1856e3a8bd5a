"""One attempt of a model call: the limit of its answer, and the tokens used so far.

A wire creates one for each request and fills it in while the answer arrives; the spend meter reads it at the end. A
call with five attempts has five of them.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from typing import Protocol

from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.llm.messages import Request, Usage

_OVERRUN, _SPARE = 2, 200
"""An answer is cut off at twice its limit plus 200 tokens: a count from characters is right within a factor of two."""
_PLAIN_PER_TOKEN = 4
"""ASCII characters per token, approximately; every other character counts as one token."""
_UNSEEN = 4_096
"""Tokens of output that a failed attempt may have cost without having sent them: an error comes long before the longest
answer that was asked for, or with what has been written until then."""
_CHUNK = 1_000
"""Characters that are counted at once."""


@dataclass(slots=True)
class Attempt:
    """One attempt. `count` returns the tokens of a text, `most` is the largest number of output tokens requested.

    `unsent`: no connection was made. `refused`: the server answered that it did nothing (4xx). `reported`: the usage
    that the server stated; `final`: that usage covers the whole answer.
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
        """Add text that the model has written: its answer, its reasoning, or a part of a tool call."""
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
        """The tokens that the model has written so far, reasoning and tool calls included."""
        self._count_waiting()
        return self._counted

    @property
    def too_long(self) -> bool:
        """True if the answer is far longer than `most`, so that reading must stop."""
        return self._rough > _OVERRUN * self.most + _SPARE

    def used(self, reserved: Usage) -> Usage:
        """The usage of a successful attempt: the server's figure, else the estimate of request and answer."""
        if self.too_long:
            return _larger(self.reported, Usage(reserved.input, max(self.output, reserved.output)))
        if self.reported is None or not (self.reported.input or self.reported.output):
            return Usage(reserved.input, self.output)
        return self.reported if self.final else _larger(self.reported, Usage(output=self.output))

    def used_after(self, error: BaseException, reserved: Usage) -> Usage:
        """The usage of an attempt that ended with `error`: the reservation, of its output up to `_UNSEEN` tokens,
        unless a smaller figure is certain.

        Certain are the server's figure for the whole answer, and no output where the server refused or could not be
        reached. A cancelled attempt counts with the output that arrived, if there was any.
        """
        if self.unsent:
            return Usage()
        if self.reported is not None and self.final:
            return self.reported
        if self.refused:
            return Usage(reserved.input, self.output)
        if isinstance(error, Interrupted) and self.output:
            return _larger(self.reported, Usage(reserved.input, self.output))
        return _larger(self.reported, Usage(reserved.input, max(self.output, min(reserved.output, _UNSEEN))))

    def _count_waiting(self) -> None:
        if self._waiting:
            self._counted += self.count("".join(self._waiting))
        self._waiting, self._length = [], 0


def _larger(one: Usage | None, other: Usage) -> Usage:
    """The larger of the two counts, for each kind of token."""
    if one is None:
        return other
    return Usage(
        max(one.input, other.input),
        max(one.output, other.output),
        max(one.cached, other.cached),
        max(one.written, other.written),
    )


class SpendAccount(Protocol):
    """An account that reserves and counts each attempt of a call."""

    def attempt(self, request: Request) -> AbstractContextManager[Attempt]:
        """Enter before a request is sent; leave when its answer has arrived or failed.

        Entering raises `LimitReached` when this attempt could pass a ceiling, `Permanent` when spending cannot be
        counted.
        """
        ...

    def affordable(self, request: Request) -> Request:
        """The request, with a shorter answer if its longest one would pass a ceiling."""
        ...


@dataclass(frozen=True, slots=True)
class Unmetered:
    """An account without limits that keeps no record."""

    count: Callable[[str], int]

    @contextmanager
    def attempt(self, request: Request) -> Iterator[Attempt]:
        """An attempt that is not recorded."""
        yield Attempt(self.count, request.max_output)

    def affordable(self, request: Request) -> Request:
        """The request as it is."""
        return request
