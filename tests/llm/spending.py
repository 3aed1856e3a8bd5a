"""What tests of spending are made of: a model that uses what it is told to, a ledger, ceilings, a meter."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agent.clock import Clock
from agent.config.run_settings import SpendSettings
from agent.llm.known_models import Price
from agent.llm.ledger import Ledger, SpendScope
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, Usage, User, ignore, never
from agent.llm.spend import Meter
from tests.fakes import FakeClock

PLENTY = SpendSettings(
    run=100.0,
    daily=1000.0,
    run_tokens=10**9,
    daily_tokens=10**9,
    jobs=1000.0,
    jobs_tokens=10**9,
    calls_per_run=10_000,
    same_failure=3,
)
CHEAP = Price(input=1.0, output=10.0, cached=0.1)
QUESTION = Request((User("How do I make tea?"),), max_output=1000)


def words(text: str) -> int:
    return len(text.split())


@dataclass
class Answers:
    """A `Provider` whose every call uses `usage`; `before` is run first and may raise or say something."""

    usage: Usage = Usage(100, 50)
    text: str = "boil water"
    before: Callable[[OnText], None] | None = None
    sent: list[Request] = field(default_factory=list)
    mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model(self) -> Model:
        return Model("model-a", 32_768, 4096)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        with self.mutex:
            self.sent.append(request)
        if self.before:
            self.before(on_text)
        return Reply(Assistant(self.text), self.usage, "end", "model-a")


def meter(
    folder: Path,
    provider: Answers,
    ceilings: SpendSettings = PLENTY,
    *,
    price: Price | None = CHEAP,
    run: str = "r1",
    job: str = "",
    clock: Clock | None = None,
) -> Meter:
    clock = clock or FakeClock()
    return Meter(provider, Ledger(folder, clock, durable=False), ceilings, price, words, clock, SpendScope(run, job))
