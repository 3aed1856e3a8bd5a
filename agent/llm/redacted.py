"""Secrets this machine knows, kept out of what goes to a model and out of what is reported.

Which settings are secrets is `config`'s, and what a commit may not hold the vault's.
"""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace

from agent.config.secrets import Secret, redact, reveal
from agent.errors import MissingKey
from agent.llm.messages import Assistant, Json, Message, Object, Reply, Request, ToolCall
from agent.llm.provider import Cancelled, Model, OnText, Provider, ignore, never

SHORTEST = 8
"""Shorter values are no keys but words such as `none`, which some local servers want; hiding them would garble text."""
_KEY_NAME = re.compile(r"[A-Z0-9_]*API_KEY")


def known_secrets(settings: object, environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values behind every `Secret` in `settings` (a dataclass of dataclasses), and of every `…API_KEY` variable.

    References that lead nowhere are left out: who needs the value will say so.
    """
    environ = os.environ if environ is None else environ
    values = {_value(secret, environ) for secret in _secrets(settings)}
    values |= {value for name, value in environ.items() if _KEY_NAME.fullmatch(name)}
    return tuple(sorted(value for value in values if len(value) >= SHORTEST))


def _secrets(settings: object) -> Iterable[Secret]:
    if isinstance(settings, Secret):
        yield settings
    elif is_dataclass(settings):
        for each in fields(settings):
            yield from _secrets(getattr(settings, each.name))


def _value(secret: Secret, environ: Mapping[str, str]) -> str:
    try:
        return reveal(secret, environ)
    except MissingKey:
        return ""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A model that is never told a secret of this machine, and whose server cannot say one: `***` stands in its place.

    Itself a `Provider`.
    """

    provider: Provider
    secrets: tuple[str, ...]

    @property
    def model(self) -> Model:
        return self.provider.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """As `Provider.chat`."""
        messages = tuple(self._message(message) for message in request.messages)
        passed = Passed(on_text, self.secrets)
        reply = self.provider.chat(replace(request, messages=messages), passed, cancelled)
        passed.end()
        said = self._message(reply.message)
        return replace(reply, message=said) if isinstance(said, Assistant) else reply

    def _message(self, message: Message) -> Message:
        """The same message where there is nothing to hide, so that a provider's cache goes on hitting."""
        text = redact(message.text, self.secrets)
        if isinstance(message, Assistant) and message.calls:
            return replace(message, text=text, calls=tuple(self._call(call) for call in message.calls))
        return message if text == message.text else replace(message, text=text)

    def _call(self, call: ToolCall) -> ToolCall:
        return replace(call, arguments=self._object(call.arguments), problem=redact(call.problem, self.secrets))

    def _object(self, said: Object) -> Object:
        return {redact(name, self.secrets): self._json(value) for name, value in said.items()}

    def _json(self, value: Json) -> Json:
        if isinstance(value, str):
            return redact(value, self.secrets)
        if isinstance(value, Mapping):
            return self._object(value)
        if isinstance(value, Iterable):
            return [self._json(each) for each in value]
        return value


@dataclass(slots=True)
class Passed:
    """Hands text on as it comes, without secrets: what may be the beginning of one is held back until it is known."""

    on_text: OnText
    secrets: tuple[str, ...]
    held: str = ""

    def __call__(self, text: str) -> None:
        text = redact(self.held + text, self.secrets)
        self.held = max((_beginning(text, secret) for secret in self.secrets), key=len, default="")
        shown = text.removesuffix(self.held)
        if shown:
            self.on_text(shown)

    def end(self) -> None:
        """Hand on what is held back: it has turned out to be no secret."""
        if self.held:
            self.on_text(self.held)
        self.held = ""


def _beginning(text: str, secret: str) -> str:
    """The longest end of a text with which a secret begins."""
    sizes = range(min(len(text), len(secret) - 1), 0, -1)
    return next((secret[:size] for size in sizes if text.endswith(secret[:size])), "")


class NoSecrets(logging.Filter):
    """A filter for a log's handlers: secrets become `***` in messages and in the tracebacks below them."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self.secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage(), self.secrets), None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact(record.exc_text, self.secrets)
        return True


def keep_out_of_logs(secrets: tuple[str, ...], name: str = "agent") -> None:
    """Put the filter on every handler of this logger, in the place of an earlier one."""
    for handler in logging.getLogger(name).handlers:
        for earlier in [each for each in handler.filters if isinstance(each, NoSecrets)]:
            handler.removeFilter(earlier)
        handler.addFilter(NoSecrets(secrets))
