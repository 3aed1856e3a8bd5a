"""The wire format of Anthropic's Messages API: alternating turns, tool results in user turns, prompt cache marks.

An answer is a stream of named events, or plain JSON from a proxy. Sending and retrying is left to `wire`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.exchange import HttpReply
from agent.llm.failures import from_event
from agent.llm.messages import (
    Assistant,
    ImagePart,
    Json,
    JsonObject,
    Message,
    Request,
    StopReason,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    items,
    mapping,
    number,
)
from agent.llm.messages import streamed_text as text
from agent.llm.sse import parse_events
from agent.llm.stream_assembly import PartialCall, StreamAssembly
from agent.llm.thinking import Part, ordered_parts, with_marks
from agent.llm.turns import format_message, order_messages, sendable_text, tool_name
from agent.llm.wire import Api, Exchange, Wire, body_data, broken_reply, check_whole, event_data

_STOPS: dict[str, StopReason] = {
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
THOUGHTS = ("thinking", "redacted_thinking")


@dataclass(slots=True)
class _Thought:
    """A block of thinking, which is sent back unchanged."""

    block: dict[str, Json]
    pieces: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reading:
    """The state of the parser: calls, thinking blocks and the lengths of texts by block index, and the usage so far."""

    gathered: StreamAssembly
    calls: dict[int, PartialCall] = field(default_factory=dict)
    texts: dict[int, int] = field(default_factory=dict)
    thoughts: dict[int, _Thought] = field(default_factory=dict)
    usage: dict[str, Json] = field(default_factory=dict)
    stopped: bool = False

    def take(self, event: JsonObject) -> None:
        """Add the data of one event; unknown events are ignored."""
        match text(event.get("type")):
            case "message_start":
                message = mapping(event.get("message"))
                self.gathered.name(text(message.get("model")))
                self._use(message.get("usage"))
            case "content_block_start":
                self.begin(_index(event), mapping(event.get("content_block")))
            case "content_block_delta":
                self._continue(_index(event), mapping(event.get("delta")))
            case "message_delta":
                self.end(text(mapping(event.get("delta")).get("stop_reason")))
                self._use(event.get("usage"))
                self.gathered.whole_usage = self.gathered.usage is not None and bool(mapping(event.get("usage")))
            case "message_stop":
                self.stopped = True

    def begin(self, index: int, block: JsonObject) -> None:
        """Begin a block; in an answer without a stream the block is complete."""
        kind = text(block.get("type"))
        if kind == "text":
            self._say(index, text(block.get("text")))
        elif kind == "tool_use":
            call_input = block.get("input")
            arguments = [json.dumps(call_input, ensure_ascii=False)] if call_input else []
            call = PartialCall(index, text(block.get("id")), text(block.get("name")), arguments)
            self.calls[index] = self.gathered.begin(call)
        elif kind in THOUGHTS:
            self.thoughts[index] = _Thought(dict(block))
            self.gathered.think(text(block.get("thinking")))

    def _continue(self, index: int, delta: JsonObject) -> None:
        kind = text(delta.get("type"))
        if kind == "text_delta":
            self._say(index, text(delta.get("text")))
        elif kind == "input_json_delta" and index in self.calls:
            self.gathered.argue(self.calls[index], text(delta.get("partial_json")))
        elif kind == "thinking_delta" and index in self.thoughts:
            self.thoughts[index].pieces.append(text(delta.get("thinking")))
            self.gathered.think(text(delta.get("thinking")))
        elif kind == "signature_delta" and index in self.thoughts:
            self.thoughts[index].block["signature"] = text(delta.get("signature"))

    def _say(self, index: int, piece: str) -> None:
        self.texts[index] = self.texts.get(index, 0) + len(piece)
        self.gathered.say(piece)

    def end(self, reason: str) -> None:
        """Record the stop reason."""
        if reason:
            self.gathered.stop = _STOPS.get(reason, "end")

    def _use(self, usage: Json) -> None:
        self.usage |= {name: value for name, value in mapping(usage).items() if number(value)}
        self.gathered.usage = _usage(self.usage)

    def finish(self) -> None:
        """Add the thinking blocks to `blocks`, with marks for what stands between them."""
        for thought in self.thoughts.values():
            if thought.pieces:
                thought.block["thinking"] = text(thought.block.get("thinking")) + "".join(thought.pieces)
        blocks = {index: thought.block for index, thought in self.thoughts.items()}
        self.gathered.blocks += with_marks(blocks, self.texts, self.calls)


def parse_reply(answer: HttpReply, gathered: StreamAssembly, exchange: Exchange) -> None:
    """Fill in `gathered` from the answer; raises `Retryable` when the answer is broken."""
    reading = _Reading(gathered)
    if "event-stream" in answer.content_type:
        _stream(answer, reading, exchange)
    else:
        _take_whole(answer, reading, exchange)
    reading.finish()


def _stream(answer: HttpReply, reading: _Reading, exchange: Exchange) -> None:
    begun = False
    for event in parse_events(answer.pieces):
        data = event_data(event, exchange.endpoint)
        if event.name == "error" or data.get("type") == "error" or data.get("error"):
            raise from_event(exchange.endpoint, data, exchange.key)
        begun = begun or data.get("type") not in (None, "ping")
        reading.take(data)
        if reading.stopped or reading.gathered.cut_off():
            break
    check_whole(exchange.endpoint, has_begun=begun, has_ended=reading.gathered.stop is not None)


def _take_whole(answer: HttpReply, reading: _Reading, exchange: Exchange) -> None:
    whole = body_data(answer.body(), exchange.endpoint)
    if whole.get("error"):
        raise from_event(exchange.endpoint, whole, exchange.key)
    if "content" not in whole:
        raise broken_reply(exchange.endpoint, "holds no message")
    reading.take({"type": "message_start", "message": whole})
    for index, block in enumerate(items(whole.get("content"))):
        reading.begin(index, mapping(block))
    reading.end(text(whole.get("stop_reason")) or "end_turn")
    reading.gathered.whole_usage = reading.gathered.usage is not None


def _index(event: JsonObject) -> int:
    return number(event.get("index"))


def _usage(counts: JsonObject) -> Usage | None:
    if not number(counts.get("input_tokens")) and not number(counts.get("cache_read_input_tokens")):
        return None
    cached, written = number(counts.get("cache_read_input_tokens")), number(counts.get("cache_creation_input_tokens"))
    whole = number(counts.get("input_tokens")) + cached + written
    return Usage(whole, number(counts.get("output_tokens")), cached, written)


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


def _fitting_thinking(thinking: JsonObject, max_output: int) -> JsonObject:
    """The field with the wish for thinking, within the longest answer: none if there is no room for any."""
    if thinking.get("type") != "enabled":
        return {"thinking": thinking}
    if max_output <= LEAST_BUDGET:
        return {}
    # the budget is a part of `max_tokens`, of which the answer needs the rest
    budget = min(number(thinking.get("budget_tokens")), max_output // 2)
    return {"thinking": {"type": "enabled", "budget_tokens": max(budget, LEAST_BUDGET)}}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    fields: dict[str, Json] = {
        "model": endpoint.model.name,
        "max_tokens": request.max_output,
        "stream": True,
        "messages": _turns(request),
        **dialect.optional,
    }
    if "thinking" in fields:
        thinking = mapping(fields.pop("thinking"))
        fields |= {} if dialect.leaves_out("thinking") else _fitting_thinking(thinking, request.max_output)
    system = (each for each in request.messages if isinstance(each, System) and each.text.strip())
    blocks = [_text(format_message(each)) for each in system]
    if blocks:
        fields["system"] = [*blocks[:-1], {**blocks[-1], "cache_control": CACHE}]
    if request.tools:
        tools = [_tool(tool) for tool in request.tools]
        fields["tools"] = [*tools[:-1], {**tools[-1], "cache_control": CACHE}]
        if not request.may_call:
            fields["tool_choice"] = {"type": "none"}
    return fields


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
        content = [_text(text), *map(_image, message.images)] if message.images else text
        result: JsonObject = {"type": "tool_result", "tool_use_id": _id(message.call), "content": content}
        return [{**result, "is_error": True} if message.failed else result]
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
