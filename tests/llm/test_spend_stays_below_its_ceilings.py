"""The meter: what is reserved, refused and settled."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import Interrupted, LimitReached, MissingKey, Permanent, Retryable
from agent.llm.known_models import Price, cost
from agent.llm.ledger import Ledger, SpendScope
from agent.llm.messages import Assistant, OnText, Reply, Request, System, ToolCall, ToolSpec, Usage, User
from agent.llm.spend import Meter, estimate
from tests.fakes import FakeClock
from tests.llm.spending import CHEAP, PLENTY, QUESTION, Answers, meter, words


def until_refused(metered: Meter, most: int = 1000) -> LimitReached:
    for _ in range(most):
        try:
            metered.chat(QUESTION)
        except LimitReached as error:
            return error
    raise AssertionError(f"{most} calls were let through")


def test_a_call_costs_what_it_used_and_not_what_was_reserved(tmp_path: Path) -> None:
    metered = meter(tmp_path, Answers(Usage(100, 50, 40)))
    assert metered.chat(QUESTION).message.text == "boil water"
    spent = metered.spent()
    assert (spent.calls, spent.usage, spent.open) == (1, Usage(100, 50, 40), 0)
    assert spent.money == pytest.approx((60 * 1.0 + 40 * 0.1 + 50 * 10.0) / 1e6)


@pytest.mark.parametrize(
    ("key", "ceilings"),
    [
        ("spend.run", replace(PLENTY, run=0.05)),
        ("spend.daily", replace(PLENTY, daily=0.05)),
        ("spend.run_tokens", replace(PLENTY, run_tokens=9000)),
        ("spend.daily_tokens", replace(PLENTY, daily_tokens=9000)),
        ("spend.calls_per_run", replace(PLENTY, calls_per_run=7)),
    ],
)
def test_each_ceiling_refuses_the_call_before_it_is_sent(key: str, ceilings: object, tmp_path: Path) -> None:
    provider = Answers(Usage(900, 900))
    metered = replace(meter(tmp_path, provider), ceilings=ceilings)  # type: ignore[arg-type]  # one table for all
    error = until_refused(metered)
    assert error.limit == key and key in error.hint
    sent = len(provider.sent)
    assert 0 < sent <= 7
    with pytest.raises(LimitReached):
        metered.chat(QUESTION)
    assert len(provider.sent) == sent


def test_the_ceiling_that_it_names_would_let_the_call_through(tmp_path: Path) -> None:
    metered = meter(tmp_path, Answers(Usage(900_000, 0)))
    metered.chat(QUESTION)
    with pytest.raises(LimitReached) as raised:
        replace(metered, ceilings=replace(PLENTY, daily_tokens=100)).chat(QUESTION)
    more = raised.value.hint.removeprefix("vault-agent config set spend.daily_tokens ").partition(" ")[0]
    replace(metered, ceilings=replace(PLENTY, daily_tokens=int(more))).chat(QUESTION)


@given(
    used=st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 1000)), min_size=1, max_size=40),
    most=st.integers(0, 20_000),
)
def test_a_run_never_uses_more_tokens_than_its_ceiling_and_one_call(
    used: list[tuple[int, int]], most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    provider = Answers()
    metered = meter(tmp_path_factory.mktemp("spend"), provider, replace(PLENTY, run_tokens=most))
    real = 0
    for tokens_in, tokens_out in used:
        provider.usage = Usage(tokens_in, tokens_out + 1)
        before = len(provider.sent)
        try:
            metered.chat(QUESTION)
        except LimitReached:
            assert len(provider.sent) == before
            continue
        assert real + 1000 <= most, "a call was sent that could have passed the ceiling"
        real += tokens_in + tokens_out + 1
    assert metered.spent().tokens == real


def test_an_unknown_price_counts_in_tokens_only(tmp_path: Path) -> None:
    provider = Answers()
    metered = meter(tmp_path, provider, replace(PLENTY, run=0.0, daily=0.0, run_tokens=5000), price=None)
    assert until_refused(metered).limit == "spend.run_tokens"
    spent = metered.spent()
    assert spent.money == 0 and spent.unpriced == spent.calls == len(provider.sent) > 0


def test_nothing_is_allowed_when_the_ceiling_is_nothing(tmp_path: Path) -> None:
    provider = Answers()
    with pytest.raises(LimitReached):
        meter(tmp_path, provider, replace(PLENTY, run=0.0)).chat(QUESTION)
    with pytest.raises(LimitReached):
        meter(tmp_path, provider, replace(PLENTY, calls_per_run=0)).chat(QUESTION)
    assert provider.sent == []


def test_parallel_calls_share_one_budget(tmp_path: Path) -> None:
    provider = Answers(Usage(10, 900))
    metered = meter(tmp_path, provider, replace(PLENTY, run_tokens=10_000))

    def call(_: int) -> bool:
        try:
            metered.chat(QUESTION)
        except LimitReached:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = sum(pool.map(call, range(60)))
    spent = metered.spent()
    assert spent.calls == done == len(provider.sent)
    assert spent.tokens <= 10_000 and spent.open == 0


def test_a_sub_run_spends_its_parents_budget_and_another_run_its_own(tmp_path: Path) -> None:
    provider = Answers()
    metered = meter(tmp_path, provider, replace(PLENTY, calls_per_run=2))
    metered.chat(QUESTION)
    metered.on(metered.scope).chat(QUESTION)
    with pytest.raises(LimitReached):
        metered.on(metered.scope).chat(QUESTION)
    metered.on(SpendScope("r2", "digest")).chat(QUESTION)
    today = metered.ledger.today()
    assert metered.ledger.totals(today).calls == 3
    assert metered.ledger.totals(today, job="digest").calls == 1


def test_a_run_that_goes_on_tomorrow_keeps_its_count_and_the_day_begins_anew(tmp_path: Path) -> None:
    clock = FakeClock()
    metered = meter(tmp_path, Answers(), replace(PLENTY, calls_per_run=3), clock=clock)
    metered.chat(QUESTION)
    clock.advance(timedelta(days=3).total_seconds())
    metered.chat(QUESTION)
    assert metered.spent().calls == 2
    assert metered.ledger.totals(metered.ledger.today()).calls == 1
    afresh = meter(tmp_path, Answers(), replace(PLENTY, calls_per_run=3), clock=clock)
    afresh.chat(QUESTION)
    with pytest.raises(LimitReached):
        afresh.chat(QUESTION)


def test_a_clock_that_is_set_back_finds_the_days_count_again(tmp_path: Path) -> None:
    clock = FakeClock()
    metered = meter(tmp_path, Answers(), replace(PLENTY, daily_tokens=1100), clock=clock)
    metered.chat(QUESTION)
    clock.advance(86_400)
    metered.on(SpendScope("r2")).chat(QUESTION)
    clock.advance(-86_400)
    with pytest.raises(LimitReached):
        metered.on(SpendScope("r3")).chat(QUESTION)


def test_a_failed_call_keeps_its_reservation(tmp_path: Path) -> None:
    def fail(on_text: OnText) -> None:
        raise Retryable("busy")

    metered = meter(tmp_path, Answers(before=fail))
    with pytest.raises(Retryable):
        metered.chat(QUESTION)
    spent = metered.spent()
    assert spent.usage == Usage(estimate(QUESTION, words), QUESTION.max_output) and spent.open == 0


def test_a_call_without_a_key_was_never_sent_and_costs_nothing(tmp_path: Path) -> None:
    def fail(on_text: OnText) -> None:
        raise MissingKey("no secret at env:KEY")

    metered = meter(tmp_path, Answers(before=fail))
    with pytest.raises(MissingKey):
        metered.chat(QUESTION)
    assert metered.spent().usage == Usage()


def test_a_cancelled_stream_counts_with_what_came(tmp_path: Path) -> None:
    def stop(on_text: OnText) -> None:
        on_text("first you take ")
        on_text("a kettle")
        raise Interrupted("no more")

    heard: list[str] = []
    metered = meter(tmp_path, Answers(before=stop))
    with pytest.raises(Interrupted):
        metered.chat(QUESTION, heard.append)
    assert heard == ["first you take ", "a kettle"]
    assert metered.spent().usage == Usage(estimate(QUESTION, words), 5)


def test_a_reply_that_does_not_say_what_it_used_is_estimated(tmp_path: Path) -> None:
    reply: Reply = meter(tmp_path, Answers(Usage(), "one two three")).chat(QUESTION)
    assert reply.usage == Usage(estimate(QUESTION, words), 3)


def test_no_call_is_made_when_the_ledger_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_text("a file where the folder should be")
    provider = Answers()
    with pytest.raises(Permanent) as raised:
        meter(tmp_path / "ledger", provider).chat(QUESTION)
    assert provider.sent == [] and raised.value.hint


def test_an_answer_is_not_lost_when_only_settling_fails(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "ledger"
    clock = FakeClock()
    day = folder / f"{clock.now().date()}.jsonl"

    def damage(on_text: OnText) -> None:
        day.rename(folder / "kept")
        day.mkdir()

    metered = meter(folder, Answers(before=damage), clock=clock)
    assert metered.chat(QUESTION).message.text == "boil water"
    assert "counts with what was reserved" in caplog.text
    day.rmdir()
    (folder / "kept").rename(day)
    spent = Ledger(folder, clock).totals_of("r1")
    assert spent.open == 1 and spent.usage.output == QUESTION.max_output


def test_the_estimate_counts_tools_arguments_and_every_message() -> None:
    tool = ToolSpec("vault_read", "Reads a note whole", {"type": "object"})
    call = Assistant("", (ToolCall("1", "vault_read", {"path": "a b c d"}),))
    bare = estimate(Request((System("be kind"),)), words)
    assert bare < estimate(Request((System("be kind"), User("yes"))), words)
    assert bare < estimate(Request((System("be kind"),), (tool,)), words)
    assert bare < estimate(Request((System("be kind"), call)), words)


def test_the_cached_part_of_the_input_has_its_own_price() -> None:
    assert cost(Price(3.0, 15.0, 0.3), Usage(1_000_000, 0, 1_000_000)) == pytest.approx(0.3)
    assert cost(Price(3.0, 15.0, 0.3), Usage(1_000_000, 1_000_000, 0)) == pytest.approx(18.0)
    assert cost(Price(4.0, 15.0, 0.3), Usage(1_000_000, 0, 0, 1_000_000)) == pytest.approx(5.0)
    assert cost(CHEAP, Usage(10, 0, 1000)) == pytest.approx(10 * 0.1 / 1e6)


def test_a_long_answer_is_asked_for_only_as_far_as_the_money_goes(tmp_path: Path) -> None:
    """What might be spent does not stop a run before what is spent does."""
    metered = meter(tmp_path, Answers(Usage(100, 12_000)), replace(PLENTY, run=0.25))
    long = replace(QUESTION, max_output=32_000)
    assert metered.affordable(QUESTION) is QUESTION
    first = metered.affordable(long).max_output
    assert 20_000 < first < 25_000
    metered.chat(replace(long, max_output=first))
    second = metered.affordable(long).max_output
    assert 8_000 < second < 13_000
    metered.chat(replace(long, max_output=second))
    assert metered.affordable(long).max_output == 4_096, "no shorter: now the ceiling itself refuses"
    with pytest.raises(LimitReached):
        metered.chat(replace(long, max_output=4_096))
    assert replace(metered, price=None).affordable(long) is long
