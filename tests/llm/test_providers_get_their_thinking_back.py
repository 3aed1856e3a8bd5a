"""Each provider's answer with thinking and a call goes round: what it needs goes back, and nothing of it is shown."""

import json
from dataclasses import replace

import pytest

from agent.llm.anthropic import Anthropic
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Model, Reply, Request, System, ToolCall, ToolResult, ToolSpec, User
from agent.llm.openai import OpenAI
from agent.llm.responses import Responses
from agent.llm.wire import Wire
from tests.fakes import FakeClock
from tests.llm.dialects import anthropic, counted, no_jitter, openai
from tests.llm.provider_replies import QUERY, REPLIES, THOUGHT, ProviderReply, message_item, streamed
from tests.llm.sdk_types import check_body
from tests.llm.servers import ModelServer, Part, answers, model_server

WIRES: dict[str, type[Wire]] = {"openai": OpenAI, "responses": Responses, "anthropic": Anthropic}
SEARCH = ToolSpec(
    "search_vault",
    "Find notes.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
QUESTION = Request((System("Be kind."), User("Who has the spare key?")), (SEARCH,), stable=1)
LAST = {
    "openai": answers("200 OK", openai.answer("Ana has it."), "text/event-stream"),
    "anthropic": answers("200 OK", anthropic.answer("Ana has it."), "text/event-stream"),
    "responses": answers("200 OK", streamed(message_item("Ana has it.")), "text/event-stream"),
}


def wire_to(server: ModelServer, reply: ProviderReply, effort: str = "") -> Wire:
    model = Model(reply.model, 200_000, 32_000, thinking=16_000)
    return WIRES[reply.wire](Endpoint(server.url, model, effort=effort), FakeClock(), counted, no_jitter)


def first_part(reply: ProviderReply) -> Part:
    return answers("200 OK", reply.body, reply.content)


def with_results(reply: Reply) -> Request:
    results = (ToolResult(call.id, call.name, "Ana has the spare key.") for call in reply.message.calls)
    return replace(QUESTION, messages=(*QUESTION.messages, reply.message, *results))


def test_there_are_enough_of_them() -> None:
    assert len(REPLIES) >= 55


@pytest.mark.parametrize("effort", ["", "high"])
@pytest.mark.parametrize("name", list(REPLIES))
def test_an_answer_with_thinking_and_a_call_goes_round(name: str, effort: str) -> None:
    told = REPLIES[name]
    shown: list[str] = []
    with model_server(first_part(told), LAST[told.wire]) as server:
        wire = wire_to(server, told, effort)
        reply = wire.chat(QUESTION, shown.append)
        assert [(call.name, call.arguments, call.problem) for call in reply.message.calls] == [
            ("search_vault", QUERY, "")
        ] * told.calls
        assert (reply.message.text.strip(), reply.stop) == (told.text, "tools")
        assert "".join(shown).strip() == told.text
        assert THOUGHT not in "".join(shown)
        if told.usage is not None:
            assert (reply.usage.input, reply.usage.output, reply.usage.cached) == told.usage
        assert wire.chat(with_results(reply)).message.text == "Ana has it."
    for asked in server.asked:
        check_body(told.wire, asked.told)
    sent = server.asked[1].body.decode()
    places = [sent.find(each) for each in told.sent_back]
    assert -1 not in places, told.sent_back[places.index(-1)]
    assert places == sorted(places)


@pytest.mark.parametrize("name", list(REPLIES))
def test_thinking_stays_with_the_model_that_had_it(name: str) -> None:
    told = REPLIES[name]
    with model_server(first_part(told), LAST[told.wire]) as server:
        reply = wire_to(server, told).chat(QUESTION)
        another = replace(told, model="another-model")
        assert wire_to(server, another).chat(with_results(reply)).message.text == "Ana has it."
    sent = server.asked[1].body.decode()
    check_body(told.wire, server.asked[1].told)
    assert THOUGHT not in sent
    assert not any(each in sent for each in ("c2ln", "c2Vj", "ZW5j", "thought_signature"))


@pytest.mark.parametrize(
    "name", ["openai: deepseek", "responses: openai, thinking before a call", "anthropic: anthropic"]
)
def test_thinking_that_a_server_knows_no_more_is_left_out(name: str) -> None:
    told = REPLIES[name]
    refusals = {
        "openai": "Unrecognized request argument supplied: messages.2.reasoning_content",
        "responses": "The encrypted content for item rs_1 could not be verified.",
        "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    }
    refused = answers("400 Bad Request", json.dumps({"error": {"message": refusals[told.wire]}}).encode())
    with model_server(first_part(told), refused, LAST[told.wire]) as server:
        wire = wire_to(server, told)
        reply = wire.chat(QUESTION)
        assert wire.chat(with_results(reply)).message.text == "Ana has it."
    assert THOUGHT in server.asked[1].body.decode() or "ZW5j" in server.asked[1].body.decode()
    assert not any(each in server.asked[2].body.decode() for each in (THOUGHT, "ZW5j", "c2ln"))


@pytest.mark.parametrize(
    ("refusal", "stands_in"),
    [
        ("The `reasoning_content` in the thinking mode must be passed back to the API.", '"reasoning_content":" "'),
        (
            "thinking is enabled but reasoning_content is missing in assistant tool call message",
            '"reasoning_content":" "',
        ),
        (
            "Function call is missing a thought_signature in functionCall parts.",
            '"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}',
        ),
    ],
)
def test_what_was_lost_with_another_machine_is_stood_in_for(refusal: str, stands_in: str) -> None:
    told = REPLIES["openai: openai, chat completions"]
    refused = answers("400 Bad Request", json.dumps([{"error": {"message": refusal}}]).encode())
    with model_server(first_part(told), refused, LAST["openai"]) as server:
        wire = wire_to(server, told)
        reply = wire.chat(QUESTION)
        wire.chat(with_results(reply))
        wire.chat(with_results(reply))
    assert stands_in not in server.asked[1].body.decode()
    assert all(stands_in in asked.body.decode() for asked in server.asked[2:]), "the server is not asked twice"


def test_google_is_sent_its_stand_in_at_once() -> None:
    message = Assistant("", (ToolCall("call_1", "search_vault", QUERY), ToolCall("call_2", "search_vault", {})))
    request = replace(QUESTION, messages=(*QUESTION.messages, message, ToolResult("call_1", "search_vault", "Ana")))
    place = Endpoint(
        "https://generativelanguage.googleapis.com/v1beta/openai", Model("gemini-3.8-flash", 200_000, 32_000)
    )
    api = OpenAI(place, FakeClock(), counted, no_jitter).api()
    body = api.body(place, request, api.dialect(place))
    assert json.dumps(body).count("skip_thought_signature_validator") == 1


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("claude-sonnet-5-5", "adaptive"),
        ("claude-opus-4-6", "adaptive"),
        ("anthropic/claude-sonnet-4.6", "adaptive"),
        ("claude-something-new", "adaptive"),
        ("claude-haiku-4-5-20251001", "enabled"),
        ("claude-opus-4-20250514", "enabled"),
        ("claude-3-7-sonnet-latest", "enabled"),
        ("claude-3-5-haiku-latest", None),
        ("claude-3-opus-20240229", None),
        ("deepseek-v4-pro", None),
    ],
)
def test_each_claude_thinks_in_its_own_way(model: str, thinking: str | None) -> None:
    place = Endpoint("https://api.anthropic.com/v1", Model(model, 200_000, 32_000), effort="low")
    api = Anthropic(place, FakeClock(), counted, no_jitter).api()
    body = api.body(place, replace(QUESTION, max_output=32_000), api.dialect(place))
    check_body("anthropic", body)
    told = body.get("thinking")
    assert (told["type"] if isinstance(told, dict) else None) == thinking
    assert body.get("output_config") == ({"effort": "low"} if thinking == "adaptive" else None)


