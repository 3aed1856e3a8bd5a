"""Models that never stop, on a budget: each call writes what it really used into the harness's own ledger first.

A worker is a process of its own, with threads, that calls until it is refused or killed in the middle of a call. The
product is asked only what it counted; how much was really used is known from the ledger alone.
"""

import json
import os
import random
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.clock import SystemClock
from agent.config.run_settings import SpendSettings
from agent.errors import Interrupted, LimitReached, Permanent, Retryable
from agent.llm.known_models import Price, cost
from agent.llm.ledger import Ledger, SpendScope
from agent.llm.messages import Assistant, Cancelled, Model, OnText, Reply, Request, ToolCall, Usage, User, ignore, never
from agent.llm.spend import Meter
from tests.trust.forks import Forks
from tests.trust.plants import plant

PLENTY = SpendSettings(
    run=1e4,
    daily=1e5,
    run_tokens=10**10,
    daily_tokens=10**12,
    jobs=1e5,
    jobs_tokens=10**12,
    calls_per_run=10**5,
    same_failure=3,
)
PRICE = Price(3.0, 15.0, 0.3)
MOST_OUTPUT = 400
QUESTION = Request((User("word " * 300),), max_output=MOST_OUTPUT)
_PATIENCE = 120
_MOST_CALLS = 500


@dataclass(frozen=True, slots=True)
class Scenario:
    """`ceiling` is the setting that must hold, at `most`; each worker dies in its call of this number (0: never).

    `exceeds`: the server uses more than it may; then calls are made one after the other.
    """

    seed: int
    ceiling: str
    most: float
    threads: int
    deaths: tuple[int, ...]
    exceeds: bool

    @property
    def ceilings(self) -> SpendSettings:
        value = self.most if self.ceiling in ("run", "daily") else int(self.most)
        return replace(PLENTY, **{self.ceiling: value})  # type: ignore[arg-type]  # each value has its field's type


def scenarios(count: int, seed: str) -> list[Scenario]:
    """Ceilings of every kind, workers one after the other and beside each other, some killed."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        exceeds = chance.random() < 0.3
        ceiling = ("run", "daily", "run_tokens", "daily_tokens", "calls_per_run")[number % 5]
        most = {"run": 0.1, "daily": 0.1, "run_tokens": 9e3, "daily_tokens": 9e3, "calls_per_run": 9}[ceiling]
        deaths = tuple(chance.choice((0, chance.randint(1, 6))) for _ in range(chance.randint(1, 3)))
        threads = 1 if exceeds else chance.randint(1, 4)
        found.append(Scenario(number, ceiling, round(most * chance.uniform(0.3, 2), 3), threads, deaths, exceeds))
    return found


@dataclass
class Runaway:
    """A `Provider` that uses what chance says, and writes it down before it answers, fails or kills the process."""

    book: Path
    chance: random.Random
    dies_at: int = 0
    exceeds: bool = False
    fails: float = 0.2
    calls: int = 0
    mutex: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model(self) -> Model:
        return Model("runaway", 32_768, MOST_OUTPUT)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        with self.mutex:
            self.calls += 1
            number, fate = self.calls, self.chance.random()
            tokens_out = self.chance.randint(1, MOST_OUTPUT * (3 if self.exceeds else 1))
            usage = Usage(self.chance.randint(200, 300), tokens_out)
            if fate < self.fails:
                usage = Usage(usage.input, 0)
            note(self.book, usage)
        if number == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if fate < self.fails:
            raise (Retryable, Permanent, Interrupted)[number % 3]("as chance has it")
        call = ToolCall(f"c{number}", "vault_read", {"path": "nowhere.md"})
        return Reply(Assistant("again", (call,)), usage, "tools", "runaway")


def note(book: Path, usage: Usage) -> None:
    """Write down what a call uses; on the disk when this returns."""
    descriptor = os.open(book, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, f"{json.dumps([usage.input, usage.output])}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def used(book: Path) -> list[Usage]:
    """What all calls really used."""
    return [Usage(*json.loads(line)) for line in book.read_text().splitlines()] if book.exists() else []


def words(text: str) -> int:
    return len(text.split())


def metered(folder: Path, ceilings: SpendSettings, provider: Runaway) -> Meter:
    clock = SystemClock()
    return Meter(provider, Ledger(folder / "ledger", clock), ceilings, PRICE, words, clock, SpendScope("r1"))


def work(folder: Path, scenario: Scenario, worker: int) -> None:
    """Call until refused, in as many threads as the scenario says."""
    chance = random.Random(f"{scenario.seed} {worker}")
    provider = Runaway(folder / "book", chance, scenario.deaths[worker], scenario.exceeds)
    meter = metered(folder, scenario.ceilings, provider)

    def call_on_and_on() -> None:
        for _ in range(_MOST_CALLS):
            try:
                meter.chat(QUESTION)
            except LimitReached:
                return
            except (Retryable, Permanent, Interrupted):
                continue

    threads = [threading.Thread(target=call_on_and_on) for _ in range(scenario.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run(forks: Forks, folder: Path, scenario: Scenario, bug: str = "") -> None:
    """Let every worker run away: beside each other where calls keep to what they may use, else one by one."""
    folder.mkdir(parents=True, exist_ok=True)
    running = []
    for worker in range(len(scenario.deaths)):
        arguments = [str(folder), json.dumps(_plain(scenario)), str(worker), *([bug] if bug else [])]
        running.append(forks.start(*arguments, errors=folder / "errors"))
        if scenario.exceeds:
            running[-1].wait(_PATIENCE)
    try:
        codes = [process.wait(_PATIENCE) for process in running]
    finally:
        for process in running:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
    assert all(code in (0, -signal.SIGKILL) for code in codes), (codes, (folder / "errors").read_text())


def check(folder: Path, scenario: Scenario) -> None:
    """What was really used is within the ceiling, or one call over it where a server takes more than it may; and the
    product's count is never below the truth. Raises `AssertionError`."""
    calls = used(folder / "book")
    assert calls, "no call was made: this scenario says nothing"
    real = [_measure(scenario.ceiling, usage) for usage in calls]
    slack = max(real) if scenario.exceeds else 0.0
    assert sum(real) <= scenario.most + slack + 1e-9, f"{sum(real)} of {scenario.most} and at most {slack}"
    counted = Ledger(folder / "ledger", SystemClock()).totals_of("r1")
    truth = sum((usage.input + usage.output for usage in calls), 0)
    assert counted.calls >= len(calls)
    killed = sum(1 for death in scenario.deaths if death)
    unknown = killed * scenario.threads * MOST_OUTPUT * (3 if scenario.exceeds else 1)
    assert counted.tokens >= truth - (unknown if scenario.exceeds else 0), f"{counted.tokens} counted of {truth}"


def _measure(ceiling: str, usage: Usage) -> float:
    if ceiling in ("run", "daily"):
        return cost(PRICE, usage)
    return 1.0 if ceiling == "calls_per_run" else float(usage.input + usage.output)


def _plain(scenario: Scenario) -> list[object]:
    return [getattr(scenario, name) for name in Scenario.__slots__]


def main(arguments: list[str]) -> None:
    """Work as one worker of a scenario: `FOLDER SCENARIO WORKER [BUG]`."""
    seed, ceiling, most, count, deaths, exceeds = json.loads(arguments[1])
    if arguments[3:]:
        plant(arguments[3], setattr)
    scenario = Scenario(seed, ceiling, most, count, tuple(deaths), exceeds)
    work(Path(arguments[0]), scenario, int(arguments[2]))
