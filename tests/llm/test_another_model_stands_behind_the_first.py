"""While a model is out of order, over its limit or refuses, the fallback answers, and the answer says so."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from agent.config.load import load_settings
from agent.errors import AgentError, Interrupted, LimitReached, LockHeld, MissingKey, Permanent, Retryable, StopRun
from agent.llm.failures import TooLong
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Provider, Reply, Request, Usage, User, ignore, never
from agent.llm.presets import endpoint
from agent.llm.providers import providers
from agent.llm.redaction import SECONDS, Fallback
from agent.texts import Sentence
from tests.fakes import FakeClock
from tests.llm.dialects import counted

QUESTION = Request((User("Are you there?"),))
BUSY = Retryable("first.example answered 429 Too Many Requests", hint="wait")


@dataclass
class Answering:
    """A model that says its name, or fails with the errors that are left."""

    name: str
    failures: list[AgentError] = field(default_factory=list)
    before: str = ""
    asked: int = 0

    @property
    def model(self) -> Model:
        return Model(self.name, 100_000, 4_096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        self.asked += 1
        if self.failures:
            on_text(self.before)
            raise self.failures.pop(0)
        on_text(self.name)
        return Reply(Assistant(self.name), Usage(1, 1), "end", self.name)


def pair(*failures: AgentError, second: Sequence[AgentError] = ()) -> tuple[Answering, Answering, FakeClock, Fallback]:
    first, other, clock = Answering("first", list(failures)), Answering("second", list(second)), FakeClock()
    return first, other, clock, Fallback(first, other, clock)


@pytest.mark.parametrize(
    "failure", [BUSY, Permanent("no credit left"), MissingKey("no key")], ids=["busy", "credit", "key"]
)
def test_the_second_answers_where_the_first_does_not(failure: AgentError) -> None:
    first, second, _, both = pair(failure)
    shown: list[str] = []
    reply = both.chat(QUESTION, shown.append)
    assert (reply.message.text, reply.model, "".join(shown)) == ("second", "second", "second")
    assert reply.remarks == (f"answered by second, as first did not answer: {failure.message}",)
    assert both.model.name == "second"
    assert (first.asked, second.asked) == (1, 1)


def test_the_first_is_asked_again_after_a_while() -> None:
    first, _, clock, both = pair(BUSY)
    assert [both.chat(QUESTION).model for _ in "12"] == ["second", "second"]
    assert first.asked == 1
    clock.sleep(SECONDS)
    reply = both.chat(QUESTION)
    assert (reply.model, reply.remarks, both.model.name) == ("first", (), "first")


def test_where_neither_answers_the_first_one_s_error_counts() -> None:
    first, _, _, both = pair(BUSY, BUSY, second=[Permanent("not here either")])
    with pytest.raises(Retryable, match="429"):
        both.chat(QUESTION)
    assert both.model.name == "first"
    assert both.chat(QUESTION).model == "second", "each is asked again"
    assert first.asked == 2


@pytest.mark.parametrize(
    "stop",
    [
        LimitReached("the run has cost $1", limit="spend.run"),
        Interrupted("stopped by you"),
        LockHeld("another process writes"),
        TooLong(Sentence("too long"), window=100, sent=200, hint=Sentence("less")),
    ],
    ids=["limit", "person", "lock", "too long"],
)
def test_what_another_model_would_not_mend_is_not_tried_there(stop: AgentError) -> None:
    _, second, _, both = pair(stop)
    with pytest.raises((StopRun, LockHeld, TooLong)):
        both.chat(QUESTION)
    assert second.asked == 0


def test_half_an_answer_is_not_answered_twice() -> None:
    first, second, _, both = pair(BUSY)
    first.before = "The roof is"
    with pytest.raises(Retryable):
        both.chat(QUESTION)
    assert second.asked == 0


def settings(**more: str) -> Callable[[], Provider | None]:
    flags = {"llm.preset": "openai", **{f"llm.fallback.{name}": value for name, value in more.items()}}
    llm = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}, flags=flags).settings.llm
    return lambda: providers(llm, FakeClock(), counted).fallback


def test_the_settings_name_the_fallback() -> None:
    assert settings()() is None
    named = settings(preset="anthropic", model="claude-haiku-5-5")()
    assert named is not None
    assert named.model.name == "claude-haiku-5-5"
    smaller = settings(model="gpt-6-luna")()
    assert smaller is not None
    assert smaller.model.name == "gpt-6-luna"


def test_a_model_with_another_behind_it_is_not_tried_for_half_a_minute() -> None:
    llm = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}, flags={"llm.preset": "openai"}).settings.llm
    alone, behind = endpoint(llm), endpoint(replace(llm, fallback=replace(llm.fallback, preset="anthropic")))
    assert alone is not None
    assert behind is not None
    assert (alone[1].retries, behind[1].retries) == (4, 1)
