"""The Protocol of a language model, implemented by every wire, the scripted model and the spend meter."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, Self, TypeAlias

from agent.dataclass import dataclass
from agent.llm.messages import Reply, Request

THINKING = 16_000
"""Tokens that thinking may take beside an answer, where the window is large."""

OnText: TypeAlias = Callable[[str], None]
"""Called with each piece of text as it arrives."""
Cancelled: TypeAlias = Callable[[], bool]
"""True if the caller no longer wants the answer; checked often during a wait."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model's name and its limits, in tokens: of an answer with its thinking `max_output`, of which `thinking` may be
    used up before the first word. `present` is false for the offline provider, which has no model. `sees`: it is given
    pictures."""

    name: str
    window: int
    max_output: int
    present: bool = True
    thinking: int = 0
    sees: bool = False

    def with_window(self, window: int) -> Self:
        """The model with this window, and with the parts of it that its answer and its thinking may take."""
        most = max(min(self.max_output, window // 2), 1)
        return replace(self, window=window, max_output=most, thinking=min(THINKING, window // 8))

    def room(self, words: int) -> int:
        """The tokens to ask for, so that `words` tokens are left for the answer itself."""
        return min(self.max_output, words + self.thinking)


def ignore(text: str) -> None:
    """Ignore the text, for callers who need the whole answer only."""


def never() -> bool:
    """Always False: for calls that cannot be cancelled."""
    return False


class Provider(Protocol):
    """A model behind a wire. Safe to call from several threads at once.

    `chat` blocks until the reply is complete and passes text to `on_text` as it arrives, never the same text twice:
    once some was passed on, a broken stream is not retried. Raises `Interrupted` within half a second after `cancelled`
    turns true, `Retryable` when the attempts are used up, `Permanent` for an error that a retry cannot solve (`TooLong`
    for a request that is longer than the window), `MissingKey`, and `LimitReached` from a meter.
    """

    @property
    def model(self) -> Model: ...

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply: ...
