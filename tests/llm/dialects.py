"""What servers of each wire say, for tests that hold for all wires."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.config.secrets import Secret
from agent.llm.anthropic import Anthropic
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Json, JsonObject, Model, Provider
from agent.llm.openai import OpenAI

KEY = "sk-canary-7f3a9b2c"
MODEL = Model("test-model", 32_768, 4_096)


def counted(text: str) -> int:
    """A tokenizer for tests: four characters are a token."""
    return -(-len(text) // 4)


def no_jitter() -> float:
    return 0.5


@dataclass(frozen=True)
class Wanted:
    """A tool call as a server is to say it; `arguments` in the pieces in which it sends them."""

    id: str
    name: str
    arguments: Sequence[str]


@dataclass(frozen=True)
class Spoken:
    """A wire's way of saying things, as bytes of its stream."""

    name: str
    build: Callable[[Endpoint, Clock], Provider]
    begin: bytes
    text: Callable[[str], bytes]
    calls: Callable[[Sequence[Wanted]], bytes]
    end: Callable[[str], bytes]
    """The closing events for a reason of ours: end, tools, length, refused."""
    usage: bytes
    """Usage of 120 tokens in, 100 of them cached, and 7 out."""
    error: bytes
    """An overloaded server's word inside a stream."""
    whole: bytes
    """An answer that is no stream: it says 你好."""

    def provider(self, url: str, clock: Clock, *, timeout: float = 5.0, retries: int = 4) -> Provider:
        return self.build(Endpoint(url, MODEL, Secret(KEY), timeout, retries), clock)

    def answer(self, *texts: str, stop: str = "end") -> bytes:
        """A whole good stream."""
        return self.begin + b"".join(map(self.text, texts)) + self.usage + self.end(stop)


def _data(value: Json) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def _choice(delta: JsonObject, reason: str | None = None) -> bytes:
    choice: JsonObject = {"index": 0, "delta": delta, "finish_reason": reason}
    return _data({"id": "x", "model": "served-model", "choices": [choice]})


def _openai_calls(calls: Sequence[Wanted]) -> bytes:
    told = b""
    for index, call in enumerate(calls):
        function: JsonObject = {"name": call.name, "arguments": ""}
        told += _choice({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in call.arguments:
            told += _choice({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return told


_OPENAI_REASONS = {"end": "stop", "tools": "tool_calls", "length": "length", "refused": "content_filter"}

openai = Spoken(
    name="openai",
    build=lambda endpoint, clock: OpenAI(endpoint, clock, counted, no_jitter),
    begin=_choice({"role": "assistant", "content": ""}),
    text=lambda text: _choice({"content": text}),
    calls=_openai_calls,
    end=lambda stop: _choice({}, _OPENAI_REASONS[stop]) + b"data: [DONE]\n\n",
    usage=_data(
        {
            "choices": [],
            "usage": {"prompt_tokens": 120, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 100}},
        }
    ),
    error=_data({"error": {"message": "overloaded", "type": "server_error", "code": 503}}),
    whole=json.dumps(
        {
            "model": "served-model",
            "choices": [{"message": {"role": "assistant", "content": "你好"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }
    ).encode(),
)


def _event(value: JsonObject) -> bytes:
    return f"event: {value['type']}\n".encode() + _data(value)


def _block(index: int, block: JsonObject, deltas: Sequence[JsonObject]) -> bytes:
    told = _event({"type": "content_block_start", "index": index, "content_block": block})
    told += b"".join(_event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas)
    return told + _event({"type": "content_block_stop", "index": index})


def _anthropic_calls(calls: Sequence[Wanted]) -> bytes:
    return b"".join(
        _block(
            index,
            {"type": "tool_use", "id": call.id, "name": call.name, "input": {}},
            [{"type": "input_json_delta", "partial_json": piece} for piece in call.arguments],
        )
        for index, call in enumerate(calls, 1)
    )


def _anthropic_end(stop: str) -> bytes:
    reasons = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "refusal"}
    delta: JsonObject = {"stop_reason": reasons[stop]}
    told = _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
    return told + _event({"type": "message_stop"})


anthropic = Spoken(
    name="anthropic",
    build=lambda endpoint, clock: Anthropic(endpoint, clock, counted, no_jitter),
    begin=_event(
        {
            "type": "message_start",
            "message": {
                "model": "served-model",
                "usage": {"input_tokens": 15, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5},
            },
        }
    ),
    text=lambda text: _block(0, {"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]),
    calls=_anthropic_calls,
    end=_anthropic_end,
    usage=_event({"type": "ping"}),
    error=_event({"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}),
    whole=json.dumps(
        {
            "model": "served-model",
            "content": [{"type": "text", "text": "你好"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    ).encode(),
)

SPOKEN = (openai, anthropic)
