"""The wire format of Anthropic's Messages API: alternating turns, tool results in user turns, prompt cache marks.

Parsing the answer is left to `anthropic_reply`, sending and retrying to `wire`.
"""

import re
from collections.abc import Mapping

from agent.llm.anthropic_reply import THOUGHTS, parse_reply
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.kept_thinking import Part, ordered_parts
from agent.llm.messages import (
    Assistant,
    ImagePart,
    Json,
    JsonObject,
    Message,
    Request,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    mapping,
    number,
)
from agent.llm.turns import format_message, order_messages, sendable_text, tool_name
from agent.llm.wire import Api, Wire

VERSION = "2023-06-01"
CACHE: JsonObject = {"type": "ephemeral"}
"""Marks the end of the part that is unchanged in the next request: at most four in a request, of which three are
used."""

LEAST_BUDGET = 1_024
BUDGETS = {"low": 4_000, "medium": 10_000, "high": 16_000}
"""Tokens for the thinking of models that are given a number, by effort."""
NEWEST = (99, 0)
_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2}))?(?!\d)")
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
        "max_tokens": request.max_output,
        "stream": True,
        "messages": _turns(request),
        **dialect.optional,
    }
    if "thinking" in told and dialect.leaves_out("thinking"):
        del told["thinking"]
    elif mapping(told.get("thinking")).get("type") == "enabled":
        # the budget is a part of `max_tokens`, of which the answer needs the rest
        budget = min(number(mapping(told["thinking"]).get("budget_tokens")), request.max_output // 2)
        told["thinking"] = {"type": "enabled", "budget_tokens": max(budget, LEAST_BUDGET)}
        if request.max_output <= LEAST_BUDGET:
            del told["thinking"]
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
        text = sendable_text(message.text) or "(empty)"
        shown = [_text(text), *map(_image, message.images)] if message.images else text
        told: JsonObject = {"type": "tool_result", "tool_use_id": _id(message.call), "content": shown}
        return [{**told, "is_error": True} if message.failed else told]
    if not isinstance(message, Assistant):
        text = format_message(message)
        return [_text(text if text.strip() else "(empty)")]
    return [_block(part) for part in ordered_parts(message, THOUGHTS) if not isinstance(part, str) or part.strip()]


def _block(part: Part) -> JsonObject:
    """A part of the model's own message: thinking unchanged, text, or a call."""
    if isinstance(part, str):
        return _text(sendable_text(part))
    if isinstance(part, ToolCall):
        return {"type": "tool_use", "id": _id(part.id), "name": tool_name(part.name), "input": part.arguments}
    return part


def _image(image: ImagePart) -> JsonObject:
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.base64}}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _id(id: str) -> str:
    """A call's id with the characters that Anthropic accepts; the id may come from another provider."""
    return _ID.sub("_", id)


def _tool(tool: ToolSpec) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _dialect(endpoint: Endpoint) -> Dialect:
    return Dialect("max_tokens", {**thinking_of(endpoint.model.name, endpoint.effort), **endpoint.extra})


def thinking_of(model: str, effort: str) -> JsonObject:
    """The fields with which a model of this name thinks; empty for one that cannot, or is no Claude.

    Since Claude 4.6 a model decides itself how much it thinks; those before it are given a number of tokens.
    """
    found = _VERSION.search(model.lower().replace(".", "-"))
    if "claude" not in model.lower():
        return {}
    version = (int(found[1]), int(found[2] or 0)) if found else NEWEST
    if version < (3, 7):
        return {}
    if version < (4, 6):
        return {"thinking": {"type": "enabled", "budget_tokens": BUDGETS.get(effort, BUDGETS["medium"])}}
    return {"thinking": {"type": "adaptive"}, **({"output_config": {"effort": effort}} if effort else {})}


_API = Api("/messages", _headers, body, _tool, parse_reply, _dialect)
