"""What is due, missed or left out now. Starts nothing: the caller runs what is due and writes down what came of it.

Begin at `Planner.look`. An occurrence is missed if nobody was looking at its time: the daemon was off, the computer
slept or its clock was set forward. Everything that `look` returns is offered again after a kill until the ledger has a
decision about it, so that nothing is lost and nothing runs twice. After a clock was set back, the times from then on
come again; those that have run do not. A reminder is never left out because it is late.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import groupby
from math import inf
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from agent.dataclass import dataclass
from agent.records.table import Table
from agent.schedule.first_seen import FirstSeen, see
from agent.schedule.job import Job
from agent.schedule.ledger import OccurrenceLedger, OccurrenceOffer, SpanKind, split_key
from agent.schedule.next_try import may_make_up
from agent.schedule.occurrences import Occurrence, machine_zone, next_times, zone_of
from agent.texts import Sentence

GRACE = timedelta(seconds=60)
"""How late an occurrence is found and still runs after a start or a sleep, and the least jump of a clock that counts:
a restart takes seconds, and time servers correct a clock by less."""
_ZONE_CHECK = 60.0
"""Seconds after which the machine's zone is looked up again."""
_LONGEST_SKIP = timedelta(days=8)
"""The time after which skipped occurrences are reported even if no active day has come."""
LeftOutcome: TypeAlias = Literal["missed", "skipped"]
_OFF = Sentence("the daemon was off")
_ASLEEP = Sentence("the computer was asleep, or its clock was set forward")
_OVER = Sentence("its time was over when the note was first seen, or while the job was paused")
_INACTIVE = Sentence("not one of its active days")


@dataclass(frozen=True, slots=True)
class Due:
    """An occurrence whose run begins now; it stands for `stands_for` ones, itself included."""

    job: Job
    occurrence: Occurrence
    stands_for: int = 1


@dataclass(frozen=True, slots=True)
class LeftOut:
    """`count` occurrences of a job that do not run, and why. The decision about `last` stands for all of them."""

    job: Job
    first: Occurrence
    last: Occurrence
    count: int
    outcome: LeftOutcome
    reason: str


Planned: TypeAlias = Due | LeftOut


@dataclass(slots=True)
class _Stretch:
    """Occurrences of one job that are reported together."""

    first: datetime
    last: datetime
    count: int


@dataclass(slots=True)
class _Course:
    """The times of one job that are still to come: `ahead` is the next one."""

    job: Job
    zone: ZoneInfo
    times: Iterator[datetime]
    ahead: datetime | None = None
    skipped: _Stretch | None = None


