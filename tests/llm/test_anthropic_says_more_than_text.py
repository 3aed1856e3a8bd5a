"""What only Anthropic's messages have: signed thinking, what the cache was given, and its reasons to stop."""

import json

import pytest

from agent.errors import Permanent, Retryable
from agent.llm.anthropic import Anthropic
from agent.llm.endpoint import Endpoint
from agent.llm.messages import JsonObject, Reply, Request, StopReason, System, ToolCall, Usage, User
from tests.fakes import FakeClock
from tests.llm.dialects import MODEL, anthropic, counted, no_jitter
from tests.llm.servers import answers, model_server, streams

QUESTION = Request((System("Be kind."), User("Hello")))
EXTRA = {"thinking": {"type": "disabled"}}


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def heard(*pieces: bytes) -> Reply:
    with model_server(streams(*pieces)) as server:
        provider = Anthropic(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter)
        return provider.chat(QUESTION)


def stop(reason: str) -> bytes:
    return event("message_delta", delta={"stop_reason": reason}) + event("message_stop")


def test_signed_thinking_is_kept_with_the_calls_and_is_no_text() -> None:
    thought = (
        event("content_block_start", index=0, content_block={"type": "thinking", "thinking": "", "signature": ""})
        + event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "Hm"})
        + event("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "m."})
        + event("content_block_delta", index=0, delta={"type": "signature_delta", "signature": "abc="})
        + event("content_block_stop", index=0)
        + event("content_block_start", index=1, content_block={"type": "redacted_thinking", "data": "xyz"})
    )
    call = event(
        "content_block_start", index=2, content_block={"type": "tool_use", "id": "c", "name": "t", "input": {}}
    )
    message = heard(anthropic.begin, thought, call, stop("tool_use")).message
    kept: list[JsonObject] = [
        {"type": "thinking", "thinking": "Hmm.", "signature": "abc="},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
    assert (message.text, message.calls, list(message.thinking)) == ("", (ToolCall("c", "t"),), kept)
    assert heard(anthropic.begin, thought, anthropic.text("x"), stop("end_turn")).message.thinking == ()


def test_what_the_cache_was_given_is_counted() -> None:
    assert heard(anthropic.answer("x")).usage == Usage(input=120, output=7, cached=100, written=5)


def test_usage_that_is_missing_is_estimated() -> None:
    reply = heard(anthropic.text("Hello there"), stop("end_turn"))
    assert reply.usage == Usage(counted("Be kind.") + counted("Hello"), counted("Hello there"))


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("pause_turn", "end"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("a reason of the future", "end"),
    ],
)
def test_reasons_to_stop(reason: str, meant: StopReason) -> None:
    assert heard(anthropic.begin, anthropic.text("x"), stop(reason)).stop == meant


@pytest.mark.parametrize(
    ("kind", "error"),
    [("overloaded_error", Retryable), ("rate_limit_error", Retryable), ("invalid_request_error", Permanent)],
)
def test_an_error_in_the_stream_is_sorted(kind: str, error: type[Exception]) -> None:
    said = event("error", error={"type": kind, "message": "because"})
    with model_server(streams(anthropic.begin, said)) as server, pytest.raises(error, match="because"):
        Anthropic(Endpoint(server.url, MODEL, retries=1), FakeClock(), counted, no_jitter).chat(QUESTION)


def test_a_field_that_a_model_refuses_is_left_out() -> None:
    said = b'{"type": "error", "error": {"type": "invalid_request_error", "message": "thinking.type: not supported"}}'
    with model_server(answers("400 Bad Request", said), streams(anthropic.answer("fine"))) as server:
        endpoint = Endpoint(server.url, MODEL, extra=EXTRA)
        assert Anthropic(endpoint, FakeClock(), counted, no_jitter).chat(QUESTION).message.text == "fine"
    assert [("thinking" in asked.told) for asked in server.asked] == [True, False]


def test_what_is_sent_is_as_documented() -> None:
    with model_server(streams(anthropic.answer("x"))) as server:
        anthropic.provider(server.url, FakeClock()).chat(QUESTION)
    asked = server.asked[0]
    assert asked.line == "POST /v1/messages HTTP/1.1"
    assert (asked.headers["anthropic-version"], asked.headers["x-api-key"]) == ("2023-06-01", "sk-canary-7f3a9b2c")
    assert asked.told == {
        "model": "test-model",
        "max_tokens": 4096,
        "stream": True,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
        "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
    }
