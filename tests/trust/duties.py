"""A year of a person's duties: reminders and jobs of once, while the model, its key, the day's spend, the channel, the
network, the daemon and the clock fail at random. `Year` keeps its own list of what was due when, and judges what was
heard by what a person sees: the messages that a channel has shown, the day's notes, and `status`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal

from agent.app.agent import opened_runs
from agent.app.notice_ledger import open_ledger
from agent.app.open import open_workspace
from agent.attention.channels.channel import Channel, Message
from agent.attention.channels.daily_note import DailyNote
from agent.attention.outbox import Outbox
from agent.attention.rules import limits_of
from agent.background.jobs.jobs import Jobs
from agent.background.jobs.jobs_status import jobs_status
from agent.background.pool import Pool, Priority
from agent.background.resume import OpenRuns
from agent.background.turns import TurnsToGiveBack
from agent.errors import Retryable
from agent.events.notices import NoticeRaised
from agent.events.types import DaemonStarted
from agent.interfaces.cli.status_sections import format_jobs_status, format_notices_status, notices_status
from agent.llm.messages import Cancelled, never
from agent.memory import daily
from agent.schedule.history import Outcome
from agent.schedule.new_job import make_job
from agent.vault.change import Stamp
from agent.vault.sync.claims import Claim, Claims, RemoteUnreachable
from agent.workspace.machine import this_machine
from agent.workspace.workspace import reload_settings
from tests.fakes import FakeClock
from tests.stories.agents import furnish, script
from tests.vaults import write

Outage = Literal["model", "key", "spend", "channel", "network"]
Kind = Literal["once", "daily", "weekly", "job"]
START = datetime(2026, 1, 5, 6, tzinfo=UTC)
"""A Monday."""
LONGEST: dict[Outage, float] = {"model": 72, "key": 72, "spend": 24, "channel": 48, "network": 24}
"""The most hours of each outage."""
LATE, SOON = timedelta(minutes=5), timedelta(minutes=20)
"""What comes so much later than its time has to say so; a daemon that runs has so long to say anything."""
SAYS_LATE = re.compile(r"comes late|stands for all|was to be done at")
WAS_FOR = re.compile(r"comes late: it was for (\d{4}-\d\d-\d\d \d\d:\d\d)")
NOT_AGAIN = "not tried again by itself"


class Killed(BaseException):
    """The process is gone."""


@dataclass
class YearClock(FakeClock):
    """A clock on the wall that also jumps: while the machine sleeps, or when somebody sets it."""

    jumped: float = 0.0

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.elapsed + self.jumped)


@dataclass
class Duty:
    """What a person wants; `token` is in its text and nowhere else. `times` are those of its kind after `since`."""

    token: str
    kind: Kind
    path: str
    at: datetime
    since: datetime
    is_gone: bool = False

    def due(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Its times after one moment, up to another."""
        step = {"daily": timedelta(days=1), "weekly": timedelta(days=7)}.get(self.kind)
        at = self.at
        while step is not None and at + step <= start:
            at += step
        while at <= end:
            if at > max(start, self.since) or (step is None and at > start):
                yield at
            if step is None:
                return
            at += step


