"""Redaction: replaces this machine's secrets in requests, replies and logs.

`config` decides which settings are secrets; secrets in commits are left to the vault.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent.config.masking import HIDDEN, HIDDEN_IN_NOTES, count_secrets, redact, unfinished_secret
from agent.dataclass import dataclass
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
        kept = () if count_secrets(json.dumps(message.kept, default=dict), self.secrets) else message.kept
        calls = tuple(self._asked(call) for call in message.calls)
        return replace(message, text=redact(message.text, self.secrets, HIDDEN_IN_NOTES), calls=calls, kept=kept)

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

    def _object(self, said: JsonObject, hidden: str = HIDDEN) -> JsonObject:
        return {redact(name, self.secrets, hidden): self._json(value, hidden) for name, value in said.items()}

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
        shown = text.removesuffix(self.held)
        if shown:
            self.on_text(shown)

    def end(self) -> None:
        """Pass on the text that was held back, since it was no secret."""
        if self.held:
            self.on_text(self.held)
        self.held = ""
