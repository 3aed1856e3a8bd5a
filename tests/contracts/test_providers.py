"""What every wire promises, whatever the server does: run against servers on loopback that misbehave."""

import gzip
import logging
import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime

import pytest

from agent.clock import SystemClock
from agent.config.secrets import Secret
from agent.errors import AgentError, ConfigError, Interrupted, MissingKey, Permanent, Retryable
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Provider, Reply, Request, System, ToolCall, ToolResult, ToolSpec, Usage, User
from agent.llm.openai import OpenAI
from tests.fakes import FakeClock
from tests.llm.dialects import KEY, MODEL, SPOKEN, Spoken, Wanted, counted, no_jitter, openai
from tests.llm.servers import (
    Part,
    Visit,
    answers,
    bytewise,
    cuts,
    drips,
    floods,
    is_silent,
    model_server,
    streams,
)

QUESTION = Request((System("You are kind."), User("你好?")))
TOOL = ToolSpec("vault_read", "Read a note.", {"type": "object", "properties": {"path": {"type": "string"}}})


@pytest.fixture(params=SPOKEN, ids=lambda spoken: str(spoken.name))
def spoken(request: pytest.FixtureRequest) -> Spoken:
    value: Spoken = request.param
    return value


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Heard:
    """Whoever listens to the text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def __call__(self, text: str) -> None:
        assert text
        self.pieces.append(text)


def ask(spoken: Spoken, clock: FakeClock, *parts: Part, heard: Heard | None = None, retries: int = 4) -> Reply:
    """Ask a server that plays these parts; the reply's text is what was handed on."""
    heard = heard or Heard()
    with model_server(*parts) as server:
        reply = spoken.provider(server.url, clock, retries=retries).chat(QUESTION, heard)
    assert "".join(heard.pieces) == reply.message.text
    return reply


def test_an_answer_comes_in_pieces_with_its_usage(spoken: Spoken, clock: FakeClock) -> None:
    heard = Heard()
    reply = ask(spoken, clock, streams(spoken.answer("Good ", "morning", "!")), heard=heard)
    assert heard.pieces == ["Good ", "morning", "!"]
    assert reply.message == Assistant("Good morning!")
    assert (reply.stop, reply.model) == ("end", "served-model")
    assert replace(reply.usage, written=0) == Usage(120, 7, 100)


def test_chinese_cut_into_bytes_is_whole(spoken: Spoken, clock: FakeClock) -> None:
    answer = spoken.answer("猫坐在", "垫子上 🐈")
    assert ask(spoken, clock, streams(*bytewise(answer))).message.text == "猫坐在垫子上 🐈"


def test_carriage_returns_and_comments_are_no_text(spoken: Spoken, clock: FakeClock) -> None:
    answer = b": keep-alive\n\n" + spoken.answer("one", "two").replace(b"\n\n", b"\n\n: still there\n\n\n")
    reply = ask(spoken, clock, streams(*bytewise(answer.replace(b"\n", b"\r\n"))))
    assert reply.message.text == "onetwo"


def test_a_server_that_knows_no_streams_is_understood(spoken: Spoken, clock: FakeClock) -> None:
    reply = ask(spoken, clock, answers("200 OK", spoken.whole))
    assert (reply.message.text, reply.usage, reply.stop) == ("你好", Usage(3, 2), "end")


def test_two_calls_come_with_text_and_side_by_side(spoken: Spoken, clock: FakeClock) -> None:
    wanted = [
        Wanted("call_a", "vault_read", ['{"pa', 'th": "笔记.md"}']),
        Wanted("call_b", "search_vault", ["", '{"query": "tea", "limit": 3}']),
    ]
    stream = spoken.begin + spoken.text("Let me look.") + spoken.calls(wanted) + spoken.usage + spoken.end("tools")
    reply = ask(spoken, clock, streams(*bytewise(stream)))
    assert reply.message.text == "Let me look."
    assert reply.message.calls == (
        ToolCall("call_a", "vault_read", {"path": "笔记.md"}),
        ToolCall("call_b", "search_vault", {"query": "tea", "limit": 3}),
    )
    assert reply.stop == "tools"