def test_a_short_answer_of_a_thinking_model_has_room_for_its_words() -> None:
    told = REPLIES["anthropic: anthropic"]
    with model_server(LAST["anthropic"]) as server:
        wire_to(server, replace(told, model="claude-haiku-4-5")).chat(replace(QUESTION, max_output=500))
    body = server.asked[0].told
    assert body["max_tokens"] == 16_500
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 8_250}


def test_a_claude_that_misses_its_thinking_goes_on_without_any_until_it_has_some() -> None:
    """A session that was begun on another machine, with a model that wants thinking before each of its calls."""
    words = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
    refused = answers(
        "400 Bad Request", json.dumps({"error": {"type": "invalid_request_error", "message": words}}).encode()
    )
    told = REPLIES["anthropic: a proxy that knows no streams"]
    with model_server(refused, LAST["anthropic"], LAST["anthropic"]) as server:
        wire = wire_to(server, told)
        message = Assistant("", (ToolCall("toolu_0", "search_vault", QUERY),))
        request = replace(
            QUESTION, messages=(*QUESTION.messages, message, ToolResult("toolu_0", "search_vault", "Ana"))
        )
        assert wire.chat(request).message.text == "Ana has it."
        wire.chat(QUESTION)
    assert ["thinking" in asked.told for asked in server.asked] == [True, False, True]
