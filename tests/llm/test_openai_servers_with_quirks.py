"""What servers that speak as OpenAI does leave out, refuse and get wrong."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.errors import Permanent
from agent.llm.endpoint import Endpoint
from agent.llm.messages import (
    Assistant,
    Context,
    Json,
    JsonObject,
    Reply,
    Request,
    System,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    User,
    items,
    mapping,
)
from agent.llm.openai import OpenAI
from tests.fakes import FakeClock
from tests.llm.dialects import MODEL, counted, no_jitter, openai
from tests.llm.servers import Part, Visit, answers, model_server, streams

QUESTION = Request((System("Be kind."), User("Hello")))


def chunk(delta: JsonObject, reason: str | None = None) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta, "finish_reason": reason}]}).encode() + b"\n\n"


def call(**fields: Json) -> bytes:
    """A piece of a call; `name` and `arguments` belong to its function."""
    function: JsonObject = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return chunk({"tool_calls": [{**fields, "function": function}]})


def heard(*pieces: bytes, end: bytes = b"data: [DONE]\n\n", reason: str = "stop") -> Reply:
    with model_server(streams(*pieces, chunk({}, reason), end)) as server:
        return OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter).chat(QUESTION)


def calls(*pieces: bytes) -> list[tuple[str, JsonObject]]:
    reply = heard(*pieces)
    assert reply.stop == "tools"
    assert len({each.id for each in reply.message.calls}) == len(reply.message.calls)
    assert not any(each.problem for each in reply.message.calls)
    return [(each.name, each.arguments) for each in reply.message.calls]


TWO = [("vault_read", {"path": "a"}), ("vault_list", {})]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [
                call(index=0, id="a", name="vault_", arguments=""),
                call(index=0, name="read", arguments='{"path":'),
                call(index=1, id="b", name="vault_list", arguments=""),
                call(index=0, arguments=' "a"}'),
            ],
            id="names in parts, pieces in turns",
        ),
        pytest.param(
            [
                call(index=0, id="a", name="vault_read", arguments='{"path": "a"}'),
                call(index=0, id="b", name="vault_list", arguments="{}"),
            ],
            id="every call at index 0",
        ),
        pytest.param(
            [
                call(id="a", name="vault_read", arguments='{"path":'),
                call(id="a", arguments=' "a"}'),
                call(id="b", name="vault_list"),
            ],
            id="no index",
        ),
        pytest.param(
            [call(name="vault_read", arguments='{"path": "a"}'), call(name="vault_list", arguments="{}")],
            id="neither index nor id",
        ),
        pytest.param(
            [
                call(index=0, id="", name="vault_read", arguments='{"path"'),
                call(index=0, id="", name="vault_read", arguments=': "a"}'),
                call(index=1, id=None, name="vault_list", arguments=None),
            ],
            id="names repeated, ids empty",
        ),
        pytest.param(
            [
                call(index=0, id="x", name="vault_read", arguments={"path": "a"}),
                call(index=1, id="x", name="vault_list"),
            ],
            id="arguments that are no text, one id for all",
        ),
    ],
)
def test_calls_are_put_together_however_they_come(pieces: Sequence[bytes]) -> None:
    assert calls(*pieces) == TWO


def test_usage_that_is_missing_is_estimated() -> None:
    reply = heard(chunk({"content": "Hello there"}))
    assert reply.usage == Usage(counted("Be kind.") + counted("Hello"), counted("Hello there"))


def test_an_end_without_done_is_an_end() -> None:
    assert heard(chunk({"content": "Hi"}), end=b"").message.text == "Hi"


def test_halves_of_a_character_are_joined() -> None:
    pieces = [
        b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % half for half in (rb"a\ud83d", rb"\udc08b\ud83d")
    ]
    assert heard(*pieces).message.text == "a🐈b\ufffd"


def test_thinking_is_no_text() -> None:
    assert heard(chunk({"reasoning_content": "hmm"}), chunk({"content": "Hi", "reasoning": "x"})).message.text == "Hi"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("\n<think>Hm, 猫.</think>\n\nHello <think>there</think>", "Hello <think>there</think>"),
        ("<think></think>x", "x"),
        ("<think>never ends", ""),
        ("<thinking is good", "<thinking is good"),
        ("  <th", "  <th"),
        ("a </think> b", "a </think> b"),
    ],
)
def test_thinking_aloud_is_left_out_however_it_is_cut(said: str, meant: str) -> None:
    assert heard(chunk({"content": said})).message.text == meant
    assert heard(*(chunk({"content": letter}) for letter in said)).message.text == meant


def test_a_refusal_is_told() -> None:
    reply = heard(chunk({"refusal": "I cannot do that."}))
    assert (reply.stop, reply.message.text) == ("refused", "I cannot do that.")


def test_text_in_parts_is_text() -> None:
    assert (
        heard(chunk({"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]})).message.text == "Hi"
    )


@pytest.mark.parametrize("delta", [{"content": 7}, {"tool_calls": "x"}, {"tool_calls": [7, None]}, {"content": None}])
def test_what_has_the_wrong_shape_is_no_crash(delta: JsonObject) -> None:
    assert heard(chunk(delta)).message.text == ""


def test_a_model_that_is_a_file_is_named_without_its_folder() -> None:
    piece = b'data: {"model": "/home/me/models/small.gguf", "choices": [{"delta": {"content": "x"}}]}\n\n'
    assert heard(piece).model == "small.gguf"


def _refuses(*fields: str, said: str) -> Part:
    """A server that refuses requests with one of these fields, in these words."""

    def part(visit: Visit) -> None:
        if set(fields) & set(visit.asked.told):
            return answers("400 Bad Request", json.dumps({"error": {"message": said}}).encode())(visit)
        return streams(openai.answer("fine"))(visit)

    return part


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("stream_options", "Unrecognized request argument supplied: stream_options"),
        ("stream_options", "Extra inputs are not permitted"),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
    ],
)
def test_what_a_server_does_not_take_is_said_differently_from_then_on(field: str, said: str) -> None:
    with model_server(_refuses(field, said=said)) as server:
        endpoint = Endpoint(server.url, MODEL, extra={"reasoning_effort": "none"})
        provider = OpenAI(endpoint, clock := FakeClock(), counted, no_jitter)
        assert provider.chat(QUESTION).message.text == "fine"
        assert provider.chat(QUESTION).message.text == "fine"
    assert len(server.asked) == 3
    assert clock.slept == []


@pytest.mark.parametrize("said", ["use max_completion_tokens", "max_tokens and stream_options and x", "no"])
def test_a_server_that_takes_nothing_is_not_asked_for_ever(said: str) -> None:
    part = answers("400 Bad Request", json.dumps({"error": {"message": said}}).encode())
    with model_server(part) as server, pytest.raises(Permanent, match="400"):
        OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter).chat(QUESTION)
    assert len(server.asked) <= 4


def test_a_question_that_is_too_long_names_the_setting() -> None:
    part = answers("400 Bad Request", b'{"error": {"message": "This exceeds the maximum context length"}}')
    with model_server(part) as server, pytest.raises(Permanent) as caught:
        OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter).chat(QUESTION)
    assert "llm.window" in caught.value.hint


def test_what_is_sent_is_as_documented() -> None:
    messages = (System("Be kind."), User("Hi", "Anna"), Context("tea", "memory"), User("猫"))
    tool = ToolSpec("vault_read", "Read.", {"type": "object"})
    with model_server(streams(openai.answer("x"))) as server:
        provider = OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter)
        provider.chat(Request(messages, (tool,), max_output=9))
    assert server.asked[0].line == "POST /v1/chat/completions HTTP/1.1"
    assert server.asked[0].told == {
        "model": "test-model",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": '[Anna] Hi\n\n<context source="memory">\ntea\n</context>\n\n猫'},
        ],
        "stream": True,
        "max_tokens": 9,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {"name": "vault_read", "description": "Read.", "parameters": {"type": "object"}},
            }
        ],
    }


def test_a_call_is_sent_back_with_a_name_that_servers_accept() -> None:
    messages = (User("go"), Assistant("", (ToolCall("c", "vault.read 猫", {"x": "猫"}),)), ToolResult("c", "t", "done"))
    with model_server(streams(openai.answer("x"))) as server:
        OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter).chat(Request(messages))
    said = server.asked[0].told["messages"]
    assert isinstance(said, list)
    function = {"name": "vault_read__", "arguments": '{"x": "猫"}'}
    assert said[1:] == [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ]


@pytest.mark.parametrize(
    "said",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "This model only supports single tool-calls at once!",
        "Tool call IDs should be alphanumeric strings with length 9!",
    ],
)
def test_a_template_that_refuses_the_turns_gets_plain_ones_from_then_on(said: str) -> None:
    refused = json.dumps({"error": {"message": said, "type": "BadRequestError", "code": 400}}).encode()
    asked = Assistant("Look.", (ToolCall("a", "list", {}), ToolCall("b", "read", {"path": "x"})))
    results = (ToolResult("a", "list", "x"), ToolResult("b", "read", "gone", failed=True))
    question = Request((System("Be kind."), User("Hello"), asked, *results, Context("Go on.", "anchor")))
    fine = streams(openai.answer("fine"))
    with model_server(answers("400 Bad Request", refused), fine, fine) as server:
        wire = openai.provider(server.url, FakeClock())
        assert [wire.chat(question).message.text for _ in range(2)] == ["fine", "fine"]
    plain = [
        {"role": "user", "content": "Be kind.\n\nHello"},
        {"role": "assistant", "content": 'Look.\n[call of the tool list {}]\n[call of the tool read {"path": "x"}]'},
        {
            "role": "user",
            "content": "[result of a tool]\nx\n\n[result of a tool]\nError: gone\n\n"
            '<context source="anchor">\nGo on.\n</context>',
        },
    ]
    assert [each.told["messages"] == plain for each in server.asked] == [False, True, True]
    assert all("stream_options" in each.told for each in server.asked), "nothing else changes"


def test_a_message_after_a_stopped_run_follows_a_turn_of_the_assistant() -> None:
    """Between a result and a person's message: some templates count the turns of user and assistant."""
    call = Assistant("", (ToolCall("a", "list", {}),))
    question = Request((System("Be kind."), User("Hello"), call, ToolResult("a", "list", "x"), User("Stop")))
    with model_server(streams(openai.answer("fine"))) as server:
        openai.provider(server.url, FakeClock()).chat(question)
    roles = [mapping(turn)["role"] for turn in items(server.asked[0].told["messages"])]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


