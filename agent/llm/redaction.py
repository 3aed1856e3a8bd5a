"""Models around another one: secrets are redacted, or a second one answers while the first is out of order."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent.clock import Clock
from agent.config.masking import HIDDEN, HIDDEN_IN_NOTES, count_secrets, redact, unfinished_secret
from agent.dataclass import dataclass
from agent.errors import AgentError, LockHeld, Permanent, Retryable, Stopping, UserError
from agent.llm.failures import TooLong
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Json,
    JsonObject,
    Message,
    Model,
    OnText,
    Provider,
    Reply,
    Request,
    ToolCall,
    ignore,
    never,
)
from agent.llm.retry import CountedText
from agent.texts import Sentence


@dataclass(frozen=True, slots=True)
class RedactingProvider:
    """A `Provider` that removes this machine's secrets from requests and from replies.

    A secret becomes `***` in requests, and `[secret]` in replies, which go into notes.
    """

    provider: Provider
    secrets: tuple[str, ...]

    @property
    def model(self) -> Model:
        return self.provider.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The redacted reply; see `Provider.chat`."""
        messages = tuple(self._message(message) for message in request.messages)
        passed = RedactedStream(on_text, self.secrets)
        reply = self.provider.chat(replace(request, messages=messages), passed, cancelled)
        passed.end()
        return replace(reply, message=self._answer(reply.message), model=redact(reply.model, self.secrets))

    def _answer(self, message: Assistant) -> Assistant:
        """The redacted answer. Data that the provider needs back unchanged is dropped when it contains a secret."""
        thinking = () if count_secrets(json.dumps(message.thinking, default=dict), self.secrets) else message.thinking
        calls = tuple(self._asked(call) for call in message.calls)
        return replace(
            message, text=redact(message.text, self.secrets, HIDDEN_IN_NOTES), calls=calls, thinking=thinking
        )

    def _asked(self, call: ToolCall) -> ToolCall:
        """A requested call with `[secret]` in its arguments, by which a tool can detect that they are incomplete."""
        masked = self._call(call, HIDDEN_IN_NOTES)
        return replace(masked, id=redact(call.id, self.secrets, "x"), name=redact(call.name, self.secrets))

    def _message(self, message: Message) -> Message:
        """The redacted message; the same object if it contains no secret, so that the provider's cache still
        matches."""
        text = redact(message.text, self.secrets)
        if isinstance(message, Assistant) and message.calls:
            return replace(message, text=text, calls=tuple(self._call(call) for call in message.calls))
        return message if text == message.text else replace(message, text=text)

    def _call(self, call: ToolCall, hidden: str = HIDDEN) -> ToolCall:
        problem = redact(call.problem, self.secrets)
        return replace(call, arguments=self._object(call.arguments, hidden), problem=problem)

    def _object(self, fields: JsonObject, hidden: str = HIDDEN) -> JsonObject:
        return {redact(name, self.secrets, hidden): self._json(value, hidden) for name, value in fields.items()}

    def _json(self, value: Json, hidden: str) -> Json:
        if isinstance(value, str):
            return redact(value, self.secrets, hidden)
        if isinstance(value, Mapping):
            return self._object(value, hidden)
        if isinstance(value, Iterable):
            return [self._json(each, hidden) for each in value]
        return value


@dataclass(slots=True)
class RedactedStream:
    """Passes text on as it arrives, without secrets: the possible beginning of a secret is held back."""

    on_text: OnText
    secrets: tuple[str, ...]
    held: str = ""

    def __call__(self, text: str) -> None:
        text = redact(self.held + text, self.secrets, HIDDEN_IN_NOTES)
        self.held = unfinished_secret(text, self.secrets)
        visible = text.removesuffix(self.held)
        if visible:
            self.on_text(visible)

    def end(self) -> None:
        """Pass on the text that was held back, since it was no secret."""
        if self.held:
            self.on_text(self.held)
        self.held = ""


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
    remark = Sentence(
        "answered by {second}, as {first} did not answer: {why}", second=second, first=first, why=failure.message
    )
    return replace(reply, remarks=(*reply.remarks, remark))
