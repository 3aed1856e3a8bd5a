"""The wire format of OpenAI's chat completions, which DeepSeek, ARK, Ollama, llama.cpp and others also use.

Each deviates in its own way; `openai_reply` handles the deviations. Sending and retrying is left to `wire`.
"""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.kept_thinking import marked_call, thinking_fields
from agent.llm.messages import (
    Assistant,
    Context,
    ImagePart,
    Json,
    JsonObject,
    Message,
    Request,
    ToolCall,
    ToolResult,
    ToolSpec,
    items,
)
from agent.llm.openai_reply import parse_reply
from agent.llm.turns import format_message, order_messages, plain_turns, sendable_text, tool_name
from agent.llm.wire import Api, Wire


class OpenAI(Wire):
    """A `Provider` for a server with chat completions; see `Wire`."""

    def api(self) -> Api:
        """The format of this kind of server."""
        return _API


SKIPPED_SIGNATURE = "skip_thought_signature_validator"
"""Stands in for a signature that is not known, by Google's documentation: calls of another model, or a session that was
begun on another machine."""


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    turns = _turns(request.messages, dialect)
    told: dict[str, Json] = {
        "model": endpoint.model.name,
        "messages": plain_turns(turns) if dialect.plain else turns,
        "stream": True,
        dialect.limit: request.max_output,
        **dialect.optional,
    }
    if request.tools:
        told["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            told["tool_choice"] = "none"
    return told


def _turns(messages: Sequence[Message], dialect: Dialect) -> list[JsonObject]:
    """The turns of a request. Many servers' templates refuse two user turns in a row, and one after a tool's result.

    So neighbouring user messages are joined, our own text after a result stands in its turn, below it, and a person's
    message after a result, as when a run was stopped, has a turn of the assistant before it. A result can have no
    picture: those of all results stand in a turn of the user after them.
    """
    turns: list[tuple[str, JsonObject]] = []
    images: list[ImagePart] = []
    for message in order_messages(messages):
        if images and not isinstance(message, ToolResult | Context):
            turns.append(_pictures(images))
            images = []
        if isinstance(message, ToolResult) and not dialect.plain:
            images += message.images
        turn = _turn(message, dialect)
        role = str(turn["role"])
        last = turns[-1][0] if turns else ""
        if role == "user" and (last == "user" or (last == "tool" and isinstance(message, Context))):
            before = turns[-1][1]
            turns[-1] = last, {**before, "content": _joined(before["content"], turn["content"])}
        else:
            turns += [("assistant", _STOPPED)] if (last, role) == ("tool", "user") else []
            turns.append((role, turn))
    turns += [_pictures(images)] if images else []
    return [turn for _, turn in turns]


def _pictures(images: Sequence[ImagePart]) -> tuple[str, JsonObject]:
    """A turn of the user with the pictures of the results before it."""
    parts: list[JsonObject] = []
    for image in images:
        parts.append({"type": "text", "text": f"[{image.name}]"})
        parts.append({"type": "image_url", "image_url": {"url": image.url}})
    return "user", {"role": "user", "content": parts}


def _joined(before: Json, after: Json) -> Json:
    """Two contents as one; the first may have pictures."""
    if isinstance(before, str):
        return f"{before}\n\n{after}"
    return [*items(before), {"type": "text", "text": str(after)}]


def _turn(message: Message, dialect: Dialect) -> JsonObject:
    if isinstance(message, ToolResult):
        text = format_message(message) or "(empty)"  # an empty text is refused by servers in front of other formats
        return {"role": "tool", "tool_call_id": message.call, "content": text}
    if isinstance(message, Assistant):
        told: dict[str, Json] = {"role": "assistant", "content": sendable_text(message.text) or dialect.empty_text}
        if message.calls:
            told |= _thinking(message, dialect)
            told["tool_calls"] = [_call(call, _mark(message, at, dialect)) for at, call in enumerate(message.calls)]
        return told
    return {"role": _ROLES[type(message).__name__], "content": format_message(message) or "(empty)"}


def _thinking(message: Assistant, dialect: Dialect) -> JsonObject:
    """The fields with the thinking before these calls, by the names under which the server has sent them."""
    kept = thinking_fields(message)
    if dialect.filled and "reasoning_content" not in kept:
        return {**kept, "reasoning_content": " "}
    return kept


def _mark(message: Assistant, at: int, dialect: Dialect) -> JsonObject:
    """What goes back with a call; the signature of a step stands at its first one."""
    kept = {name: value for name, value in marked_call(message, at).items() if name not in ("type", "number")}
    if dialect.signs and not at and not kept:
        return {"extra_content": {"google": {"thought_signature": SKIPPED_SIGNATURE}}}
    return kept


_STOPPED: JsonObject = {"role": "assistant", "content": "(stopped here)"}
_ROLES = {"System": "system", "User": "user", "Context": "user"}


def _call(call: ToolCall, mark: JsonObject) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    function: JsonObject = {"name": tool_name(call.name), "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, **mark}


def _tool(tool: ToolSpec) -> JsonObject:
    told: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": told}


def _dialect(endpoint: Endpoint) -> Dialect:
    effort = {"reasoning_effort": endpoint.effort} if endpoint.effort else {}
    optional = {"stream_options": {"include_usage": True}, **effort, **endpoint.extra}
    is_google = urlsplit(endpoint.base_url).hostname == "generativelanguage.googleapis.com"
    return Dialect(endpoint.limit, optional, signs=is_google)


_API = Api("/chat/completions", _headers, body, _tool, parse_reply, _dialect)