def test_a_call_that_cannot_be_read_becomes_a_problem_and_no_crash(spoken: Spoken, clock: FakeClock) -> None:
    wanted = [Wanted("call_a", "vault_write", ['{"path": "a.md", "content": "half of']), Wanted("call_b", "x", ["{}"])]
    reply = ask(spoken, clock, streams(spoken.begin + spoken.calls(wanted) + spoken.end("tools")))
    broken, whole = reply.message.calls
    assert (broken.arguments, whole.problem) == ({}, "")
    assert "nothing was done" in broken.problem


@pytest.mark.parametrize("arguments", ['{"path": "a.md"', "", '{"path": "a.md",}'])
def test_a_call_that_was_cut_off_is_never_completed(spoken: Spoken, clock: FakeClock, arguments: str) -> None:
    stream = spoken.begin + spoken.calls([Wanted("call_a", "vault_write", [arguments])]) + spoken.end("length")
    reply = ask(spoken, clock, streams(stream))
    assert reply.stop == "length"
    assert (reply.message.calls[0].arguments, "cut off" in reply.message.calls[0].problem) == ({}, True)


def test_ids_that_were_used_before_are_made_new(spoken: Spoken, clock: FakeClock) -> None:
    before = (User("go"), Assistant("", (ToolCall("call_1", "t"),)), ToolResult("call_1", "t", "done"))
    wanted = [Wanted("call_1", "t", ["{}"]), Wanted("call_2", "t", ["{}"]), Wanted("call_2", "t", ["{}"])]
    stream = spoken.begin + spoken.calls(wanted) + spoken.end("tools")
    with model_server(streams(stream)) as server:
        reply = spoken.provider(server.url, clock).chat(Request(before))
    ids = [call.id for call in reply.message.calls]
    assert ids[1] == "call_2"
    assert len({*ids, "call_1"}) == 4


@pytest.mark.parametrize("reason", ["length", "refused"])
def test_why_it_stopped_is_told(spoken: Spoken, clock: FakeClock, reason: str) -> None:
    assert ask(spoken, clock, streams(spoken.answer("I", stop=reason))).stop == reason


# What passes by itself


BUSY = answers("429 Too Many Requests", b'{"error": {"message": "slow down"}}')


def test_a_storm_of_429_is_waited_out(spoken: Spoken, clock: FakeClock) -> None:
    assert ask(spoken, clock, BUSY, BUSY, BUSY, streams(spoken.answer("at last"))).message.text == "at last"
    assert sum(clock.slept) == pytest.approx(1 + 2 + 4)  # half of 2, 4 and 8 seconds


def test_each_pause_is_announced_with_its_reason(clock: FakeClock) -> None:
    heard: list[tuple[float, str]] = []
    with model_server(BUSY, BUSY, streams(openai.answer("at last"))) as server:
        place = Endpoint(server.url, MODEL, Secret(KEY))
        asked = OpenAI(place, clock, counted, no_jitter, lambda *pause: heard.append(pause))
        assert asked.chat(QUESTION).message.text == "at last"
    assert [seconds for seconds, _ in heard] == [1, 2] and "429" in heard[0][1]


def test_a_server_that_says_how_long_is_obeyed_up_to_a_minute(spoken: Spoken, clock: FakeClock) -> None:
    when = format_datetime((clock.now() + timedelta(seconds=30)).astimezone())
    parts = [answers("429 Too Many Requests", b"", retry_after=value) for value in ("7", when, "86400", "soon")]
    ask(spoken, clock, *parts, streams(spoken.answer("x")))
    assert sum(clock.slept) == pytest.approx(7 + (30 - 7) + 60 + 8, abs=1)


def test_tries_end_with_what_the_server_said(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(BUSY) as server, pytest.raises(Retryable, match="429.*slow down.*3 tries") as caught:
        spoken.provider(server.url, clock, retries=2).chat(QUESTION)
    assert len(server.asked) == 3
    assert caught.value.delay >= 1


PAGE = b"<!doctype html>\n<html><head><title>Hotel &amp; Caf\xc3\xa9: log in</title></head><body>...</body></html>"


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(answers("200 OK", PAGE, "text/html; charset=utf-8"), id="as a page"),
        pytest.param(answers("200 OK", b"\n  " + PAGE, "text/plain"), id="known by its first bytes"),
        pytest.param(answers("200 OK", PAGE, "text/event-stream"), id="in the guise of a stream"),
        pytest.param(answers("511 Network Authentication Required", PAGE, "text/html"), id="with a status of its own"),
        pytest.param(answers("403 Forbidden", PAGE, "text/html"), id="in place of a refusal"),
    ],
)
def test_a_login_page_is_named_at_once_and_not_asked_again(spoken: Spoken, clock: FakeClock, part: Part) -> None:
    with model_server(part) as server:
        with pytest.raises(Permanent, match="web page instead of an answer: Hotel & Café: log in") as caught:
            spoken.provider(server.url, clock).chat(QUESTION)
        assert len(server.asked) == 1
    assert "log in to your network or proxy" in caught.value.hint and clock.slept == []


