"""What was decided about each occurrence on this machine, outside the vault: at most one run, none forgotten.

A line is on disk before a run begins, so that no kill makes it run again. Occurrences that were offered and not decided
yet are remembered by the heartbeat, so that no kill makes them vanish either. Decisions are kept for `KEPT`; history
for people is in `history`. Safe to use from several threads and processes.
"""

import dataclasses
import threading
from collections.abc import Iterable, Iterator
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Lines, Table
from agent.vault.layout import OCCURRENCES

KEPT = timedelta(days=35)
"""The time for which a decision is kept: longer than the month by which a clock may be wrong."""
HEARTBEAT = timedelta(seconds=60)
"""The least time between two heartbeats on disk."""
_MANY = 20_000
"""Lines after which old ones are left out at the start."""
Step: TypeAlias = Literal["begin", "end", "decide", "back"]
_STEPS: tuple[Step, ...] = get_args(Step)
SpanKind: TypeAlias = Literal["run", "inactive"]
"""A span of occurrences on days on which the job runs, or of those on the other days; the two may overlap."""
_END = "."
"""The last field of each line: a line that a crash cut off has none."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The last state of one occurrence: `began` for a run, `outcome` when it ended or was decided without a run.

    `first`: it also stands for all earlier occurrences of its `kind` from then on.
    """

    key: str
    at: datetime
    outcome: str = ""
    reason: str = ""
    began: datetime | None = None
    first: datetime | None = None
    kind: SpanKind = "run"

    @property
    def is_open(self) -> bool:
        """True for a run that has begun and not ended."""
        return self.began is not None and not self.outcome


