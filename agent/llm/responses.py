"""The wire format of OpenAI's Responses API, in which its models think on between calls of tools.

Nothing is stored at the provider: thinking comes encrypted and goes back with the calls that it led to. An answer is a
stream of events about items, or plain JSON from a proxy. Sending and retrying is left to `wire`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.exchange import HttpReply
from agent.llm.failures import from_event
from agent.llm.messages import (
    Assistant,
    Json,
    JsonObject,
    Message,
    Request,
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

THOUGHTS = ("reasoning",)
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_KEPT = ("id", "type", "summary", "encrypted_content", "content")
"""The fields of an item of thinking that go back; its status does not."""


@dataclass(slots=True)
class _Reading:
    """The state of the parser: calls, thinking and the lengths of texts by the item's position in the output."""

    gathered: StreamAssembly
    exchange: Exchange
    calls: dict[int, PartialCall] = field(default_factory=dict)
    texts: dict[int, int] = field(default_factory=dict)
    thoughts: dict[int, JsonObject] = field(default_factory=dict)
    ended: bool = False

    def take(self, event: JsonObject) -> None:
        """Add the data of one event; unknown events are ignored."""
        kind, at = text(event.get("type")), number(event.get("output_index"))
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._say(at, text(event.get("delta")), refused="refusal" in kind)
            case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                self.gathered.think(text(event.get("delta")))
            case "response.output_item.added":
                self._begin(at, mapping(event.get("item")))
            case "response.function_call_arguments.delta" if at in self.calls:
                self.gathered.argue(self.calls[at], text(event.get("delta")))
            case "response.output_item.done":
                self.take_item(at, mapping(event.get("item")))
            case "response.created" | "response.in_progress":
                self.gathered.name(text(mapping(event.get("response")).get("model")))
            case _ if kind in _ENDS:
                self.end(mapping(event.get("response")))

    def take_item(self, at: int, item: JsonObject) -> None:
        """Add a complete item; what came of it before is not added again."""
        match text(item.get("type")):
            case "reasoning":
                self.thoughts[at] = {name: item[name] for name in _KEPT if item.get(name) is not None}
                self.thoughts[at] = {"summary": [], **self.thoughts[at]}
            case "function_call":
                self._begin(at, item)
                if not any(self.calls[at].arguments):
                    self.gathered.argue(self.calls[at], text(item.get("arguments")))
            case "message" if at not in self.texts:
                for part in map(mapping, items(item.get("content"))):
                    self._say(
                        at, text(part.get("text")) or text(part.get("refusal")), refused=bool(part.get("refusal"))
                    )

    def end(self, response: JsonObject) -> None:
        """Record the usage and the reason of the end; raises the error of a response that failed."""
        if response.get("error"):
            raise from_event(self.exchange.endpoint, {"error": response.get("error")}, self.exchange.key)
        self.ended = True
        self.gathered.name(text(response.get("model")))
        self.gathered.usage = _usage(response.get("usage"))
        self.gathered.whole_usage = self.gathered.usage is not None
        reason = text(mapping(response.get("incomplete_details")).get("reason"))
        if self.gathered.stop != "refused":
            is_cut = reason or text(response.get("status")) == "incomplete"
            self.gathered.stop = "refused" if reason == "content_filter" else "length" if is_cut else "end"

    def finish(self) -> None:
        """Add the thinking to `blocks`, with marks for what stands between."""
        self.gathered.blocks += with_marks(self.thoughts, self.texts, self.calls)

    def _begin(self, at: int, item: JsonObject) -> None:
        if text(item.get("type")) == "function_call" and at not in self.calls:
            id = text(item.get("call_id")) or text(item.get("id"))
            self.calls[at] = self.gathered.begin(PartialCall(at, id, text(item.get("name"))))

    def _say(self, at: int, piece: str, *, refused: bool) -> None:
        self.texts[at] = self.texts.get(at, 0) + len(piece)
        self.gathered.say(piece)
        if refused:
            self.gathered.stop = "refused"