CALLED = Request(
    (User("Hello"), Assistant("", (ToolCall("c", "vault_list", {}),)), ToolResult("c", "vault_list", "")),
    (ToolSpec("vault_list", "List notes.", {"type": "object"}),),
)


@pytest.mark.parametrize(
    "refusal",
    [
        "messages: text content blocks must be non-empty",
        "messages.1.content: content cannot be empty",
        "Invalid value for 'content': expected a non-empty string.",
        "The content field must have at least 1 character",
        "message content is empty",
    ],
)
@pytest.mark.parametrize("takes_null", [True, False])
def test_an_empty_text_beside_calls_takes_the_form_that_the_server_accepts(refusal: str, takes_null: bool) -> None:
    refused = ["", None][: 1 if takes_null else 2]

    def part(visit: Visit) -> None:
        content = mapping(items(visit.asked.told["messages"])[1]).get("content")
        if content in refused:
            answers("400 Bad Request", json.dumps({"error": {"message": refusal}}).encode())(visit)
        else:
            streams(openai.answer("Hi"))(visit)

    with model_server(part) as server:
        told = OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter)
        assert [told.chat(CALLED).message.text for _ in "12"] == ["Hi", "Hi"]
    assert len(server.asked) == len(refused) + 2, "what is accepted is remembered"
    assert mapping(items(server.asked[-1].told["messages"])[2])["content"] == "(empty)"