@pytest.mark.parametrize(
    "status", ["500 Internal Server Error", "502 Bad Gateway", "503 Unavailable", "529 Overloaded"]
)
def test_an_error_of_the_server_is_tried_again(spoken: Spoken, clock: FakeClock, status: str) -> None:
    parts = [answers(status, b"<html>oh</html>", "text/html"), streams(spoken.answer("fine"))]
    assert ask(spoken, clock, *parts).message.text == "fine"


def test_what_breaks_before_any_text_is_tried_again(spoken: Spoken, clock: FakeClock) -> None:
    parts = [
        streams(),
        cuts(),
        cuts(spoken.begin),
        streams(spoken.begin),
        streams(b"data: {not json\n\n"),
        streams(b": only\n\n: comments\n\n"),
        streams(spoken.begin + spoken.error),
        answers("200 OK", b"{half"),
        answers("200 OK", b"{}"),
        is_silent(seconds=0),
    ]
    reply = ask(spoken, clock, *parts, streams(spoken.answer("whole")), retries=len(parts))
    assert reply.message.text == "whole"


def test_a_call_that_breaks_off_before_any_text_is_asked_for_again(spoken: Spoken, clock: FakeClock) -> None:
    half = spoken.begin + spoken.calls([Wanted("call_a", "vault_write", ['{"path": '])])
    whole = spoken.begin + spoken.calls([Wanted("call_b", "vault_write", ["{}"])]) + spoken.end("tools")
    reply = ask(spoken, clock, cuts(half), streams(whole))
    assert [call.id for call in reply.message.calls] == ["call_b"]


@pytest.mark.parametrize("ending", [cuts, streams])
def test_what_breaks_after_text_is_not_begun_again(
    spoken: Spoken, clock: FakeClock, ending: Callable[..., Part]
) -> None:
    heard = Heard()
    with model_server(ending(spoken.begin, spoken.text("Once upon"))) as server:
        with pytest.raises(Retryable, match="after 9 characters") as caught:
            spoken.provider(server.url, clock).chat(QUESTION, heard)
        assert len(server.asked) == 1
    assert (heard.pieces, "not the whole answer" in caught.value.hint) == (["Once upon"], True)


@pytest.mark.parametrize("bad", [b"data: {not json\n\n", None])
def test_a_broken_piece_after_text_is_no_whole_answer(spoken: Spoken, clock: FakeClock, bad: bytes | None) -> None:
    stream = spoken.begin + spoken.text("Once") + (bad or spoken.error) + spoken.text(" upon") + spoken.end("end")
    with model_server(streams(stream)) as server, pytest.raises(Retryable, match="after 4 characters"):
        spoken.provider(server.url, clock).chat(QUESTION)


# What a person has to set right


@pytest.mark.parametrize(
    ("status", "names"),
    [
        ("400 Bad Request", "does not accept"),
        ("401 Unauthorized", "llm.api_key"),
        ("402 Payment Required", "credit"),
        ("403 Forbidden", "llm.api_key"),
        ("404 Not Found", "llm.model"),
        ("422 Unprocessable Entity", "does not accept"),
    ],
)
def test_a_mistake_of_ours_is_never_tried_again(spoken: Spoken, clock: FakeClock, status: str, names: str) -> None:
    with model_server(answers(status, b'{"error": {"message": "because"}}')) as server:
        with pytest.raises(Permanent, match="because") as caught:
            spoken.provider(server.url, clock).chat(QUESTION)
        assert len(server.asked) == 1
    assert names in caught.value.hint
    assert clock.slept == []


