"""Checks bodies of requests against the types of the official SDKs."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from agent.llm.messages import JsonObject

_TYPES: Mapping[str, Any] = {
    "openai": CompletionCreateParamsStreaming,
    "responses": ResponseCreateParamsStreaming,
    "anthropic": MessageCreateParamsStreaming,
}
BEYOND = frozenset({"reasoning_content", "reasoning", "reasoning_details", "extra_content"})
"""Fields of other providers that speak chat completions; OpenAI's types do not have them."""


@cache
def _adapter(wire: str) -> TypeAdapter[Any]:
    return TypeAdapter(_TYPES[wire])


def check_body(wire: str, body: JsonObject) -> None:
    """Raise `pydantic.ValidationError` for a value of another type, and `AssertionError` for a field that the SDK's
    type does not have."""
    valid = _whole(_adapter(wire).validate_python(body))
    assert list(_lost(body, valid)) == []


def _whole(value: object) -> object:
    """The value with what pydantic checks only when it is looked at."""
    if isinstance(value, Mapping):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_whole(each) for each in value]
    return value


def _lost(sent: object, valid: object, place: str = "") -> Iterator[str]:
    """The places of fields that the type does not have: pydantic leaves them out."""
    if isinstance(sent, Mapping) and isinstance(valid, Mapping):
        for key, value in sent.items():
            if key not in valid and key not in BEYOND:
                yield f"{place}.{key}"
            elif key in valid:
                yield from _lost(value, valid[key], f"{place}.{key}")
    elif isinstance(sent, list) and isinstance(valid, list):
        for number, (one, other) in enumerate(zip(sent, valid, strict=True)):
            yield from _lost(one, other, f"{place}[{number}]")
