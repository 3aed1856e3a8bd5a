"""The wire format of OpenAI's chat completions, which DeepSeek, ARK, Ollama, llama.cpp and others also use.

An answer is a stream of chunks, or plain JSON from a server without streams. Each server deviates in its own way: they
omit indexes, ids, usage and the closing `[DONE]`, repeat names, and put every call at index 0. What is certain is
parsed; an answer that is cut off is an error. Sending and retrying is left to `wire`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.exchange import HttpReply
from agent.llm.failures import from_event
from agent.llm.messages import (
    Assistant,
    Context,
    ImagePart,
    Json,
    JsonObject,
    Message,
    Request,
    StopReason,
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
from agent.llm.thinking import marked_call, thinking_fields
from agent.llm.turns import format_message, order_messages, plain_turns, sendable_text, tool_name
from agent.llm.wire import Api, Exchange, Wire, body_data, broken_reply, check_whole, event_data

_STOPS: dict[str, StopReason] = {
    **dict.fromkeys(("length", "max_tokens", "model_length", "max_output_tokens"), "length"),
    **dict.fromkeys(("content_filter", "safety", "sensitive", "recitation", "blocklist"), "refused"),
    **dict.fromkeys(("prohibited_content", "spii", "refusal", "language"), "refused"),
}
_BROKEN = ("error", "insufficient_system_resource", "network_error", "abort")
_REASONING = ("reasoning_content", "reasoning")
"""The fields in which servers send thinking, and expect it back beside its calls."""
_DETAIL_TEXTS = ("text", "summary", "data")
"""The fields of a piece of thinking, as routers send it (`reasoning_details`), that come bit by bit."""
_CALLS = ("tool_calls", "function_call")


def parse_reply(answer: HttpReply, gathered: StreamAssembly, exchange: Exchange) -> None:
    """Fill in `gathered` from the answer; raises `Retryable` when the answer is broken."""
    if "event-stream" in answer.content_type:
        _stream(answer.pieces, gathered, exchange)
        return
    body = answer.body()
    if body.lstrip()[:1] != b"{":  # a stream without the header of one
        _stream([body], gathered, exchange)
        return
    _take(body_data(body, exchange.endpoint), gathered, exchange)
    if not gathered.events:
        raise broken_reply(exchange.endpoint, "holds no message")
    gathered.stop = gathered.stop or "end"
    gathered.whole_usage = gathered.usage is not None


def _stream(pieces: Iterable[bytes], gathered: StreamAssembly, exchange: Exchange) -> None:
    done = False
    for event in parse_events(pieces):
        if event.data.strip() == "[DONE]":
            done = True
            break
        _take(event_data(event, exchange.endpoint), gathered, exchange)
        if gathered.cut_off():
            break
    check_whole(exchange.endpoint, has_begun=gathered.events > 0, has_ended=done or gathered.stop is not None)


def _take(chunk: JsonObject, gathered: StreamAssembly, exchange: Exchange) -> None:
    choices = items(chunk.get("choices"))
    choice = mapping(choices[0]) if choices else {}
    places = (chunk.get("usage"), choice.get("usage"), mapping(chunk.get("x_groq")).get("usage"))
    usage = next(filter(None, map(_usage, places)), None)
    if usage is not None:  # a chunk with usage only is the last one; usage beside text is the count so far
        gathered.usage, gathered.whole_usage = usage, not choices and usage.output > 0
    if chunk.get("error"):
        raise from_event(exchange.endpoint, chunk, exchange.key)
    gathered.name(text(chunk.get("model")))
    if choices:
        _take_choice(choice, gathered, exchange)
    if usage is not None and gathered.stop is not None:
        gathered.whole_usage = True


def _take_choice(choice: JsonObject, gathered: StreamAssembly, exchange: Exchange) -> None:
    """Add a piece of the answer: its thinking, its text, its calls, and why it has ended."""
    gathered.events += 1
    delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
    _think(delta, gathered)
    gathered.say(text(delta.get("content")))
    if delta.get("refusal"):
        gathered.say(text(delta.get("refusal")))
        gathered.stop = "refused"
    for call in map(mapping, items(delta.get("tool_calls"))):
        _add(call, gathered)
    reason = text(choice.get("finish_reason")).lower()
    if reason in _BROKEN:
        raise broken_reply(exchange.endpoint, "ends in the middle")
    if reason and gathered.stop != "refused":
        gathered.stop = _STOPS.get(reason, "tools" if reason in _CALLS else "end")


def _think(delta: JsonObject, gathered: StreamAssembly) -> None:
    """Add thinking: it goes back with the calls that follow it, in the field in which it came."""
    name = next((name for name in _REASONING if text(delta.get(name))), "")
    if name:
        gathered.think(text(delta.get(name)), name)
    for detail in map(mapping, items(delta.get("reasoning_details"))):
        last = next(reversed(gathered.details), {})
        if all(detail.get(key) == last.get(key) for key in ("type", "index")) and "index" in detail:
            joined = {key: text(last.get(key)) + text(detail.get(key)) for key in _DETAIL_TEXTS if detail.get(key)}
            gathered.details[-1] = {**last, **detail, **joined}
        else:
            gathered.details.append(detail)


def _add(delta: JsonObject, gathered: StreamAssembly) -> None:
    """Add a piece of a tool call to its call."""
    function = mapping(delta.get("function"))
    id, name = text(delta.get("id")), text(function.get("name"))
    call = _belongs(delta, id, name, gathered)
    call.id = call.id or id
    if mapping(delta.get("extra_content")):
        call.extra = {"extra_content": mapping(delta.get("extra_content"))}
    if name != call.name:  # some servers repeat the whole name in every chunk
        call.name += name
        gathered.think(name)
    arguments = function.get("arguments")
    whole = isinstance(arguments, Mapping)
    gathered.argue(call, json.dumps(arguments, ensure_ascii=False) if whole else text(arguments))


def _belongs(delta: JsonObject, id: str, name: str, gathered: StreamAssembly) -> PartialCall:
    """The call that a piece continues, or a new one.

    Found by index; but a name under another id begins a new call, since some servers give every call the index 0.
    Without an index, a new id begins a call, and so does a name once the previous call has arguments.
    """
    index = delta.get("index")
    if isinstance(index, int) and not isinstance(index, bool):
        mine = gathered.call_at(index)
    else:
        index, mine = -1, gathered.call_of(id, name)
    if mine is None or (name and mine.has_other_id(id)):
        return gathered.begin(PartialCall(index=index))
    return mine


def _usage(value: Json) -> Usage | None:
    counts = mapping(value)
    if not number(counts.get("prompt_tokens")):
        return None
    details = mapping(counts.get("prompt_tokens_details"))
    cached = number(details.get("cached_tokens")) or number(counts.get("prompt_cache_hit_tokens"))
    whole = number(counts.get("prompt_tokens"))
    written = number(details.get("cache_write_tokens"))
    return Usage(whole, number(counts.get("completion_tokens")), min(cached, whole), min(written, whole))


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
    fields: dict[str, Json] = {
        "model": endpoint.model.name,
        "messages": plain_turns(turns) if dialect.plain else turns,
        "stream": True,
        dialect.limit: request.max_output,
        **dialect.optional,
    }
    if request.tools:
        fields["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            fields["tool_choice"] = "none"
    return fields


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
        turn: dict[str, Json] = {"role": "assistant", "content": sendable_text(message.text) or dialect.empty_text}
        if message.calls:
            turn |= _thinking(message, dialect)
            turn["tool_calls"] = [_call(call, _mark(message, at, dialect)) for at, call in enumerate(message.calls)]
        return turn
    return {"role": _ROLES[type(message).__name__], "content": format_message(message) or "(empty)"}


def _thinking(message: Assistant, dialect: Dialect) -> JsonObject:
    """The fields with the thinking before these calls, by the names under which the server has sent them."""
    fields = thinking_fields(message)
    if dialect.filled and "reasoning_content" not in fields:
        return {**fields, "reasoning_content": " "}
    return fields


def _mark(message: Assistant, at: int, dialect: Dialect) -> JsonObject:
    """The fields that go back with a call; the signature of a step stands at its first one."""
    extra = {name: value for name, value in marked_call(message, at).items() if name not in ("type", "number")}
    if dialect.signs and not at and not extra:
        return {"extra_content": {"google": {"thought_signature": SKIPPED_SIGNATURE}}}
    return extra


_STOPPED: JsonObject = {"role": "assistant", "content": "(stopped here)"}
_ROLES = {"System": "system", "User": "user", "Context": "user"}


def _call(call: ToolCall, mark: JsonObject) -> JsonObject:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    function: JsonObject = {"name": tool_name(call.name), "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function, **mark}


def _tool(tool: ToolSpec) -> JsonObject:
    function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _dialect(endpoint: Endpoint) -> Dialect:
    effort = {"reasoning_effort": endpoint.effort} if endpoint.effort else {}
    optional = {"stream_options": {"include_usage": True}, **effort, **endpoint.extra}
    is_google = urlsplit(endpoint.base_url).hostname == "generativelanguage.googleapis.com"
    return Dialect(endpoint.limit, optional, signs=is_google)


_API = Api("/chat/completions", _headers, body, _tool, parse_reply, _dialect)