@dataclass(slots=True)
class Planner:
    """The plan of all jobs of a vault on this machine. `table` has since when each counts, `days` the days on which
    jobs run at all, `zone_now` is the zone of jobs that name none."""

    ledger: OccurrenceLedger
    table: Table[dict[str, FirstSeen]]
    days: tuple[int, ...]
    zone_now: Callable[[], ZoneInfo] = machine_zone
    _seen: dict[str, FirstSeen] = field(default_factory=dict, init=False)
    _is_damaged: bool = field(default=False, init=False)
    _courses: dict[str, _Course] = field(default_factory=dict, init=False)
    _reports: list[Planned] = field(default_factory=list, init=False)
    _queue: list[tuple[float, str]] = field(default_factory=list, init=False)
    _until: datetime | None = field(default=None, init=False)
    _last: tuple[datetime, float] | None = field(default=None, init=False)
    _zone: ZoneInfo = field(init=False)
    _zone_checked: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._zone = self.zone_now()
        seen = self.table.get()
        self._seen, self._is_damaged = seen or {}, seen is None and self.table.has()

    def set_jobs(self, jobs: Sequence[Job], now: datetime) -> None:
        """The jobs as they are now, also after an edit; of two with the same id the one with the first path counts.

        A job that is new, has another schedule or is active again counts from now.
        """
        now = now.astimezone(UTC)
        by_id = {job.id: job for job in sorted(jobs, key=lambda job: job.path, reverse=True)}
        seen = {job.id: self._first_seen(job, now) for job in by_id.values()}
        changed = {job for job, found in seen.items() if self._seen.get(job) != found}
        new = seen.keys() - self._seen.keys()
        is_news = seen != self._seen or self._is_damaged
        self._seen, self._is_damaged = seen, False
        if is_news:
            self._save()
        self._renew_courses(by_id, changed, new, now)

    def _first_seen(self, job: Job, now: datetime) -> FirstSeen:
        """Since when a job counts; after damage since the last look: rather too many missed times than a silent one."""
        found, is_known = see(job, self._seen.get(job.id), now), job.id in self._seen
        unknown = self.ledger.looked if self._is_damaged and not is_known else None
        return FirstSeen(unknown, found.schedule) if unknown else found

    def _renew_courses(self, jobs: Mapping[str, Job], changed: Set[str], new: Set[str], now: datetime) -> None:
        """Drop the courses of jobs that are gone or do not run, and begin those that are new or have changed."""
        for gone in [job for job in self._courses if not _runs(jobs.get(job))]:
            self._drop(self._courses.pop(gone))
        for job in jobs.values():
            course = self._courses.get(job.id)
            if course is not None and job.id not in changed:
                course.job = job
            elif _runs(job):
                self._start_course(job, now, is_new=job.id in new)

    def look(self, now: datetime, monotonic: float) -> tuple[Planned, ...]:
        """The occurrences since the last look, by time and then by priority."""
        now = now.astimezone(UTC)
        is_first, late = self._last is None, self._why_late(now, monotonic)
        self._last = now, monotonic
        found, self._reports = self._reports, []
        last_heard = self.ledger.looked if is_first else self._until
        if last_heard is not None and now < last_heard - GRACE:
            self._go_back(now, is_first=is_first)
        self._follow_zone(monotonic)
        self._until = max(now, self._until or now)
        while self._queue and self._queue[0][0] <= now.timestamp():
            _, job = heappop(self._queue)
            course = self._courses.get(job)
            if course is not None and course.ahead is not None and course.ahead.timestamp() <= now.timestamp():
                found += self._take(course, now, late)
                self._enqueue(course)
        found += self._moments_over(now)
        found += self._held_before_edit() if is_first else ()
        found += self._skips_over(now)
        self.ledger.look_at(now, has_news=bool(found))
        return tuple(sorted(found, key=lambda each: (_time(each), -each.job.priority)))

    def seconds_left(self, now: datetime) -> float:
        """The seconds until the next occurrence; 0 if it is over."""
        return max(0.0, self._queue[0][0] - now.timestamp()) if self._queue else inf

    def _why_late(self, now: datetime, monotonic: float) -> Sentence | None:
        """Why occurrences that are older than `GRACE` were missed; None if somebody was looking."""
        if self._last is None:
            return _OFF
        before, then = self._last
        return _ASLEEP if (now - before) - timedelta(seconds=monotonic - then) > GRACE else None

    def _start_course(self, job: Job, now: datetime, *, is_new: bool) -> None:
        """Follow a job from when it counts, or from where the last process or look stopped, if that knew it."""
        since, until = self._seen[job.id].since, self._until or self.ledger.looked
        if until is not None and not (is_new and job.remind):
            since = max(since, until)
            held = [each.first for each in self.ledger.held.get(job.id, ())]
            if self._last is None and held:
                since = min(since, max(min(held) - timedelta(seconds=1), self._seen[job.id].since))
        old = self._courses.get(job.id)
        if old is not None:  # what was skipped belongs to the schedule before
            old.job = job
            self._reports += self._report_skipped(old)
        self._follow(job, min(since, now))

    def _follow(self, job: Job, after: datetime) -> None:
        zone = zone_of(job.zone_name) if job.zone_name else self._zone
        course = _Course(job, zone, next_times(job.triggers, zone, after, job.created))
        old = self._courses.get(job.id)
        course.skipped = old.skipped if old else None
        course.ahead = next(course.times, None)
        self._courses[job.id] = course
        self._enqueue(course)

    def _drop(self, course: _Course) -> None:
        """Forget the skipped occurrences that were collected."""
        if course.skipped is not None:
            self.ledger.withdraw(Occurrence(course.job.id, course.skipped.last).key)
            course.skipped = None

    def _enqueue(self, course: _Course) -> None:
        if course.ahead is not None:
            heappush(self._queue, (course.ahead.timestamp(), course.job.id))

    def _go_back(self, now: datetime, *, is_first: bool) -> None:
        """The clock was set back: what is later than now is still to come. Skipped occurrences are collected anew. At
        the first look all courses begin at now or before, with what the last process held."""
        self.ledger.set_back(now)
        self._until = now
        if any(seen.since > now for seen in self._seen.values()):
            self._seen = {job: replace(seen, since=min(seen.since, now)) for job, seen in self._seen.items()}
            self._save()
        for course in () if is_first else [*self._courses.values()]:
            first = course.skipped.first.astimezone(UTC) - timedelta(seconds=1) if course.skipped else now
            self._drop(course)
            self._follow(course.job, min(first, now))

    def _follow_zone(self, monotonic: float) -> None:
        """Jobs without a zone of their own have the machine's, also after it has changed."""
        if monotonic < self._zone_checked + _ZONE_CHECK:
            return
        self._zone_checked = monotonic
        zone = self.zone_now()
        if zone.key != self._zone.key and self._until is not None:
            self._zone = zone
            for course in [*self._courses.values()]:
                if not course.job.zone_name:
                    self._follow(course.job, self._until)

    def _take(self, course: _Course, now: datetime, late: Sentence | None) -> Iterator[Planned]:
        """The occurrences of one job up to now; `ahead` is later than now afterwards."""
        job, missed, due = course.job, None, list[datetime]()
        boundary = (now - GRACE).timestamp() if late else 0.0
        for times, is_active in self._days_of(course, now):
            if is_active:
                count = bisect_right(times, boundary, key=datetime.timestamp)
                missed = _joined(missed, times[:count])
                due += times[count:]
            else:
                self._skip(course, times)
        is_active = self._is_active(job, now.astimezone(course.zone))
        if missed is not None and (job.remind or (job.catch_up == "once" and is_active)):
            at, count = (due.pop(0), missed.count + 1) if due else (missed.last, missed.count)
            yield self._offer(Due(job, Occurrence(job.id, at), count), missed.first)
        elif missed is not None and late is not None:
            yield self._offer(_left_out(job, missed, "missed", late), missed.first)
        for at in due:
            yield self._offer(Due(job, Occurrence(job.id, at)), at)

    def _days_of(self, course: _Course, now: datetime) -> Iterator[tuple[list[datetime], bool]]:
        """The times up to now about which nothing was decided, for each day of the job's zone, and whether the job runs
        on that day."""
        job = course.job.id
        for _, times in groupby(_up_to(course, now.timestamp()), key=datetime.date):
            day = list(times)
            is_active = self._is_active(course.job, day[0])
            if not self.ledger.is_untouched(job, day[0], day[-1]):
                kind: SpanKind = "run" if is_active else "inactive"
                keys = {Occurrence(job, at).key: at for at in day}
                left = (key for key in keys if not self.ledger.has(key, kind) and not self.ledger.is_offered(key))
                day = [keys[key] for key in left]
            if day:
                yield day, is_active

    def _offer(self, planned: Planned, first: datetime) -> Planned:
        if isinstance(planned, Due):
            self.ledger.offer(planned.occurrence.key, first, count=planned.stands_for)
        else:
            kind: SpanKind = "inactive" if planned.outcome == "skipped" else "run"
            self.ledger.offer(planned.last.key, first, kind, planned.count)
        return planned

    def _skip(self, course: _Course, times: list[datetime]) -> None:
        """Collect occurrences on days on which the job does not run, to report them in one."""
        if course.skipped is not None:
            self.ledger.withdraw(Occurrence(course.job.id, course.skipped.last).key)
        course.skipped = _joined(course.skipped, times)
        if course.skipped is not None:
            key = Occurrence(course.job.id, course.skipped.last).key
            self.ledger.offer(key, course.skipped.first, "inactive", course.skipped.count)

    def _held_before_edit(self) -> Iterator[Planned]:
        """The occurrences that waited for a decision when the last process ended, before an edit of the schedule."""
        for job, offers in self.ledger.held.items():
            course = self._courses.get(job)
            since = self._seen[job].since.timestamp() if course is not None else 0.0
            for each in offers:
                is_known = self.ledger.has(each.key, each.kind) or self.ledger.is_offered(each.key)
                if course is not None and not is_known and split_key(each.key)[1] <= since:
                    left = _offered_before(course, each)
                    is_owed = course.job.remind and left.outcome == "missed"
                    yield self._offer(Due(left.job, left.last, left.count) if is_owed else left, each.first)

    def _skips_over(self, now: datetime) -> Iterator[Planned]:
        """The skipped occurrences of jobs that run again today."""
        for course in self._courses.values():
            if course.skipped is not None:
                is_long_ago = now.timestamp() - course.skipped.first.timestamp() > _LONGEST_SKIP.total_seconds()
                if is_long_ago or self._is_active(course.job, now.astimezone(course.zone)):
                    yield from self._report_skipped(course)

    def _report_skipped(self, course: _Course) -> Iterator[Planned]:
        skipped, course.skipped = course.skipped, None
        if skipped is not None:
            yield self._offer(_left_out(course.job, skipped, "skipped", _INACTIVE), skipped.first)

    def _moments_over(self, now: datetime) -> Iterator[Planned]:
        """The moments that were over when their job was first seen."""
        for job, seen in [*self._seen.items()]:
            course = self._courses.get(job)
            if not seen.over or course is None:
                continue
            keys = {Occurrence(job, at).key: at.astimezone(course.zone) for at in seen.over}
            left = [at for key, at in keys.items() if not self.ledger.has(key)]
            if not left:
                self._seen[job] = replace(seen, over=())
                self._save()
            elif not any(map(self.ledger.is_offered, keys)):
                last = Occurrence(job, left[-1])
                is_owed = course.job.remind or may_make_up(course.job, left[-1], now)
                missed = _left_out(course.job, _Stretch(left[0], left[-1], len(left)), "missed", _OVER)
                yield self._offer(Due(course.job, last, len(left)) if is_owed else missed, left[0])

    def _is_active(self, job: Job, at: datetime) -> bool:
        """True if the job runs on the day of this time, which is in the job's zone. A reminder is no work of the
        agent's: it has days of its own only."""
        return at.weekday() in job.active_days and (job.remind or at.weekday() in self.days)

    def _save(self) -> None:
        self.table.put(self._seen)