def parse_reply(answer: HttpReply, gathered: StreamAssembly, exchange: Exchange) -> None:
    """Fill in `gathered` from the answer; raises `Retryable` when the answer is broken."""
    reading = _Reading(gathered, exchange)
    if "event-stream" in answer.content_type:
        _stream(answer, reading)
    else:
        _take_whole(answer, reading)
    reading.finish()


def _stream(answer: HttpReply, reading: _Reading) -> None:
    place, begun = reading.exchange.endpoint, False
    for event in parse_events(answer.pieces):
        data = event_data(event, place)
        if not data:
            continue
        if data.get("type") == "error" or (data.get("error") and "type" not in data):
            raise from_event(place, data, reading.exchange.key)
        begun = True
        reading.take(data)
        if reading.ended or reading.gathered.cut_off():
            break
    check_whole(place, has_begun=begun, has_ended=reading.gathered.stop is not None)


def _take_whole(answer: HttpReply, reading: _Reading) -> None:
    place = reading.exchange.endpoint
    whole = body_data(answer.body(), place)
    if whole.get("error") and "output" not in whole:
        raise from_event(place, whole, reading.exchange.key)
    if "output" not in whole:
        raise broken_reply(place, "holds no message")
    for at, item in enumerate(items(whole.get("output"))):
        reading.take_item(at, mapping(item))
    reading.end(whole)


def _usage(value: Json) -> Usage | None:
    counts = mapping(value)
    whole = number(counts.get("input_tokens"))
    if not whole:
        return None
    details = mapping(counts.get("input_tokens_details"))
    cached, written = number(details.get("cached_tokens")), number(details.get("cache_write_tokens"))
    return Usage(whole, number(counts.get("output_tokens")), min(cached, whole), min(written, whole))


ENCRYPTED = "reasoning.encrypted_content"


class Responses(Wire):
    """A `Provider` for OpenAI's Responses API; see `Wire`."""

    def api(self) -> Api:
        """The format of this kind of server."""
        return _API


def _headers(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def body(endpoint: Endpoint, request: Request, dialect: Dialect) -> JsonObject:
    """The JSON body of a request."""
    system = [format_message(each) for each in request.messages if isinstance(each, System) and each.text.strip()]
    others = [each for each in order_messages(request.messages) if not isinstance(each, System)]
    fields: dict[str, Json] = {
        "model": endpoint.model.name,
        "input": [item for message in others for item in _items(message)],
        "stream": True,
        "store": False,
        "max_output_tokens": request.max_output,
        **dialect.optional,
    }
    if system:
        fields["instructions"] = "\n\n".join(system)
    if request.tools:
        fields["tools"] = [_tool(tool) for tool in request.tools]
        if not request.may_call:
            fields["tool_choice"] = "none"
    return fields


def _items(message: Message) -> Iterator[JsonObject]:
    """The items of a message."""
    if isinstance(message, ToolResult):
        text = format_message(message)
        images: list[JsonObject] = [
            {"type": "input_image", "image_url": each.url, "detail": "auto"} for each in message.images
        ]
        output: Json = [{"type": "input_text", "text": text}, *images] if images else text
        yield {"type": "function_call_output", "call_id": message.call, "output": output}
    elif isinstance(message, Assistant):
        yield from (_item(part) for part in ordered_parts(message, THOUGHTS))
    else:
        yield {"role": "user", "content": format_message(message)}


def _item(part: Part) -> JsonObject:
    """A part of the model's own message: thinking unchanged, text, or a call."""
    if isinstance(part, str):
        return {"role": "assistant", "content": sendable_text(part)}
    if isinstance(part, ToolCall):
        arguments = json.dumps(part.arguments, ensure_ascii=False)
        return {"type": "function_call", "call_id": part.id, "name": tool_name(part.name), "arguments": arguments}
    return part


def _tool(tool: ToolSpec) -> JsonObject:
    function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", **function, "strict": False}


def _dialect(endpoint: Endpoint) -> Dialect:
    effort: JsonObject = {"reasoning": {"effort": endpoint.effort}} if endpoint.effort else {}
    return Dialect("max_tokens", {"include": [ENCRYPTED], **effort, **endpoint.extra})


_API = Api("/responses", _headers, body, _tool, parse_reply, _dialect)