def test_an_empty_account_is_not_waited_for(spoken: Spoken, clock: FakeClock) -> None:
    body = b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'
    with model_server(answers("429 Too Many Requests", body)) as server, pytest.raises(Permanent, match="quota"):
        spoken.provider(server.url, clock).chat(QUESTION)
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(streams(spoken.answer("stolen"))) as thief:
        away = answers("302 Found", b"", location=f"{thief.url}/{KEY}")
        with model_server(away) as server, pytest.raises(Permanent, match="sends us on") as caught:
            spoken.provider(server.url, clock).chat(QUESTION)
        assert thief.asked == []
    assert KEY not in caught.value.message
    assert "llm.base_url" in caught.value.hint


def test_a_server_that_is_not_running_is_named_at_once(spoken: Spoken, clock: FakeClock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Permanent, match=f"127.0.0.1:{port}") as caught:
        spoken.provider(f"http://127.0.0.1:{port}/v1", clock).chat(QUESTION)
    assert "is the server running" in caught.value.hint
    assert clock.slept == []


def test_a_server_elsewhere_that_is_not_there_is_tried_again(
    spoken: Spoken, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Retryable, match=r"cannot be reached.*2 tries") as caught:
        spoken.provider(f"http://0.0.0.0:{port}/v1", clock, retries=1).chat(QUESTION)
    assert "check your network" in caught.value.hint


def test_without_a_network_it_is_asked_whether_there_is_one(
    spoken: Spoken, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*place: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Retryable, match="cannot be found in the network") as caught:
        spoken.provider("http://models.example/v1", clock, retries=0).chat(QUESTION)
    assert "are you online?" in caught.value.hint and "Errno" not in caught.value.message


def test_too_many_requests_and_a_busy_server_are_told_apart(spoken: Spoken, clock: FakeClock) -> None:
    for status, what in (("429 Too Many Requests", "wait a minute"), ("503 Service Unavailable", "busy")):
        with model_server(answers(status, b"")) as server, pytest.raises(Retryable) as caught:
            spoken.provider(server.url, clock, retries=0).chat(QUESTION)
        assert what in caught.value.hint


