"""Fakes written by hand; each satisfies the Protocol of what it stands for."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


@dataclass
class FakeClock:
    """Time that moves only when somebody sleeps or calls `advance`; ids count up and keep ULID's shape and order."""

    start: datetime = datetime(2026, 11, 21, 14, 12, 0, tzinfo=UTC)
    elapsed: float = 0.0
    ids: int = 0
    slept: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return self.elapsed

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.elapsed += seconds

    def advance(self, seconds: float) -> None:
        self.elapsed += seconds

    def new_id(self) -> str:
        self.ids += 1
        return f"01HZZZZZZZ{self.ids:016d}"