def _runs(job: Job | None) -> bool:
    return job is not None and job.status == "active"


def _up_to(course: _Course, limit: float) -> Iterator[datetime]:
    """The course's times up to a moment; it is at the next one then."""
    while course.ahead is not None and course.ahead.timestamp() <= limit:
        yield course.ahead
        course.ahead = next(course.times, None)


def _joined(stretch: _Stretch | None, times: list[datetime]) -> _Stretch | None:
    if not times:
        return stretch
    if stretch is None:
        return _Stretch(times[0], times[-1], len(times))
    return _Stretch(stretch.first, times[-1], stretch.count + len(times))


def _left_out(job: Job, stretch: _Stretch, outcome: LeftOutcome, reason: Sentence) -> LeftOut:
    first, last = Occurrence(job.id, stretch.first), Occurrence(job.id, stretch.last)
    return LeftOut(job, first, last, stretch.count, outcome, reason)


def _offered_before(course: _Course, offer: OccurrenceOffer) -> LeftOut:
    last = datetime.fromtimestamp(split_key(offer.key)[1], course.zone)
    stretch = _Stretch(offer.first.astimezone(course.zone), last, offer.count)
    if offer.kind == "inactive":
        return _left_out(course.job, stretch, "skipped", _INACTIVE)
    return _left_out(course.job, stretch, "missed", _OFF)


def _time(planned: Planned) -> float:
    return (planned.occurrence if isinstance(planned, Due) else planned.first).at.timestamp()
