"""A language model that can be asked: the seam that every wire, the scripted model and the spend meter satisfy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from agent.llm.messages import Reply, Request

OnText: TypeAlias = Callable[[str], None]
"""Called with each piece of text as it arrives."""
Cancelled: TypeAlias = Callable[[], bool]
"""Whether whoever asked wants the answer no more; looked at often while waiting."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model's name and its limits, in tokens. `present` is false for the offline stand-in, which cannot think."""

    name: str
    window: int
    max_output: int
    present: bool = True


def ignore(text: str) -> None:
    """For callers who want the whole answer only."""


def never() -> bool:
    """For calls that nobody cancels."""
    return False


class Provider(Protocol):
    """A model behind a wire. May be called from several threads at once.

    `chat` blocks until the whole reply is there and hands text to `on_text` as it arrives (never the same text twice:
    once some has been handed on, a broken stream is not started again silently). Raises `Interrupted` soon (within
    half a second) after `cancelled` turns true, `Retryable` when tries are used up, `Permanent` for what will not pass
    by itself, `MissingKey`, `LimitReached` from a meter.
    """

    @property
    def model(self) -> Model: ...

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply: ...
