"""The wire format of Anthropic's Messages API: alternating turns, tool results in user turns, prompt cache marks.

Parsing the answer is left to `anthropic_reply`, sending and retrying to `wire`.
"""

import re
from collections.abc import Mapping, Sequence

from agent.llm.anthropic_reply import parse_reply
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Json, JsonObject, Message, Request, System, ToolResult, ToolSpec
from agent.llm.turns import format_message, order_messages, sendable_text, tool_name
from agent.llm.wire import Api, Dialect, Wire

VERSION = "2023-06-01"
CACHE: JsonObject = {"type": "ephemeral"}
"""Marks the end of the part that is unchanged in the next request: at most four in a request, of which three are
used."""

_ID = re.compile(r"[^A-Za-z0-9_-]")


class Anthropic(Wire):
    """A `Provider` for Anthropic's Messages API; see `Wire`."""

    def api(self) -> Api:
        """The format of this kind of server."""
        return _API


def _headers(key: str) -> Mapping[str, str]:
    return {"x-api-key": key, "anthropic-version": VERSION}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    system = [message for message in request.messages if isinstance(message, System)]
    told: dict[str, Json] = {
        "model": endpoint.model.name,
        "max_tokens": min(request.max_output, endpoint.model.max_output),
        "stream": True,
        "messages": _turns(request),
        **dialect.optional,
    }
    blocks = [_text(format_message(message)) for message in system if message.text.strip()]
    if blocks:
        told["system"] = [*blocks[:-1], {**blocks[-1], "cache_control": CACHE}]
    if request.tools:
        tools = [_tool(tool) for tool in request.tools]
        told["tools"] = [*tools[:-1], {**tools[-1], "cache_control": CACHE}]
        if not request.may_call:
            told["tool_choice"] = {"type": "none"}
    return told


def _turns(request: Request) -> list[Json]:
    """Alternating user and assistant turns; the last block of the stable messages is marked for the cache."""
    stable = [message for message in request.messages[: request.stable] if not isinstance(message, System)]
    last = stable[-1] if stable else None
    turns: list[tuple[str, list[Json]]] = []
    for message in order_messages(request.messages):
        if isinstance(message, System):
            continue
        role = "assistant" if isinstance(message, Assistant) else "user"
        blocks = _blocks(message)
        if message is last and blocks:
            blocks[-1] = {**blocks[-1], "cache_control": CACHE}
        if not turns and role == "assistant":
            turns.append(("user", [_text("(what was said before is left out)")]))
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, list(blocks)))
    return [{"role": role, "content": blocks} for role, blocks in turns]


def _blocks(message: Message) -> list[JsonObject]:
    """The content blocks of a message; empty text is left out, since the server refuses it."""
    if isinstance(message, ToolResult):
        told = {
            "type": "tool_result",
            "tool_use_id": _id(message.call),
            "content": sendable_text(message.text) or "(empty)",
        }
        return [{**told, "is_error": True} if message.failed else told]
    if not isinstance(message, Assistant):
        text = format_message(message)
        return [_text(text if text.strip() else "(empty)")]
    said = [_text(sendable_text(message.text))] if message.text.strip() else []
    calls: list[JsonObject] = [
        {"type": "tool_use", "id": _id(call.id), "name": tool_name(call.name), "input": call.arguments}
        for call in message.calls
    ]
    return [*_thoughts(message.kept), *said, *calls]


def _thoughts(kept: Sequence[JsonObject]) -> list[JsonObject]:
    return [block for block in kept if block.get("type") in ("thinking", "redacted_thinking")]


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _id(id: str) -> str:
    """A call's id with the characters that Anthropic accepts; the id may come from another provider."""
    return _ID.sub("_", id)


def _tool(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _dialect(endpoint: Endpoint) -> Dialect:
    return Dialect("max_tokens", endpoint.extra)


_API = Api("/messages", _headers, body, _tool, parse_reply, _dialect)