@dataclass(frozen=True, slots=True)
class OccurrenceOffer:
    """An occurrence that waits for its decision, which is about `count` ones of its `kind` from `first` on."""

    key: str
    first: datetime
    kind: SpanKind = "run"
    count: int = 1


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Up to when the planner has looked, and what was offered and not decided by then, by job."""

    looked: datetime | None
    held: dict[str, tuple[OccurrenceOffer, ...]]


@dataclass(slots=True)
class _Job:
    """The decisions about one job by the second of their occurrence, and the spans that some of them stand for."""

    decisions: dict[int, Decision] = field(default_factory=dict)
    spans: dict[tuple[int, SpanKind], int] = field(default_factory=dict)
    """The first second of a span by its last one and its kind."""
    latest: int = 0


class OccurrenceLedger:
    """The ledger of one vault. Raises `Permanent` when it cannot be written, `Retryable` while others hold it."""

    def __init__(self, records: Records) -> None:
        self._records, self._lines = records, Lines(records, OCCURRENCES)
        self._heartbeat = Table(records, "heartbeat", Heartbeat, is_flushed=False)
        self._mutex = threading.RLock()
        self._jobs: dict[str, _Job] = {}
        self._offered: dict[str, dict[str, OccurrenceOffer]] = {}
        self.looked: datetime | None = None
        """The last heartbeat; None before the first."""
        self.held: dict[str, tuple[OccurrenceOffer, ...]] = {}
        """The occurrences that were offered and not decided before the last end, by job."""
        self._beaten: datetime | None = None
        with self._mutex:
            self._take_in()
            self._shorten()
            self._load_heartbeat()

    def has(self, key: str, kind: SpanKind = "run") -> bool:
        """True if this occurrence was decided: its run begun, or it was missed or skipped."""
        job, second = split_key(key)
        with self._mutex:
            known = self._jobs.get(job)
            if known is None:
                return False
            spans = ((first, last) for (last, of), first in known.spans.items() if of == kind)
            return second in known.decisions or any(first <= second <= last for first, last in spans)

    def offer(self, key: str, first: datetime, kind: SpanKind = "run", count: int = 1) -> None:
        """Remember that this occurrence, which stands for all of its kind from `first` on, waits for its decision. The
        next heartbeat has it."""
        with self._mutex:
            self._offered.setdefault(split_key(key)[0], {})[key] = OccurrenceOffer(key, first, kind, count)

    def is_offered(self, key: str) -> bool:
        """True if the occurrence waits for its decision."""
        return key in self._offered.get(split_key(key)[0], {})

    def withdraw(self, key: str) -> None:
        """Forget an offer that another one contains."""
        with self._mutex:
            self._take_back(key)

    def begin(self, key: str, at: datetime) -> None:
        """Note that the run begins; on disk when this returns."""
        self._append("begin", key, at)

    def decide(self, key: str, outcome: str, at: datetime, reason: str = "") -> None:
        """Note that there is no run: missed, skipped, done elsewhere."""
        self._append("decide", key, at, outcome, reason)

    def end(self, key: str, outcome: str, at: datetime) -> None:
        """Note the outcome of a run."""
        self._append("end", key, at, outcome)

    def settle(self, key: str, outcome: str, at: datetime, reason: str = "") -> None:
        """Note the outcome of a run that has begun, or why there is none."""
        if key in self.open():
            self.end(key, outcome, at)
        else:
            self.decide(key, outcome, at, reason)

    def set_back(self, now: datetime) -> None:
        """The clock was set back to `now`: what was decided about later times without a run counts no more."""
        self._append("back", "", now)

    def open(self) -> tuple[str, ...]:
        """The occurrences whose runs have begun and not ended, such as those that a kill has interrupted."""
        with self._mutex:
            self._take_in()
            return tuple(each.key for job in self._jobs.values() for each in job.decisions.values() if each.is_open)

    def last_begin(self, job: str) -> datetime | None:
        """The time when the last run of a job began."""
        return max((each.began for each in self.decisions(job) if each.began is not None), default=None)

    def decisions(self, job: str) -> tuple[Decision, ...]:
        """The decisions about a job that are kept, by the time of the occurrence."""
        with self._mutex:
            self._take_in()
            known = self._jobs.get(job)
            return tuple(known.decisions[second] for second in sorted(known.decisions)) if known else ()

    def is_untouched(self, job: str, start: datetime, end: datetime) -> bool:
        """True if nothing was decided about the job's occurrences from `start` to `end`, and none is offered."""
        low, high = start.timestamp(), end.timestamp()
        with self._mutex:
            known = self._jobs.get(job)
            if any(low <= split_key(key)[1] <= high for key in self._offered.get(job, {})):
                return False
            if known is None or known.latest < low:
                return True
            return not (
                any(first <= high and low <= last for (last, _), first in known.spans.items())
                or any(low <= second <= high for second in known.decisions)
            )

    def look_at(self, now: datetime, *, has_news: bool = False) -> None:
        """The heartbeat: the planner has looked at all jobs up to `now`; written at most once a minute, and at once
        with news."""
        self.looked = now
        if has_news or self._beaten is None or abs(now - self._beaten) >= HEARTBEAT:
            self._beat()

    def close(self) -> None:
        """Write the last heartbeat."""
        if self.looked is not None:
            self._beat()

    def _beat(self) -> None:
        with self._mutex:
            self._beaten = self.looked
            held = {job: tuple(offers.values()) for job, offers in self._offered.items()}
            self._heartbeat.put(Heartbeat(self.looked, held))

    def _load_heartbeat(self) -> None:
        """The heartbeat of the last process. After damage it is a day before the last line: what was decided since then
        is known, and what was not is missed rather than forgotten."""
        found = self._heartbeat.get() or Heartbeat(None, {})
        self.looked, self.held = found.looked, found.held
        if self.looked is None:
            every = (each.at for job in self._jobs.values() for each in job.decisions.values())
            latest = max(every, default=None)
            self.looked = latest - timedelta(days=1) if latest else None

    def _append(self, step: Step, key: str, at: datetime, outcome: str = "", reason: str = "") -> None:
        with self._mutex, self._records.transaction():
            self._take_in()
            offer = self._offered.get(split_key(key)[0], {}).get(key) if key else None
            since, kind = (_stamp(offer.first), offer.kind) if offer else ("", "run")
            fields = (_stamp(at), step, key, since, kind, outcome, " ".join(reason.split()), _END)
            self._lines.append("\t".join(fields))
        with self._mutex:
            self._take_in()
            self._take_back(key)

    def _take_back(self, key: str) -> None:
        job = split_key(key)[0] if key else ""
        offers = self._offered.get(job, {})
        offers.pop(key, None)
        if not offers:
            self._offered.pop(job, None)

    def _take_in(self) -> None:
        """Parse the lines that were added since the last time, also by other processes."""
        is_other, lines = self._lines.news()
        if is_other:
            self._jobs = {}
        for line in lines:
            self._take(line)

    def _take(self, line: str) -> None:
        """Apply one line; one that a crash has damaged counts for nothing, as its step had not returned."""
        fields = line.split("\t")
        if len(fields) != 8 or fields[7] != _END or fields[1] not in _STEPS or fields[4] not in get_args(SpanKind):
            return
        stamp, name, key, first_stamp, kind_name, outcome, reason, _ = fields
        step, kind = cast(Step, name), cast(SpanKind, kind_name)
        try:
            at = datetime.fromisoformat(stamp)
            first = datetime.fromisoformat(first_stamp) if first_stamp else None
            job, second = split_key(key) if key else ("", 0)
        except ValueError:
            return
        if step == "back":
            self._forget_after(int(at.timestamp()))
            return
        known = self._jobs.setdefault(job, _Job())
        before = known.decisions.get(second)
        began = at if step == "begin" else before.began if before else None
        if first is None and before is not None:
            first, kind = before.first, before.kind
        known.decisions[second] = Decision(key, at, outcome, reason, began, first, kind)
        known.latest = max(known.latest, second)
        if first is not None and int(first.timestamp()) < second:
            known.spans[second, kind] = int(first.timestamp())

    def _forget_after(self, now: int) -> None:
        for known in self._jobs.values():
            later = [second for second, each in known.decisions.items() if second > now and each.began is None]
            for second in later:
                del known.decisions[second]
            for (last, kind), first in [*known.spans.items()]:
                if last > now:
                    del known.spans[last, kind]
                    if first <= now:
                        known.spans[now, kind] = min(first, known.spans.get((now, kind), first))
                    if last in known.decisions:
                        known.decisions[last] = dataclasses.replace(known.decisions[last], first=None)

    def _shorten(self) -> None:
        """Leave out decisions that are older than `KEPT`, once there are many lines."""
        if self._lines.count <= _MANY:
            return
        with self._records.transaction():
            self._take_in()
            every = [each for job in self._jobs.values() for each in job.decisions.values()]
            oldest = max(each.at for each in every) - KEPT if every else datetime.min.replace(tzinfo=UTC)
            recent = sorted((each for each in every if each.at >= oldest), key=lambda each: each.at)
            self._lines.replace(_lines(recent))
        self._take_in()


def split_key(key: str) -> tuple[str, int]:
    """The job and the second (since 1970) of an occurrence's key; raises `ValueError` for any other text."""
    job, mark, moment = key.rpartition("@")
    if not mark or not moment.endswith("Z"):
        raise ValueError(key)
    return job, int(datetime.fromisoformat(f"{moment[:-1]}+00:00").timestamp())


def _lines(decisions: Iterable[Decision]) -> Iterator[str]:
    for each in decisions:
        first = _stamp(each.first) if each.first else ""
        if each.began is not None:
            yield "\t".join((_stamp(each.began), "begin", each.key, first, each.kind, "", "", _END))
        if each.outcome:
            step = "end" if each.began is not None else "decide"
            yield "\t".join((_stamp(each.at), step, each.key, first, each.kind, each.outcome, each.reason, _END))


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