@dataclass
class Due:
    """A time of a duty, and what its person has seen about it since: when, and the words."""

    duty: Duty
    at: datetime
    seen: list[tuple[datetime, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.duty.kind} {self.duty.token}, due {self.at},"


@dataclass(frozen=True)
class Asleep:
    """Is told of work, and does nothing about it."""

    def wake(self, reason: str) -> None:
        pass

    def working(self, title: str) -> AbstractContextManager[list[str]]:
        return nullcontext([])

    def ran(self, job: str, outcome: Outcome) -> None:
        pass


class AtOnce(Pool):
    """A pool whose work is done when it is submitted, so that a kill in it is one of its client."""

    def submit(
        self,
        work: Callable[[Cancelled], Any],
        *,
        key: str,
        priority: Priority,
        deadline: float | None = None,
        patience: float = 4.0,
    ) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_result(work(never))
        return future


@dataclass
class Year:
    """The vault, its clock, and the outages; `boot` starts a process, `step` is one of its turns."""

    folder: Path
    put: Callable[[str, str], None]
    seed: int
    procedures: Callable[..., Any] = lambda *arguments: None
    clock: YearClock = field(default_factory=lambda: YearClock(START))
    problems: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    duties: list[Duty] = field(default_factory=list)
    dues: dict[tuple[str, datetime], Due] = field(default_factory=dict)
    out: dict[Outage, datetime] = field(default_factory=dict)
    shown: list[tuple[datetime, Message]] = field(default_factory=list)
    jobs: Jobs | None = None
    turns: TurnsToGiveBack = field(init=False)
    outbox: Outbox | None = None
    up_since: datetime = START
    kill_in: int = 0
    """The number of notices after which the process is killed; 0: not."""

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.root = furnish(self.folder, self.put, self.folder / "script.json")
        self.put("VAULT_AGENT_MEMORY__AUTO_CAPTURE", "false")
        self.put("VAULT_AGENT_MEMORY__AUTO_RECALL", "false")
        self.workspace = open_workspace(self.root, clock=self.clock)
        self._blocks: set[str] = set()
        self._begin_outages()

    # the world

    def fail(self, kind: Outage, hours: float) -> None:
        """Let something be away from now on."""
        self.counts[kind] += 1
        self.out[kind] = self.clock.now() + timedelta(hours=hours)
        self._begin_outages()

    def is_out(self, kind: Outage) -> bool:
        return kind in self.out

    def _begin_outages(self) -> None:
        now = self.clock.now()
        self.out = {kind: end for kind, end in self.out.items() if end > now}
        if self.is_out("model"):
            script(self.folder / "script.json", {"error": "permanent", "message": "the server is down", "times": 0})
        else:
            script(self.folder / "script.json", "Done, as you asked.", after="Done, as you asked.")
        self.put("VAULT_AGENT_SPEND__DAILY_TOKENS", "0" if self.is_out("spend") else "100000000")

    def add(self, kind: Kind) -> None:
        """A new duty, made by its person's words, by a model's, or by hand in an editor."""
        number, now = len(self.duties), self.clock.now()
        token = f"duty{number:04}x"
        minutes = self.random.choice([5, 30, 90, 600, 1_500, 5_000])
        at = (now + timedelta(minutes=minutes)).replace(second=0, microsecond=0)
        words = self.random.choice(["Remind me to see to {}", "提醒我处理 {}", "Time to leave for {}", "交房租 {}"])
        text = f"Sum up {token}." if kind == "job" else words.format(token)
        on: Any = {"at": at.replace(tzinfo=None)} if kind in ("once", "job") else {"cron": _cron(kind, at)}
        is_reminder = kind != "job"
        path = f"jobs/{token}.md"
        if kind in ("once", "job") and self.random.random() < 0.3:
            when = f'at: "{at:%Y-%m-%d %H:%M}"' if "at" in on else f'cron: "{on["cron"]}"'
            header = f"type: job\non: {{{when}}}\ntimezone: UTC\n" + ("remind: true\n" if is_reminder else "")
            write(self.root / path, f"---\n{header}---\n{text}\n")
        else:
            fields = {"on": on, "timezone": "UTC", **({"remind": True} if is_reminder else {})}
            made = make_job(self.workspace.vault, token, text, fields, "dynamic", now)
            path = made.job.path
            with self.workspace.vault.transaction("a job", Stamp("human")) as change:
                change.create(path, made.data)
        self.duties.append(Duty(token, kind, path, at, now))
        self.counts[kind] += 1
        if self.jobs is not None and self.random.random() < 0.7:
            self.turn()  # the system's hint about the file

    def end_duty(self, duty: Duty) -> None:
        """Its person deletes it; what it owes while no daemon runs is over."""
        duty.is_gone = True
        if self.jobs is None or self.clock.now() - self.up_since < SOON:
            self.dues = {name: due for name, due in self.dues.items() if due.seen or due.duty is not duty}
        (self.root / duty.path).unlink()

    # one process

    def boot(self) -> None:
        """A daemon starts."""
        workspace, clock = self.workspace, self.clock
        channel = DailyNote(workspace.vault, clock.now, daily, "en")
        limits = limits_of(workspace.settings.attention)
        ledger, lock = open_ledger(workspace), workspace.vault.private_folder / "sending.lock"
        channels: Mapping[str, Channel] = {"mail": Mailbox(self), "daily": channel}
        self.outbox = Outbox(
            ledger, clock, lambda: limits, lambda: channels, "en", lock, lambda event: None, str, lambda path: ()
        )
        pool = AtOnce(clock)
        self.turns = TurnsToGiveBack(pool, FlakyClaims(workspace.vault, this_machine(workspace), year=self))
        self.jobs = Jobs(
            workspace,
            pool,
            self._open_runs(),
            self.turns,
            self.procedures,
            Asleep(),
            self._notify,
            lambda: "the model's key is missing" if self.is_out("key") else "",
            lambda: frozenset(),
        )
        self.up_since = clock.now()
        self._survive(lambda: self.jobs.start(None) if self.jobs else None)
        self._survive(lambda: self.turns.start(DaemonStarted("")))

    def stop(self, *, by_kill: bool = False) -> None:
        """The daemon ends, in order or not."""
        if self.jobs is not None and not by_kill:
            self._survive(self.jobs.close)
        self.jobs = self.outbox = None

    def _open_runs(self) -> OpenRuns:
        return lambda: opened_runs(reload_settings(self.workspace))

    def _notify(self, notice: NoticeRaised, id: str) -> None:
        self.kill_in -= 1
        if self.kill_in == 0 and self.random.random() < 0.5:
            raise Killed
        assert self.outbox is not None
        self.outbox.take(notice, id)
        if self.kill_in == 0:
            raise Killed

    def _survive(self, work: Callable[[], object]) -> None:
        """Do what a process does; if it is killed in the middle, another one starts."""
        try:
            work()
        except Killed:
            self.counts["kill"] += 1
            self.jobs = self.outbox = None
            self.boot()

    def turn(self) -> None:
        """One turn of the daemon, and what its person sees after it."""
        self._note_due(self.clock.now())
        self._survive(self._turn)
        self._look()

    def _turn(self) -> None:
        if self.jobs is not None and self.outbox is not None:
            self.jobs.turn(self.clock.monotonic())
            self.turns.turn(self.clock.monotonic())
            self.outbox.review()
            self.outbox.deliver(never)

    @property
    def is_busy(self) -> bool:
        """True while something is on its way, so that a turn comes soon."""
        return self.jobs is not None and bool(self.jobs.runs)

    # time

    def pass_time(self, minutes: float) -> None:
        """Let time pass with turns at the times of duties and in between."""
        end = self.clock.elapsed + minutes * 60
        while self.clock.elapsed < end:
            now = self.clock.now()
            soon = [at for duty in self._alive() for at in duty.due(now, now + timedelta(hours=6))]
            pause = self.random.choice([60, 300, 1_800] if self.is_busy else [600, 3_600, 9_000])
            until_due = min(((at - now).total_seconds() + 1 for at in soon), default=pause)
            self.clock.advance(max(1.0, min(pause, until_due, end - self.clock.elapsed)))
            self._begin_outages()
            self.turn()

    def _alive(self) -> Iterator[Duty]:
        return (each for each in self.duties if not each.is_gone)

    def _note_due(self, now: datetime) -> None:
        for duty in self._alive():
            for at in duty.due(now - timedelta(days=20), now):
                if (duty.token, at) not in self.dues:
                    self.dues[duty.token, at] = Due(duty, at)

    # what a person sees

    def _look(self) -> None:
        """Take in what is new in the day's notes, and judge what is due."""
        now = self.clock.now()
        for day in (now.date(), now.date() - timedelta(days=1)):
            path = self.root / f"daily/{day}.md"
            for block in re.split(r"\n(?=#{2,3} )", path.read_text("utf-8")) if path.exists() else ():
                if block not in self._blocks:
                    self._blocks.add(block)
                    self._see(now, block)
        is_settled = self.jobs is not None and now - self.up_since >= SOON
        for due in [each for each in self.dues.values() if not each.seen and now - each.at >= SOON]:
            if is_settled and due.duty.token not in self._status():
                self.problems.append(f"{due.name} is unheard at {now}")
                due.seen.append((now, "comes late (counted)"))

    def see_message(self, message: Message) -> None:
        """A channel shows a message."""
        now = self.clock.now()
        self.shown.append((now, message))
        self._see(now, f"{message.title}\n{message.text}")

    def _see(self, now: datetime, words: str) -> None:
        named = WAS_FOR.search(words)  # what comes late for one day says nothing of the next
        until = datetime.fromisoformat(named[1]).replace(tzinfo=now.tzinfo) if named else now
        for token in set(re.findall(r"duty\d{4}x", words)):
            for due in (each for (name, _), each in self.dues.items() if name == token and each.at <= until):
                if not due.seen:
                    self._judge(due, now, words)
                due.seen.append((now, words))

    def _judge(self, due: Due, now: datetime, words: str) -> None:
        """Add to `problems` what comes late without a word."""
        lateness = now - due.at
        says_late = SAYS_LATE.search(words) is not None
        self.counts["late" if lateness > LATE else "on time"] += 1
        if lateness > LATE and not says_late:
            self.problems.append(f"{due.name} does not say at {now} that it is late")
        if lateness < timedelta(minutes=1) and "comes late" in words:
            self.problems.append(f"{due.name} says at {now} that it is late")

    def _status(self) -> str:
        jobs, notices, now = jobs_status(self.workspace), notices_status(self.workspace), self.clock.now()
        lines = [*format_jobs_status(jobs, now, True), *format_notices_status(notices)]
        return "\n".join([*lines, self.jobs.problem if self.jobs is not None else ""])

    def check(self) -> None:
        """Add to `problems` what was not heard at the end, was not done, or came twice by a channel that takes all."""
        messages = Counter(message.id for _, message in self.shown if not message.again)
        self.problems += [f"{id} was shown {count} times" for id, count in messages.items() if count > 1]
        for due in self.dues.values():
            told = [words for _, words in due.seen]
            if not told:
                self.problems.append(f"{due.name} is unheard")
            elif due.duty.kind == "job":
                if not any("Done, as you asked" in words or NOT_AGAIN in words for words in told):
                    self.problems.append(f"{due.name} is neither done nor given up")
            elif not any(due.duty.token in f"{each.title} {each.text}" and at >= due.at for at, each in self.shown):
                self.problems.append(f"{due.name} never came by the channel")

    def live(self, days: int, duties_a_day: float = 2.0) -> None:
        """All of it, and eight quiet days in the end."""
        self.boot()
        end = self.clock.elapsed + days * 86_400
        while self.clock.elapsed < end:
            self._happen(duties_a_day)
            self.pass_time(self.random.choice([30, 120, 360]))
        self.out.clear()
        if self.jobs is None:
            self.boot()
        for duty in [each for each in self._alive() if each.kind in ("daily", "weekly")]:
            self.end_duty(duty)
        self.pass_time(8 * 24 * 60)
        self.stop()
        self.check()

    def _happen(self, duties_a_day: float) -> None:
        """What people and machines do within some hours; what was to be done once long ago is cleared away."""
        chance = self.random.random
        over = self.clock.now() - timedelta(days=12)
        for duty in [each for each in self._alive() if each.kind in ("once", "job") and each.at < over]:
            self.end_duty(duty)
        if chance() < duties_a_day / 8:
            recurring = [each for each in self._alive() if each.kind in ("daily", "weekly")]
            if len(recurring) > 4:
                self.end_duty(self.random.choice(recurring))
            self.add(self.random.choice(["once", "once", "once", "daily", "weekly", "job", "job"]))
        for kind, longest in LONGEST.items():
            if not self.is_out(kind) and chance() < 0.04:
                self.fail(kind, self.random.uniform(0.2, longest))
        self._daemon(chance())
        if chance() < 0.05:
            self.kill_in = self.random.choice([1, 2])
        if chance() < 0.04:
            self.counts["jump"] += 1
            self.clock.jumped += self.random.choice([120, 4_000, 30_000, 100_000, -50, -900, -5_000])

    def _daemon(self, chance: float) -> None:
        if self.jobs is None:
            if chance < 0.4:
                self.boot()
        elif chance < 0.04:
            self.counts["stop"] += 1
            self.stop(by_kill=chance < 0.02)


@dataclass(frozen=True)
class Mailbox:
    """A channel that shows its messages to the person, or fails."""

    year: Year
    name: str = "mail"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        if self.year.is_out("channel"):
            raise Retryable("the mail server does not answer")
        self.year.see_message(message)
        return f"shown {len(self.year.shown)}"


class FlakyClaims(Claims):
    """Claims whose remote is away at times."""

    def __init__(self, *arguments: Any, year: Year) -> None:
        super().__init__(*arguments)
        self.year = year

    def take(self, what: str, seconds: float) -> Claim | None:
        self._ask()
        return super().take(what, seconds)

    def renew(self, claim: Claim, seconds: float) -> Claim | None:
        self._ask()
        return super().renew(claim, seconds)

    def _ask(self) -> None:
        if self.year.is_out("network"):
            raise RemoteUnreachable("the remote does not answer")


def _cron(kind: Kind, at: datetime) -> str:
    return f"{at.minute} {at.hour} * * {at.isoweekday() % 7 if kind == 'weekly' else '*'}"
