"""Each request that is sent counts on its own: reserved before, settled after, also when a call is tried five times."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.config.run_settings import SpendSettings
from agent.errors import AgentError, Interrupted, LimitReached, Permanent, Retryable
from agent.llm.answer_text import Attempt
from agent.llm.ledger import Ledger, SpendScope
from agent.llm.messages import Cancelled, Json, Reply, Request, Usage, User, never
from agent.llm.spend import Meter, estimate
from agent.llm.wire import Wire
from tests.fakes import FakeClock
from tests.llm.dialects import SPOKEN, Spoken, Wanted, counted, openai
from tests.llm.servers import Part, Visit, answers, is_silent, model_server, streams
from tests.llm.spending import CHEAP, PLENTY
from tests.trust.plants import plant

ASKED = Request((User("How do I make tea?"),), max_output=400)
RESERVED = Usage(estimate(ASKED, counted), ASKED.max_output)


def event(said: Json) -> bytes:
    return b"data: " + json.dumps(said).encode() + b"\n\n"


def piece(**delta: Json) -> bytes:
    """A piece of an answer in the way of chat completions."""
    return event({"choices": [{"index": 0, "delta": delta}]})


USAGE: Json = {"prompt_tokens": 30, "completion_tokens": 11}
THOUGHT = piece(reasoning_content="thought " * 150)
"""300 tokens."""


class Books:
    """A metered wire before a server, and what the ledger says of it."""

    def __init__(self, folder: Path, url: str, ceilings: SpendSettings = PLENTY, spoken: Spoken = openai) -> None:
        clock = FakeClock()
        wire = spoken.provider(url, clock)
        assert isinstance(wire, Wire)
        ledger = Ledger(folder, clock, durable=False)
        self.meter = Meter(wire, ledger, ceilings, CHEAP, counted, clock, SpendScope("r1"))

    def ask(self, cancelled: Cancelled = never) -> Reply | AgentError:
        try:
            return self.meter.chat(ASKED, cancelled=cancelled)
        except AgentError as error:
            return error


def ask(
    folder: Path, *parts: Part, ceilings: SpendSettings = PLENTY, spoken: Spoken = openai
) -> tuple[object, Usage, int]:
    """How one call ended, what the ledger counts for it, and how many requests were sent."""
    with model_server(*parts) as server:
        books = Books(folder, server.url, ceilings, spoken)
        ended = books.ask()
        spent = books.meter.spent()
        assert spent.open == 0
        return ended, spent.usage, len(server.asked)


def tokens(usage: Usage) -> int:
    return usage.input + usage.output


@pytest.mark.parametrize("spoken", SPOKEN, ids=lambda each: each.name)
def test_a_call_that_is_tried_five_times_is_counted_five_times(spoken: Spoken, tmp_path: Path) -> None:
    ended, usage, sent = ask(tmp_path, streams(spoken.begin), spoken=spoken)
    assert isinstance(ended, Retryable) and sent == 5
    assert usage.output == 5 * RESERVED.output and usage.input >= 5 * RESERVED.input


@pytest.mark.parametrize("spoken", SPOKEN, ids=lambda each: each.name)
def test_a_good_answer_after_two_broken_ones_costs_its_own_usage_and_two_reservations(
    spoken: Spoken, tmp_path: Path
) -> None:
    good = spoken.answer("tea")
    ended, usage, sent = ask(tmp_path, streams(spoken.begin), answers("500 No", b""), streams(good), spoken=spoken)
    assert isinstance(ended, Reply) and sent == 3
    assert usage.output == 2 * RESERVED.output + 7


def test_no_try_is_sent_that_could_pass_the_ceiling(tmp_path: Path) -> None:
    most = 2 * tokens(RESERVED) + 10
    ended, usage, sent = ask(tmp_path, streams(THOUGHT), ceilings=replace(PLENTY, daily_tokens=most))
    assert isinstance(ended, LimitReached) and ended.limit == "spend.daily_tokens"
    assert sent == 2 and tokens(usage) <= most


def test_calls_per_run_counts_tries(tmp_path: Path) -> None:
    ended, _, sent = ask(tmp_path, streams(THOUGHT), ceilings=replace(PLENTY, calls_per_run=3))
    assert isinstance(ended, LimitReached) and ended.limit == "spend.calls_per_run" and sent == 3


@pytest.mark.parametrize(
    ("sent", "output"),
    [
        pytest.param([THOUGHT], 400, id="less than was reserved, then it breaks off"),
        pytest.param([THOUGHT] * 2, 600, id="more than was reserved, then it breaks off"),
        pytest.param([piece(reasoning="thought " * 300)], 600, id="reasoning in the other field"),
        pytest.param(
            [THOUGHT, event({"choices": [], "usage": USAGE})], 11, id="the usage of the whole, then it breaks"
        ),
        pytest.param([event({"choices": [{"delta": {}}], "usage": USAGE}), THOUGHT], 400, id="the usage so far"),
        pytest.param([event({"choices": [], "usage": {"prompt_tokens": 30}}), THOUGHT], 400, id="usage without output"),
        pytest.param([b"data: {not json\n\n"], 400, id="rubbish"),
        pytest.param([], 400, id="nothing at all"),
    ],
)
def test_what_a_broken_try_counts(sent: Sequence[bytes], output: int, tmp_path: Path) -> None:
    with model_server(streams(*sent)) as server:
        books = Books(tmp_path, server.url)
        wire = books.meter.provider
        assert isinstance(wire, Wire)
        wire._endpoint = replace(wire._endpoint, retries=0)
        assert isinstance(books.ask(), AgentError)
        assert books.meter.spent().usage.output == output


@pytest.mark.parametrize(
    ("sent", "output"),
    [
        pytest.param([THOUGHT, piece(content="boil"), event({"choices": [{"finish_reason": "stop"}]})], 301, id="none"),
        pytest.param(
            [THOUGHT, event({"choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": 30}})], 0, id="stated"
        ),
        pytest.param([event({"choices": [{"delta": {"content": "boil"}, "finish_reason": "stop"}]})], 1, id="short"),
    ],
)
def test_reasoning_is_counted_where_the_server_states_no_usage(
    sent: Sequence[bytes], output: int, tmp_path: Path
) -> None:
    ended, usage, _ = ask(tmp_path, streams(*sent, b"data: [DONE]\n\n"))
    assert isinstance(ended, Reply) or "empty" in str(ended)
    assert usage.output == output


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found", "302 Found"])
def test_a_request_that_is_refused_counts_with_its_input_only(status: str, tmp_path: Path) -> None:
    ended, usage, sent = ask(tmp_path, answers(status, b"{}"))
    assert isinstance(ended, Permanent) and sent == 1
    assert usage == Usage(RESERVED.input, 0)


def test_a_server_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    with model_server() as server:
        url = server.url
    books = Books(tmp_path, url)
    assert isinstance(books.ask(), AgentError)
    assert books.meter.spent().usage == Usage() and books.meter.spent().open == 0


def test_a_request_that_is_said_differently_is_counted_twice(tmp_path: Path) -> None:
    unknown = answers("400 Bad Request", b'{"error": {"message": "unknown field stream_options"}}')
    ended, usage, sent = ask(tmp_path, unknown, streams(openai.answer("tea")))
    assert isinstance(ended, Reply) and sent == 2
    assert usage.output == 7 and usage.input == RESERVED.input + 120


def test_a_cancelled_try_counts_with_what_came_or_with_its_reservation(tmp_path: Path) -> None:
    for number, (part, output) in enumerate([(is_silent(seconds=5), 400), (is_silent(THOUGHT, seconds=5), 300)]):
        with model_server(part) as server:
            books, looks = Books(tmp_path / str(number), server.url), count()
            assert isinstance(books.ask(lambda looks=looks: next(looks) > 5), Interrupted)  # type: ignore[misc]
            assert books.meter.spent().usage.output == output


@pytest.mark.parametrize("spoken", SPOKEN, ids=lambda each: each.name)
def test_an_answer_that_goes_on_beyond_its_limit_is_cut_off(spoken: Spoken, tmp_path: Path) -> None:
    def endless(visit: Visit) -> None:
        visit.head()
        visit.send(spoken.begin)
        while not visit.closing.is_set():
            visit.send(spoken.text("word " * 50))

    ended, usage, sent = ask(tmp_path, endless, spoken=spoken)
    assert isinstance(ended, Reply) and ended.stop == "length" and sent == 1
    assert ended.message.text.startswith("word word") and ASKED.max_output < usage.output <= 3 * ASKED.max_output
    assert ended.usage.output == usage.output


def test_reasoning_that_goes_on_for_ever_is_cut_off(tmp_path: Path) -> None:
    def endless(visit: Visit) -> None:
        visit.head()
        while not visit.closing.is_set():
            visit.send(THOUGHT)

    ended, usage, sent = ask(tmp_path, endless)
    assert isinstance(ended, Reply) and (ended.stop, ended.message.text) == ("length", "") and sent == 1
    assert usage.output <= 4 * ASKED.max_output


def test_a_chinese_answer_as_long_as_it_may_be_is_not_cut_off() -> None:
    attempt = Attempt(counted, 4096)
    attempt.add("泡茶要先烧水" * (4096 // 4))  # about 0.67 tokens a sign
    assert not attempt.too_long
    attempt.add("泡茶要先烧水" * 4096)
    assert attempt.too_long


@pytest.mark.parametrize("spoken", SPOKEN, ids=lambda each: each.name)
def test_an_answer_with_75_000_calls_is_refused_while_it_comes(spoken: Spoken, tmp_path: Path) -> None:
    """Also where it may be as long as it likes; the request is not repeated."""
    many = spoken.calls([Wanted(f"c{number}", "x", ["{}"]) for number in range(1_000)])
    pieces = 0

    def flood(visit: Visit) -> None:
        nonlocal pieces
        visit.head()
        visit.send(spoken.begin)
        for _ in range(75):
            visit.send(many)
            pieces += 1

    with model_server(flood) as server:
        provider = spoken.provider(server.url, FakeClock())
        with pytest.raises(Permanent, match="more than 512 uses of tools") as raised:
            provider.chat(replace(ASKED, max_output=10**6))
        assert len(server.asked) == 1 and raised.value.hint
    assert pieces < 75, "it was read to its end"


def test_a_plain_answer_with_too_many_calls_is_refused(tmp_path: Path) -> None:
    calls: Json = [{"id": f"c{number}", "function": {"name": "x", "arguments": "{}"}} for number in range(75_000)]
    body = json.dumps({"choices": [{"message": {"tool_calls": calls}}]}).encode()
    ended, _, sent = ask(tmp_path, answers("200 OK", body))
    assert isinstance(ended, Permanent) and sent == 1 and "512" in ended.message


def test_a_day_is_a_day_in_utc_whatever_the_zone_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = set()
    for zone in ("Pacific/Kiritimati", "UTC", "Pacific/Pago_Pago"):  # 25 hours apart: never all on one date
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        days.add(Ledger(tmp_path, SystemClock()).today())
    monkeypatch.undo()
    time.tzset()
    assert len(days) == 1


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(n, marks=pytest.mark.chaos) for n in range(6, 60))])
def test_a_server_that_fails_as_it_likes_is_paid_the_ceiling_and_one_try_at_most(seed: int, tmp_path: Path) -> None:
    """The server bills all that it wrote, and the whole answer where it says nothing about a failure."""
    chance, billed = random.Random(seed), list[int]()
    most = chance.randint(500, 6000)

    def part(visit: Visit) -> None:
        kind, thoughts = chance.randint(0, 4), chance.randint(0, 3)
        usage = event({"choices": [], "usage": {"prompt_tokens": RESERVED.input, "completion_tokens": 350}})
        wrote = [(400, []), (max(400, 300 * thoughts), [THOUGHT] * thoughts), (350, [usage])][min(kind, 2)]
        billed.append(RESERVED.input + wrote[0])
        if kind == 0:
            answers("503 Busy", b"")(visit)
        else:
            streams(*wrote[1], *([openai.text("tea"), usage, openai.end("end")] if kind > 2 else []))(visit)

    with model_server(part) as server:
        books = Books(tmp_path, server.url, replace(PLENTY, run_tokens=most))
        while not isinstance(books.ask(), LimitReached):
            assert len(billed) < 100
        assert sum(billed) <= most + max(billed)
        assert books.meter.spent().tokens >= sum(billed)


def test_tries_that_are_metered_as_one_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("only the first try is reserved", monkeypatch.setattr)
    with pytest.raises(AssertionError):
        test_a_call_that_is_tried_five_times_is_counted_five_times(openai, tmp_path)


def test_a_failed_try_that_is_released_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("a failed try is released", monkeypatch.setattr)
    with pytest.raises(AssertionError):
        test_a_call_that_is_tried_five_times_is_counted_five_times(openai, tmp_path)


def test_a_long_answer_that_failed_before_it_began_costs_no_whole_one(tmp_path: Path) -> None:
    """Two busy moments of a dear model must not use up what a run may cost."""
    reserved = Usage(1_000, 32_000)
    attempt = Attempt(lambda text: len(text) // 4, reserved.output)
    assert attempt.used_after(Retryable("503"), reserved) == Usage(1_000, 4_096)
    attempt.add("a" * 4 * 9_000)
    assert attempt.used_after(Retryable("broken"), reserved) == Usage(1_000, 9_000)
