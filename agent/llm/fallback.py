"""A model with another one behind it, which answers while the first is out of order, over its limit or refuses."""

from dataclasses import replace

from agent.clock import Clock
from agent.errors import AgentError, LockHeld, Permanent, Retryable, Stopping, UserError
from agent.llm.failures import TooLong
from agent.llm.messages import Cancelled, Model, OnText, Provider, Reply, Request, ignore, never
from agent.llm.retry import CountedText
from agent.texts import Sentence

SECONDS = 300.0
"""The time for which a model that has failed is not asked again."""


def with_fallback(provider: Provider, fallback: Provider | None, clock: Clock) -> Provider:
    """The provider with another one behind it, if there is one and it asks a model at all."""
    return Fallback(provider, fallback, clock) if fallback is not None and provider.model.present else provider


class Fallback:
    """A `Provider`: `first`, and `second` for what the first does not answer. Its model is the one that is asked next.

    Once some text has been passed on, the second is not asked: its answer would be another one.
    """

    def __init__(self, first: Provider, second: Provider, clock: Clock) -> None:
        self._first, self._second, self._clock = first, second, clock
        self._until = 0.0
        self._failure: AgentError | None = None

    @property
    def model(self) -> Model:
        return self._second.model if self._is_down() else self._first.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The reply of the first model that answers; the error of the first if none does. See `Provider.chat`."""
        passed = CountedText(on_text)
        if not self._is_down():
            try:
                return self._first.chat(request, passed, cancelled)
            except (TooLong, LockHeld, Stopping):
                raise
            except (Retryable, Permanent, UserError) as error:
                if passed.characters:
                    raise
                self._failure, self._until = error, self._clock.monotonic() + SECONDS
        assert self._failure is not None
        try:
            reply = self._second.chat(request, on_text, cancelled)
        except TooLong:
            raise
        except (Retryable, Permanent, UserError) as error:
            self._until = 0.0
            raise self._failure from error
        return _remarked(reply, self._second.model.name, self._first.model.name, self._failure)

    def _is_down(self) -> bool:
        return self._clock.monotonic() < self._until


def _remarked(reply: Reply, second: str, first: str, failure: AgentError) -> Reply:
    """The reply with the remark who has answered, and why not the first."""
    said = Sentence(
        "answered by {second}, as {first} did not answer: {why}", second=second, first=first, why=failure.message
    )
    return replace(reply, remarks=(*reply.remarks, said))
