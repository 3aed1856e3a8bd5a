"""Parses an answer of Anthropic's Messages API: a stream of named events, or plain JSON from a proxy."""

import json
from dataclasses import field

from agent.dataclass import dataclass
from agent.llm.exchange import HttpReply
from agent.llm.failures import from_event
from agent.llm.kept_thinking import with_marks
from agent.llm.messages import Json, JsonObject, StopReason, Usage, items, mapping, number, parsed
from agent.llm.messages import streamed_text as text
from agent.llm.sse import parse_events
from agent.llm.stream_assembly import PartialCall, StreamAssembly
from agent.llm.wire import Exchange, broken_reply

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
            given = block.get("input")
            arguments = [json.dumps(given, ensure_ascii=False)] if given else []
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
        """Add the thinking blocks to `kept`, with marks for what stands between them."""
        for thought in self.thoughts.values():
            if thought.pieces:
                thought.block["thinking"] = text(thought.block.get("thinking")) + "".join(thought.pieces)
        blocks = {index: thought.block for index, thought in self.thoughts.items()}
        self.gathered.kept += with_marks(blocks, self.texts, self.calls)


def parse_reply(answer: HttpReply, gathered: StreamAssembly, exchange: Exchange) -> None:
    """Fill in `gathered` from the answer; raises `Retryable` when the answer is broken."""
    reading = _Reading(gathered)
    if "event-stream" in answer.content_type:
        _stream(answer, reading, exchange)
    else:
        _plain(answer, reading, exchange)
    reading.finish()


def _stream(answer: HttpReply, reading: _Reading, exchange: Exchange) -> None:
    begun = False
    for event in parse_events(answer.pieces):
        if not event.data.strip():
            continue
        try:
            told = mapping(parsed(event.data))
        except ValueError:
            raise broken_reply(exchange.endpoint, "has a piece that is not JSON") from None
        if event.name == "error" or told.get("type") == "error" or told.get("error"):
            raise from_event(exchange.endpoint, told, exchange.key)
        begun = begun or told.get("type") not in (None, "ping")
        reading.take(told)
        if reading.stopped or reading.gathered.cut_off():
            break
    if not begun:
        raise broken_reply(exchange.endpoint, "is empty")
    if reading.gathered.stop is None:
        raise broken_reply(exchange.endpoint, "ends in the middle")


def _plain(answer: HttpReply, reading: _Reading, exchange: Exchange) -> None:
    try:
        whole = mapping(parsed(answer.body()))
    except ValueError:
        raise broken_reply(exchange.endpoint, "is not JSON") from None
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


def _usage(told: JsonObject) -> Usage | None:
    if not number(told.get("input_tokens")) and not number(told.get("cache_read_input_tokens")):
        return None
    cached, written = number(told.get("cache_read_input_tokens")), number(told.get("cache_creation_input_tokens"))
    whole = number(told.get("input_tokens")) + cached + written
    return Usage(whole, number(told.get("output_tokens")), cached, written)