def test_a_proxy_is_for_the_way_out_only(spoken: Spoken, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks9://me:hunter2@127.0.0.1:9")
    assert ask(spoken, clock, streams(spoken.answer("straight"))).message.text == "straight"
    with pytest.raises(Permanent, match="proxy") as caught:
        spoken.provider("http://example.invalid/v1", clock).chat(QUESTION)
    assert "hunter2" not in repr(caught.value)


def test_a_key_that_is_not_there_is_asked_for(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(streams(spoken.answer("x"))) as server:
        endpoint = Endpoint(server.url, MODEL, Secret("env:VAULT_AGENT_NO_SUCH_KEY"))
        with pytest.raises(MissingKey, match="VAULT_AGENT_NO_SUCH_KEY"):
            spoken.build(endpoint, clock).chat(QUESTION)
        assert server.asked == []


def test_a_server_without_a_key_is_sent_none(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(streams(spoken.answer("x"))) as server:
        spoken.build(Endpoint(server.url, MODEL), clock).chat(QUESTION)
    assert not {"authorization", "x-api-key"} & set(server.asked[0].headers)


# The key


def _echoes(status: str) -> Part:
    """A server that says back all that it was sent, in its headers too."""

    def part(visit: Visit) -> None:
        head = " ".join(f"{name}={value}" for name, value in visit.asked.headers.items())
        body = f"you sent {'x' * 290} {KEY} {head}".encode()
        visit.head(status, "text/plain", content_length=str(len(body)), x_echo=KEY, retry_after=KEY, location=KEY)
        visit.send(body)

    return part


@pytest.mark.parametrize(
    "part",
    [
        *(_echoes(f"{status} X") for status in (301, 400, 401, 403, 404, 418, 422, 429, 500, 503)),
        answers("400 Bad", f'{{"error": {{"message": "{"x" * 295} {KEY}"}}}}'.encode()),
        answers("400 Bad", f'{{"error": {{"message": "bad key {KEY[:9]}\\u000a\\u001b{KEY[9:]} {KEY}"}}}}'.encode()),
        streams(b'data: {"error": {"message": "key ' + KEY.encode() + b'"}}\n\n'),
        streams(b"data: " + KEY.encode() + b"\n\n"),
        answers("200 OK", KEY.encode()),
        answers("200 OK", b"x", content_encoding=KEY),
        lambda visit: visit.send(KEY.encode() * 20 + b"\r\n\r\n"),
        lambda visit: visit.send(b"HTTP/1.1 200 " + KEY.encode() + b"\r\n" + KEY.encode() + b"\r\n\r\n"),
        is_silent(seconds=30),
    ],
)
def test_the_key_is_in_no_error_and_no_log(
    spoken: Spoken, clock: FakeClock, part: Part, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with model_server(part) as server:
        provider = spoken.provider(server.url, clock, timeout=0.3, retries=0)
        with pytest.raises(AgentError) as caught:
            provider.chat(QUESTION)
    shown = [caplog.text, repr(provider), *_chain(caught.value)]
    assert not [text for text in shown if KEY in text]


def _chain(error: BaseException | None) -> Iterator[str]:
    """An error, and all that it came from, as a log would show it."""
    while error is not None:
        yield repr(error) + str(vars(error))
        yield repr(error.__context__)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ключ", "two words"])
def test_a_key_that_cannot_be_one_is_not_shown(spoken: Spoken, clock: FakeClock, key: str) -> None:
    with pytest.raises(ConfigError, match="llm.api_key") as caught:
        spoken.build(Endpoint("http://127.0.0.1:9/v1", MODEL, Secret(key)), clock).chat(QUESTION)
    assert key not in caught.value.message + caught.value.hint


# Time and size


def _cancel_when(server_asked: Callable[[], bool]) -> tuple[Callable[[], bool], list[float]]:
    """A `cancelled` that turns true once the server was asked, and the moment at which it did."""
    moments: list[float] = []
    watch = SystemClock()

    def cancelled() -> bool:
        if server_asked() and not moments:
            moments.append(watch.monotonic())
        return bool(moments)

    return cancelled, moments


@pytest.mark.parametrize("shape", ["silent from the start", "silent in the middle", "slow bytes"])
def test_cancelling_is_noticed_within_half_a_second(spoken: Spoken, clock: FakeClock, shape: str) -> None:
    part = {
        "silent from the start": is_silent(),
        "silent in the middle": is_silent(spoken.begin, spoken.text("Once")),
        "slow bytes": drips(spoken.answer("word " * 2000)),
    }[shape]
    waits: list[float] = []
    while not waits or (min(waits) >= 0.5 and len(waits) < 5):  # a busy machine may be late, not always
        with model_server(part) as server:
            cancelled, moments = _cancel_when(lambda: bool(server.asked))
            with pytest.raises(Interrupted):
                spoken.provider(server.url, clock, timeout=60).chat(QUESTION, cancelled=cancelled)
            waits.append(SystemClock().monotonic() - moments[0])
            assert not [thread for thread in threading.enumerate() if thread.name == "model-call"]
    assert min(waits) < 0.5


def test_cancelling_is_noticed_between_tries(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(answers("429 Too Many", b"", retry_after="60")) as server, pytest.raises(Interrupted):
        spoken.provider(server.url, clock).chat(QUESTION, cancelled=lambda: clock.elapsed > 5)
    assert clock.elapsed < 5.5


def test_a_question_that_nobody_wants_is_not_sent(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(streams(spoken.answer("x"))) as server, pytest.raises(Interrupted):
        spoken.provider(server.url, clock).chat(QUESTION, cancelled=lambda: True)


def test_silence_has_an_end(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(is_silent(), is_silent(spoken.begin)) as server:
        with pytest.raises(Retryable, match=r"silent: not a byte for 0.3 s.*2 tries") as caught:
            spoken.provider(server.url, clock, timeout=0.3, retries=1).chat(QUESTION)
        assert len(server.asked) == 2
    assert "llm.timeout_seconds" in caught.value.hint


def test_slow_bytes_are_no_silence(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(drips(spoken.answer("slow"), every=0.001)) as server:
        assert spoken.provider(server.url, clock, timeout=0.5).chat(QUESTION).message.text == "slow"


def test_a_server_that_only_says_that_it_lives_is_left(spoken: Spoken, clock: FakeClock) -> None:
    def older() -> bool:
        clock.advance(600)
        return False

    with model_server(drips(b": alive\n\n" * 1000)) as server, pytest.raises(Retryable, match="no end"):
        spoken.provider(server.url, clock, retries=0).chat(QUESTION, cancelled=older)


@pytest.mark.parametrize("piece", [b": " + b"x" * 98 + b"\n\n", b"x" * 100], ids=["comments", "one line"])
def test_a_huge_answer_is_refused_in_bounded_memory(spoken: Spoken, clock: FakeClock, piece: bytes) -> None:
    tracemalloc.start()
    try:
        with model_server(floods(piece * 500, 64 * 1024 * 1024)) as server, pytest.raises(Permanent, match="[MK]B"):
            spoken.provider(server.url, clock).chat(QUESTION)
        assert tracemalloc.get_traced_memory()[1] < 48 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_a_compressed_answer_is_not_unpacked(spoken: Spoken, clock: FakeClock) -> None:
    part = answers("200 OK", gzip.compress(b"x" * 1000), content_encoding="gzip")
    with model_server(part) as server, pytest.raises(Permanent, match="compressed"):
        spoken.provider(server.url, clock).chat(QUESTION)
    assert server.asked[0].headers["accept-encoding"] == "identity"


def test_a_huge_error_is_shortened(spoken: Spoken, clock: FakeClock) -> None:
    part = answers("400 Bad Request", b"no " * 1_000_000, "text/plain")
    with model_server(part) as server, pytest.raises(Permanent) as caught:
        spoken.provider(server.url, clock).chat(QUESTION)
    assert len(caught.value.message) < 400


def test_a_listener_that_fails_ends_the_call(spoken: Spoken, clock: FakeClock) -> None:
    def full(text: str) -> None:
        raise OSError("no space left")

    with model_server(is_silent(spoken.begin, spoken.text("Once"))) as server, pytest.raises(OSError, match="space"):
        spoken.provider(server.url, clock).chat(QUESTION, full)


def test_calls_side_by_side_do_not_mix(spoken: Spoken, clock: FakeClock) -> None:
    def echo(visit: Visit) -> None:
        word = next(word for word in ("w0", "w1", "w2", "w3", "w4", "w5") if word.encode() in visit.asked.body)
        visit.head()
        for byte in bytewise(spoken.answer(*(f"{word} " for _ in range(5)))):
            visit.send(byte)

    said: dict[str, str] = {}
    with model_server(echo) as server:
        provider: Provider = spoken.provider(server.url, clock)

        def one(word: str) -> None:
            said[word] = provider.chat(Request((User(word),))).message.text

        threads = [threading.Thread(target=one, args=(f"w{number}",)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert said == {f"w{number}": f"w{number} " * 5 for number in range(6)}


# What is sent


def test_the_question_fits_the_model_and_names_its_tools(spoken: Spoken, clock: FakeClock) -> None:
    with model_server(streams(spoken.answer("x"))) as server:
        spoken.provider(server.url, clock).chat(replace(QUESTION, tools=(TOOL,), max_output=1_000_000))
    told = server.asked[0].told
    assert (told["model"], told["stream"]) == ("test-model", True)
    assert told.get("max_tokens") == MODEL.max_output
    assert "vault_read" in server.asked[0].body.decode()
    assert "你好" in server.asked[0].body.decode("utf-8")


def test_halves_of_characters_are_never_sent(spoken: Spoken, clock: FakeClock) -> None:
    half = "\ud83d"
    messages = (System(half), User(half, half), Assistant(half, (ToolCall("a", half, {half: half}),)))
    with model_server(streams(spoken.answer("x"))) as server:
        spoken.provider(server.url, clock).chat(Request((*messages, ToolResult("a", half, half))))
    server.asked[0].body.decode("utf-8")


def test_a_model_that_may_not_call_is_told_so_and_its_tools_stay(spoken: Spoken, clock: FakeClock) -> None:
    """Servers keep what they have cached of the tools, and refuse a conversation with calls and without tools."""
    free = replace(QUESTION, tools=(TOOL,))
    with model_server(streams(spoken.answer("yes")), streams(spoken.answer("yes"))) as server:
        for request in (free, replace(free, may_call=False)):
            spoken.provider(server.url, clock).chat(request)
    first, second = (asked.told for asked in server.asked)
    word = "none" if spoken.name == "openai" else {"type": "none"}
    assert second == {**first, "tool_choice": word} and "tool_choice" not in first