def test_a_model_that_thinks_only_without_tools_here_is_asked_not_to() -> None:
    words = "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions."
    refused = answers("400 Bad Request", json.dumps({"error": {"message": words}}).encode())
    with model_server(refused, streams(openai.answer("Hi"))) as server:
        told = OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter)
        assert told.chat(CALLED).message.text == "Hi"
    assert server.asked[1].told["reasoning_effort"] == "none"
    assert "tools" in server.asked[1].told


def test_a_longest_answer_that_is_too_long_is_the_server_s_own() -> None:
    words = "max_tokens is too large: 4096. This model supports at most 2048 completion tokens."
    refused = answers("400 Bad Request", json.dumps({"error": {"message": words}}).encode())
    with model_server(refused, streams(openai.answer("Hi"))) as server:
        told = OpenAI(Endpoint(server.url, MODEL), FakeClock(), counted, no_jitter)
        assert told.chat(replace(QUESTION, max_output=4_096)).message.text == "Hi"
    assert [asked.told["max_tokens"] for asked in server.asked] == [4_096, 2_048]


def test_fields_of_the_person_s_own_are_sent_and_stay() -> None:
    refused = answers("400 Bad Request", b'{"error": {"message": "Unrecognized request argument: top_k"}}')
    with model_server(refused, streams(openai.answer("Hi"))) as server:
        place = Endpoint(server.url, MODEL, extra={"seed": 1}, fields={"top_k": 3})
        OpenAI(place, FakeClock(), counted, no_jitter).chat(QUESTION)
    assert [("seed" in asked.told, asked.told["top_k"]) for asked in server.asked] == [(True, 3), (False, 3)]


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "sensitive", "RECITATION"])
def test_a_filtered_answer_is_refused(reason: str) -> None:
    assert heard(chunk({"content": "I ca"}), reason=reason).stop == "refused"
