"""An outbox with a fake channel and a clock of the test."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.attention.outbox import Outbox
from agent.attention.quiet import parse_quiet
from agent.attention.receipts import NoticeLedger
from agent.attention.rules import Limits
from agent.events.notices import NoticeRaised
from agent.llm.messages import never
from agent.records.database import Records
from tests.attention.channels import FakeChannel
from tests.fakes import FakeClock

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def limits(quiet: str = "22-8", daily: int = 5, minutes: float = 30, least: float = 0.6) -> Limits:
    return Limits(daily, timedelta(minutes=minutes), parse_quiet(quiet, UTC), least, 0.1, frozenset({"loud"}))


def a_notice(title: str = "The roof leaks", priority: float = 0.8, type: str = "roof", **more: object) -> NoticeRaised:
    return NoticeRaised(type, priority, title, **more)  # type: ignore[arg-type]


@dataclass
class Desk:
    """A ledger in a folder, the channels, and the outbox over them; `restarted` is the next process."""

    folder: Path
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOON))
    limits: Limits = field(default_factory=limits)
    fake: FakeChannel = field(default_factory=FakeChannel)
    daily: FakeChannel = field(default_factory=lambda: FakeChannel("daily"))
    events: list[object] = field(default_factory=list)
    masked: Callable[[str], str] = str

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.ledger = NoticeLedger(Records(self.folder, durable=False), self.clock)
        self.outbox = Outbox(
            self.ledger,
            self.clock,
            lambda: self.limits,
            lambda: {self.fake.name: self.fake, "daily": self.daily},
            "en",
            self.folder / "sending.lock",
            self.events.append,
            self.masked,
            lambda path: (),
        )

    def take(self, notice: NoticeRaised) -> str:
        """Take a notice in; returns the id."""
        return self.outbox.take(notice).id

    def turn(self) -> None:
        """One turn of whoever tends it."""
        self.outbox.review()
        self.outbox.deliver(never)

    def at(self, moment: datetime) -> None:
        """Move the clock."""
        self.clock.elapsed = (moment - self.clock.start).total_seconds()

    @property
    def titles(self) -> list[str]:
        return [each.title for each in self.fake.shown]
