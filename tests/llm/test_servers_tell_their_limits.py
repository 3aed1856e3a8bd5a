"""What a server says of its limits is understood: how much it takes, what it cut, when it may be asked again."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.llm.endpoint import Endpoint, is_public
from agent.llm.failures import TooLong, from_status, is_too_long, numbers_in
from agent.llm.known_models import ModelMemory
from agent.llm.limits import cut_remark, is_cut
from agent.llm.messages import Json, Model, Request, ToolSpec, Usage, User
from agent.llm.openai import OpenAI
from agent.llm.waits import wait_asked, wait_in_words, wait_until_reset
from tests.fakes import FakeClock
from tests.llm.dialects import counted, no_jitter, openai
from tests.llm.servers import Visit, answers, model_server

WORDINGS = [
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9056 "
        "tokens. Please reduce the length of the messages.",
        8192,
        9056,
    ),
    (
        "This model's maximum context length is 4097 tokens, however you requested 5360 tokens (1360 in "
        "your prompt; 4000 for the completion).",
        4097,
        5360,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 "
        "tokens. Please reduce the length of the messages.",
        272000,
        300123,
    ),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0),
    ("prompt is too long: 210123 tokens > 200000 maximum", 200000, 210123),
    (
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input "
        "length or `max_tokens` and try again",
        200000,
        0,
    ),
    ("request (9056 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192, 9056),
    (
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        0,
        0,
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 9056 tokens in the "
        "messages, Please reduce the length of the messages.",
        8192,
        9056,
    ),
    ("The decoder prompt (length 9056) is longer than the maximum model length of 8192.", 8192, 9056),
    (
        "Trying to keep the first 9056 tokens when context the overflows. However, the model is loaded "
        "with context length of only 4096 tokens",
        4096,
        9056,
    ),
    ("Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)", 262144, 270000),
    ("This model's maximum prompt length is 131072 but the request contains 140211 tokens.", 131072, 140211),
    ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]", 30720, 0),
    ("Please reduce the length of the messages or completion.", 0, 0),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000),
    ("The input token count exceeds the maximum number of tokens allowed 1048576.", 1048576, 0),
    (
        "Prompt contains 40123 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32768,
        40123,
    ),
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 "
        "tokens (130000 of text input, 10000 in the output). Please reduce the length of either one",
        131072,
        140000,
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 "
        "`inputs` tokens and 512 `max_new_tokens`",
        8193,
        9000,
    ),
    ("Please reduce the length of the messages or completion. Current length is 9056 while limit is 8192", 8192, 9056),
    ("Request body too large for gpt-4o model. Max size: 8000 tokens.", 8000, 0),
    (
        "Request too large for model `llama-3.3-70b-versatile` on "
        "tokens per minute (TPM): Limit 6000, Requested 9056, please reduce your message size",
        6000,
        9056,
    ),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 9056. Try "
        "using a shorter prompt",
        4081,
        9056,
    ),
    ("Input is too long for requested model.", 0, 0),
    ("Prompt 超长", 0, 0),
    ("context window exceeds limit (2013)", 2013, 0),
    ("The prompt is too long: 9056, model maximum context length: 8192", 8192, 9056),
    ("Total tokens of image and text exceed max message tokens. Request id: 021757", 0, 0),
    ("input length 9056 exceeds the maximum length 8192", 8192, 9056),
    ("This model's maximum context length is 1,048,576 tokens. You requested 1,200,000 tokens", 1048576, 1200000),
    ("input tokens exceeds the model's maximum context length of 98304", 98304, 0),
]
OTHERS = (
    "max_tokens: 40000 > 32000, which is the maximum allowed number of output tokens for claude-opus-4",
    "max_tokens is too large: 40000. This model supports at most 16384 completion tokens.",
    "Unknown parameter: foo",
    "messages: text content blocks must be non-empty",
    "The model `x` does not exist",
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 3000. Try again in 4s.",
)


@pytest.mark.parametrize(("words", "window", "sent"), WORDINGS)
def test_each_server_s_words_for_too_long_are_known(words: str, window: int, sent: int) -> None:
    assert is_too_long(words)
    assert numbers_in("", words) == (window, sent)
    for status in (400, 413, 422, 500):
        body = json.dumps({"error": {"message": words}})
        error = from_status(PLACE, status, body, wait=0, location="", key="")
        assert isinstance(error, TooLong)
        assert (error.window, error.sent) == (window, sent)


@pytest.mark.parametrize("words", OTHERS)
def test_other_refusals_are_not_mistaken_for_it(words: str) -> None:
    assert not is_too_long(words)


def test_numbers_in_fields_count_first() -> None:
    body = json.dumps({"error": {"code": 400, "message": "too long", "n_prompt_tokens": 9056, "n_ctx": 8192}})
    assert numbers_in(body, "the request exceeds the context size") == (8192, 9056)
    assert numbers_in(f"[{body}]", "the request exceeds the context size") == (8192, 9056), "some send a list of one"


NOW = datetime(2026, 11, 29, 17, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ("Rate limit reached. Please try again in 20s.", 20),
        ("Please try again in 1m20.5s. Visit …", 60),
        ("Please try again in 857ms.", 0.857),
        ("Please retry in 34.07s.", 34.07),
        ("Too many requests, retry after 30 seconds", 30),
        ("try again in 2 minutes", 60),
        ('{"details": [{"@type": "…RetryInfo", "retryDelay": "34s"}]}', 34),
        ("请求过于频繁，请 15 秒后重试", 15),
        ("slow down", 0),
        ("try again later", 0),
    ],
)
def test_a_wait_in_words_is_read(body: str, seconds: float) -> None:
    assert wait_in_words(body) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 60),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "2.5s",
                "x-ratelimit-remaining-tokens": "900",
                "x-ratelimit-reset-tokens": "40s",
            },
            2.5,
        ),
        ({"anthropic-ratelimit-requests-reset": "2026-11-29T17:00:12Z"}, 12),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) + 7)}, 7),
        ({"x-ratelimit-reset": str((int(NOW.timestamp()) + 9) * 1000)}, 9),
        ({"x-ratelimit-reset": "11"}, 11),
        ({"x-ratelimit-reset": "soon"}, 0),
        ({"x-ratelimit-limit": "100"}, 0),
        ({}, 0),
    ],
)
def test_a_wait_until_a_limit_is_reset_is_read(headers: Mapping[str, str], seconds: float) -> None:
    assert wait_until_reset(headers, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("0.5", 0.5), ("86400", 60), ("soon", 0), ("nan", 0)])
def test_a_header_with_a_wait_is_read(header: str, seconds: float) -> None:
    assert wait_asked(header, NOW) == seconds


@pytest.mark.parametrize(
    ("headers", "body", "least"),
    [
        ({"retry-after-ms": "1500"}, b"{}", 1.5),
        ({}, b'[{"error": {"message": "Quota exceeded. Please retry in 9s.", "status": "RESOURCE_EXHAUSTED"}}]', 9),
        ({"x-ratelimit-reset-tokens": "12s"}, b'{"error": {"message": "rate limited"}}', 12),
    ],
)
def test_a_call_waits_as_long_as_it_is_asked_to(headers: dict[str, str], body: bytes, least: float) -> None:
    clock = FakeClock()
    given = {name.replace("-", "_"): value for name, value in headers.items()}
    refused = answers("429 Too Many Requests", body, **given)
    good = answers("200 OK", openai.answer("Hi"), "text/event-stream")
    with model_server(refused, good) as server:
        told = OpenAI(replace(PLACE, base_url=server.url), clock, counted, no_jitter)
        assert told.chat(QUESTION).message.text == "Hi"
    assert sum(clock.slept) >= least - 0.01


def test_the_reason_in_a_list_is_told() -> None:
    body = '[{"error": {"code": 400, "message": "API key not valid. Please pass one.", "status": "INVALID"}}]'
    assert "API key not valid" in from_status(PLACE, 400, body, wait=0, location="", key="").message
    raw = '{"error": {"message": "no such tool"}}'
    routed = {"error": {"message": "Provider returned error", "metadata": {"raw": raw}}}
    assert "no such tool" in from_status(PLACE, 400, json.dumps(routed), wait=0, location="", key="").message


QUESTION = Request((User("Are you there?"),))
PLACE = Endpoint("http://127.0.0.1:9/v1", Model("m", 32_768, 4_096))


def wire(url: str, clock: FakeClock, name: str = "m", memory: ModelMemory | None = None) -> OpenAI:
    model = Model(name, 0, 32_000).with_window(32_768)
    return OpenAI(Endpoint(url, model, is_guess=True), clock, counted, no_jitter, memory=memory)


def window_told(pages: Mapping[str, Json], name: str = "m") -> int:
    """The window of a model whose server answers these paths, and no others, with JSON."""

    def page(visit: Visit) -> None:
        path = visit.asked.line.split()[1]
        told = json.dumps(pages.get(path, {"error": "not found"})).encode()
        visit.head("200 OK" if path in pages else "404 Not Found", "application/json", content_length=str(len(told)))
        visit.send(told)

    with model_server(page, tells=True) as server:
        asked = wire(server.url, FakeClock(), name)
        asked.learn_window()
        before = len(server.asked)
        asked.learn_window()
        assert len(server.asked) == before, "a server is asked once"
        return asked.model.window


OLLAMA: Json = {"models": [{"name": "other:7b", "model": "other:7b", "context_length": 2_048}]}


@pytest.mark.parametrize(
    ("pages", "window"),
    [
        ({"/props": {"default_generation_settings": {"n_ctx": 16_384}, "total_slots": 1}}, 16_384),
        ({"/props": {"n_ctx": 8_192}}, 8_192),
        ({"/api/ps": {"models": [{"name": "m:latest", "context_length": 4_096}]}}, 4_096),
        ({"/api/ps": OLLAMA, "/api/show": {"parameters": "stop x\nnum_ctx   12000"}}, 12_000),
        ({"/api/ps": OLLAMA, "/api/show": {"model_info": {"qwen3.context_length": 40_960}}}, 40_960),
        ({"/v1/models": {"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 20_000}]}}, 20_000),
        ({"/v1/models": {"data": [{"id": "m", "context_length": 65_536}]}}, 65_536),
        ({"/v1/models": {"data": [{"id": "m", "context_window": 131_072}]}}, 131_072),
        ({"/v1/models": {"data": [{"id": "m", "meta": {"n_ctx": 9_000, "n_ctx_train": 40_000}}]}}, 9_000),
        ({"/v1/models": {"data": [{"id": "m"}]}}, 32_768),
        ({"/props": [1, 2], "/v1/models": "no"}, 32_768),
        ({}, 32_768),
    ],
)
def test_a_server_is_asked_for_the_window_of_a_model_that_is_not_known(pages: Mapping[str, Json], window: int) -> None:
    assert window_told(pages) == window


def test_a_server_that_is_not_there_costs_one_try() -> None:
    asked = wire("http://127.0.0.1:9/v1", FakeClock())
    asked.learn_window()
    assert asked.model.window == 32_768


LONG = Request((User("The spare key story goes on. " * 1_000),), (ToolSpec("t", "x", {"type": "object"}),))


def answer_with_usage(tokens: int) -> bytes:
    usage = {"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": 5}}
    told = openai.begin + openai.text("Hello!") + openai.end("end").removesuffix(b"data: [DONE]\n\n")
    return told + b"data: " + json.dumps(usage).encode() + b"\n\ndata: [DONE]\n\n"


def test_a_request_that_was_cut_without_a_word_is_told_once_with_the_command_that_helps(tmp_path: Path) -> None:
    clock = FakeClock()
    with model_server(answers("200 OK", answer_with_usage(2_048), "text/event-stream")) as server:

        def asked(name: str) -> tuple[str, ...]:
            memory = ModelMemory(tmp_path / "models.json", clock)
            place = Endpoint(server.url, Model(name, 0, 32_000).with_window(32_768))
            told = OpenAI(place, clock, counted, no_jitter, memory=memory)
            reply = told.chat(LONG)
            assert told.model.window == 2_048, "the next request fits"
            return reply.remarks

        (remark,) = asked("qwen3:8b")
        assert "2,048" in remark and "OLLAMA_CONTEXT_LENGTH=" in remark
        assert asked("qwen3:8b") == ()
        assert len(asked("another")) == 1


@pytest.mark.parametrize("read", [6_000, 8_000, 300, 0])
def test_a_request_that_was_read_whole_is_not_remarked_on(read: int) -> None:
    with model_server(answers("200 OK", answer_with_usage(read), "text/event-stream")) as server:
        told = OpenAI(Endpoint(server.url, Model("m", 32_768, 4_096)), FakeClock(), counted, no_jitter)
        assert told.chat(LONG).remarks == ()


def test_chinese_takes_fewer_tokens_than_characters() -> None:
    assert not is_cut(["备用钥匙在安娜那里。" * 800], 4_096)
    assert is_cut(["备用钥匙在安娜那里。" * 1_600], 4_096)


@pytest.mark.parametrize(
    ("url", "name", "command"),
    [
        ("http://127.0.0.1:11434/v1", "m", "ollama serve"),
        ("http://127.0.0.1:8080/v1", "m", "llama-server -c"),
        ("http://127.0.0.1:1234/v1", "m", "lms load m --context-length"),
        ("http://192.168.1.7:9000/v1", "m", "settings of its server"),
    ],
)
def test_the_command_is_that_of_the_program(url: str, name: str, command: str) -> None:
    assert command in cut_remark(Endpoint(url, Model(name, 32_768, 4_096)), 4_096, 9_000)


def test_a_window_is_remembered_for_a_week_and_a_damaged_file_is_none(tmp_path: Path) -> None:
    file, clock = tmp_path / "state" / "models.json", FakeClock()
    ModelMemory(file, clock).learn("m at https://example.org", 50_000)
    assert ModelMemory(file, clock).window("m at https://example.org") == 50_000
    clock.sleep(timedelta(days=8).total_seconds())
    assert ModelMemory(file, clock).window("m at https://example.org") == 0
    file.write_text("[1,")
    assert ModelMemory(file, clock).window("m") == 0
    assert ModelMemory(file, clock).tell_once("m", "tools")
    assert not ModelMemory(file, clock).tell_once("m", "tools")
    for number in range(100):
        ModelMemory(file, clock).learn(str(number), 1_000)
    assert len(json.loads(file.read_text())) <= 64


def test_a_refusal_teaches_the_window() -> None:
    words = "This model's maximum context length is 8192 tokens. However, you requested 9056 tokens."
    with model_server(answers("400 Bad Request", json.dumps({"error": {"message": words}}).encode())) as server:
        told = OpenAI(Endpoint(server.url, Model("m", 32_768, 8_192)), FakeClock(), counted, no_jitter)
        with pytest.raises(TooLong):
            told.chat(QUESTION)
    assert (told.model.window, told.model.max_output) == (8_192, 4_096)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://api.openai.com/v1", True),
        ("https://8.8.8.8/v1", True),
        ("http://127.0.0.1:1/v1", False),
        ("http://localhost:1/v1", False),
        ("http://192.168.1.7/v1", False),
        ("http://nas.local/v1", False),
        ("http://gpu/v1", False),
        ("http://[::1]:8080/v1", False),
    ],
)
def test_a_company_s_server_is_told_from_one_of_one_s_own(url: str, public: bool) -> None:
    assert is_public(url) is public


@pytest.mark.parametrize(
    "refusal",
    [
        ("400 Bad Request", "registry.ollama.ai/library/gemma3:latest does not support tools"),
        ("404 Not Found", "No endpoints found that support tool use. Try disabling search_vault."),
        ("400 Bad Request", '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
        ("500 Internal Server Error", "tools param requires --jinja flag"),
        ("400 Bad Request", "`tool calling` is not supported with this model"),
        ("422 Unprocessable", "This model doesn't support function calling."),
    ],
)
def test_a_model_without_tools_answers_without_them_and_that_is_told_once(refusal: tuple[str, str]) -> None:
    status, words = refusal
    refused = answers(status, json.dumps({"error": {"message": words}}).encode())
    with model_server(refused, answers("200 OK", openai.answer("Hi"), "text/event-stream")) as server:
        told = OpenAI(replace(PLACE, base_url=server.url), FakeClock(), counted, no_jitter)
        replies = [told.chat(LONG) for _ in "12"]
    assert [reply.message.text for reply in replies] == ["Hi", "Hi"]
    assert ["tools" in asked.told for asked in server.asked] == [True, False, False]
    assert [len(reply.remarks) for reply in replies] == [1, 0]
    assert "cannot use tools" in replies[0].remarks[0]
    assert replies[0].usage == Usage(120, 7, 100)
