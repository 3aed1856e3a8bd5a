"""A year of a computer with forty jobs: it sleeps, is switched off, its clock is set, notes are edited, and processes
are killed within any write. `World` keeps its own list of what ought to happen; it never asks the planner.

An occurrence is *passed* when the wall clock goes over it while its job counts. Each one must run once, or stand in a
report with a reason; one that was passed with a process looking must run, if no kill came between.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from agent.records.database import Records
from agent.schedule.first_seen import first_seen_table
from agent.schedule.job import Job
from agent.schedule.ledger import OccurrenceLedger, Step, split_key
from agent.schedule.occurrences import zone_of
from agent.schedule.planner import Due, Planned, Planner
from tests.schedule.brute import ZoneMinutes, every_minutes
from tests.schedule.plans import job_of

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
CRONS = (
    *("30 2 * * *", "0 2 * * *", "0 9 * * 1-5", "0 20 * * *", "15,45 2 * * 0", "0 9 1 * *", "0 */6 * * *"),
    *("*/30 2 * * *", "30 1,14 * * *", "0 0 * * *", "59 23 * * *", "0 9 13 * 5", "45 3 * * 1", "5 1-4 * * *"),
)
GRACE = 60


class Killed(BaseException):
    """The process is gone."""


class KillableLedger(OccurrenceLedger):
    """A ledger whose process is killed at its n-th line from now: before or after it."""

    kill_at = -1
    is_after = False

    def _append(self, step: Step, key: str, at: datetime, outcome: str = "", reason: str = "") -> None:
        self.kill_at -= 1
        if self.kill_at != 0 or self.is_after:
            super()._append(step, key, at, outcome, reason)
        if self.kill_at == 0:
            raise Killed


@dataclass
class Version:
    """A job as its note says it for a while; `times` are all its occurrences (seconds), `since` when it began."""

    job: Job
    times: list[int]
    since: float

    def passed(self, start: float, end: float) -> list[int]:
        start = max(start, self.since)
        return self.times[bisect_right(self.times, start) : bisect_right(self.times, end)]

    def is_active(self, at: int) -> bool:
        return datetime.fromtimestamp(at, self.job.zone).weekday() in self.job.active_days


@dataclass
class World:
    folder: Path
    start: datetime
    days: int
    seed: int
    jobs: int = 40
    kills: int = 200
    versions: dict[str, Version] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.now, self.awake = self.start.timestamp(), 1000.0
        end = self.start + timedelta(days=self.days + 40)
        self.minutes = {name: ZoneMinutes(zone_of(name), self.start, end) for name in ZONES}
        self.end = end
        self.known: dict[str, list[int]] = {}
        self.seen_until = self.now
        self.is_looking = False
        self.runs: Counter[tuple[str, int]] = Counter()
        self.passed: dict[tuple[str, int], str] = {}
        """How each occurrence was passed: `awake` (must run), `late` (missed), `unclear` (a kill came between)."""
        self.accounted: set[tuple[str, int]] = set()
        self.reported: set[tuple[str, int]] = set()
        self.left: dict[str, set[int]] = {}
        """The occurrences of each job that were passed and not accounted for."""
        self.idle_days: set[tuple[str, int]] = set()
        """The occurrences on days on which their job does not run."""
        self.begun: set[tuple[str, int]] = set()
        for number in range(self.jobs):
            self.edit(f"job{number}")

    # what people and the machine do

    def edit(self, name: str) -> None:
        """A new schedule for a job, from now on."""
        header, times = self._schedule()
        job = job_of(header, name)
        before = self.versions.get(name)
        if before is not None and before.times == times and before.job.zone_name == job.zone_name:
            return
        self.versions[name] = Version(job, times, max(self.now, self.seen_until))
        self.left.setdefault(name, set())

    def _schedule(self) -> tuple[str, list[int]]:
        zone = self.random.choice(ZONES)
        extra = self.random.choice(["", "\ncatch_up: once", "\nactive_days: [0, 1, 2, 3, 4]"])
        if self.random.random() < 0.2:
            hours = self.random.choice([5, 12, 24, 36])
            header = f"on: {{every: {hours}h}}\ncreated: 2026-01-01T03:07:00Z"
            anchor = datetime(2026, 1, 1, 3, 7, tzinfo=UTC)
            times = [int(at.timestamp()) for at in every_minutes(hours * 3600, anchor, self.start, self.end)]
        else:
            cron = self.random.choice(CRONS)
            header = f"on: {{cron: '{cron}'}}"
            times = self.known.setdefault(f"{zone} {cron}", self.minutes[zone].times(cron))
        return f"{header}\ntimezone: {zone}{extra}", times

    def boot(self) -> None:
        """A process starts; runs that a kill has interrupted are written down."""
        self.ledger = KillableLedger(Records(self.folder, durable=False))
        first_seen = first_seen_table(Records(self.folder, durable=False))
        self.planner = Planner(self.ledger, first_seen, (*range(7),), lambda: zone_of("UTC"))
        self.set_jobs()
        for key in self.ledger.open():
            self.ledger.end(key, "interrupted", self.moment)
            self._account(key)
            self.counts["interrupted"] += 1
        self.is_looking = False

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)

    def set_jobs(self) -> None:
        self.planner.set_jobs([each.job for each in self.versions.values()], self.moment)

    # one look, and what ought to come of it

    def look(self, *, is_jump: bool = False) -> None:
        is_late = is_jump or not self.is_looking
        if self.now < self.seen_until - GRACE:
            self._go_back()
        for name, version in self.versions.items():
            for at in version.passed(self.seen_until, self.now):
                must_run = not is_late or at > self.now - GRACE
                self.passed[name, at] = "awake" if must_run else "late"
                if not version.is_active(at):
                    self.idle_days.add((name, at))
                if (name, at) not in self.accounted:
                    self.left[name].add(at)
        self.seen_until = max(self.seen_until, self.now)
        try:
            self.is_looking = True
            for each in self.planner.look(self.moment, self.awake):
                self._decide(each, "the computer was asleep" if is_jump else "the daemon was off")
        except Killed:
            self.counts["kill"] += 1
            for name, left in self.left.items():
                self.passed.update(dict.fromkeys(((name, at) for at in left), "unclear"))
            self.pass_time(self.random.choice([1, 5, 100, 4_000, 30_000]))
            self.boot()
            self.look()

    def _go_back(self) -> None:
        """What is later than now is still to come; what ran there does not run again."""
        self.counts["set back"] += 1
        self.seen_until = self.now
        later = {each for each in self.accounted if each[1] > self.now and not self.runs[each]}
        self.accounted -= {each for each in later if each not in self.begun}
        for left in self.left.values():
            left -= {at for at in left if at > self.now}
        for version in self.versions.values():
            version.since = min(version.since, self.now)

    def _decide(self, planned: Planned, why: str) -> None:
        if isinstance(planned, Due):
            self._run(planned)
            return
        name, first, last = planned.job.id, split_key(planned.first.key)[1], split_key(planned.last.key)[1]
        is_skip = planned.outcome == "skipped"
        there = {at for at in self.left[name] if first <= at <= last and ((name, at) in self.idle_days) == is_skip}
        if len(there) != planned.count:
            self.problems.append(f"{name}: {planned.outcome} {planned.count} of {len(there)} at {self.moment}")
        right = "not one of its active days" if is_skip else why
        if not planned.reason.startswith(right):
            self.problems.append(f"{name}: {planned.reason} is not {right}")
        unasked = [at for at in there if self.passed[name, at] == "awake"]
        if unasked and not is_skip:
            self.problems.append(f"{name}: {len(unasked)} were left out although somebody was looking")
        self.reported |= {(name, at) for at in there}
        try:
            self.ledger.decide(planned.last.key, planned.outcome, self.moment, planned.reason)
        except Killed:
            if self.ledger.is_after:  # the line is on disk
                self.left[name] -= there
                self.accounted |= {(name, at) for at in there}
            raise
        self.left[name] -= there
        self.accounted |= {(name, at) for at in there}
        self.counts[planned.outcome] += planned.count

    def _run(self, due: Due) -> None:
        name, at = split_key(due.occurrence.key)
        if (name, at) not in self.passed:
            self.problems.append(f"{due.occurrence.key} runs although it was not passed")
        stood = {each for each in self.left[name] if each <= at and (name, each) not in self.idle_days}
        if due.stands_for > 1 and len(stood) != due.stands_for:
            self.problems.append(f"{due.occurrence.key} stands for {due.stands_for} of {len(stood)}")
        self.ledger.begin(due.occurrence.key, self.moment)
        self.runs[name, at] += 1
        covered = stood if due.stands_for > 1 else {at}
        self.left[name] -= covered
        self.accounted |= {(name, each) for each in covered}
        self.reported |= {(name, each) for each in covered}
        self.ledger.end(due.occurrence.key, "done", self.moment)
        self.counts["run"] += 1

    def _account(self, key: str) -> None:
        name, at = split_key(key)
        self.begun.add((name, at))
        decision = next(each for each in self.ledger.decisions(name) if each.key == key)
        first = decision.first.timestamp() if decision.first else at
        covered = {each for each in self.left[name] if first <= each <= at and (name, each) not in self.idle_days}
        self.left[name] -= covered
        self.accounted |= {(name, each) for each in (*covered, at)}
        self.reported |= {(name, each) for each in (*covered, at)}

    # the year

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.awake += seconds

    def live(self) -> None:
        """All of it: mostly slow ticks, and the rest in turn."""
        begin, kills = self.start.timestamp(), 0
        end = begin + self.days * 86_400
        self.boot()
        self.look()
        while self.now < end:
            chance = self.random.random()
            if kills < self.kills and self.now - begin > (kills + 0.5) * (end - begin) / self.kills:
                kills += 1
                self.ledger.kill_at = self.random.choice([1, 1, 2, 3])
                self.ledger.is_after = self.random.choice([False, True])
            if chance < 0.005:
                self.now += self.random.choice([90, 3_600, 30_000, 200_000])  # asleep, or set forward
                self.look(is_jump=True)
            elif chance < 0.006:
                self.now -= self.random.choice([700, 4_000, 100_000])
                self.look()
            elif chance < 0.02:
                self.now += self.random.choice([-40, -3, 20, 40])
                self.look()
            elif chance < 0.025:
                self.ledger.kill_at = -1
                self.ledger.close()
                self.pass_time(self.random.choice([3, 300, 40_000, 300_000]))
                self.boot()
                self.look()
            elif chance < 0.03 and self.now >= self.seen_until:
                self.edit(f"job{self.random.randrange(self.jobs)}")
                self.set_jobs()
            elif chance < 0.035:  # other words, the same schedule
                name = f"job{self.random.randrange(self.jobs)}"
                self.versions[name].job = replace(self.versions[name].job, text=f"Words {chance}", digest=f"{chance}")
                self.set_jobs()
            else:
                self.pass_time(self.random.choice([5, 60, 300, 900, 1_800]))
                self.look()

    def check(self) -> None:
        """Add to `problems` what ran twice, what is silent, and what did not run although it ought to have."""
        self.problems += [f"{each} ran {count} times" for each, count in self.runs.items() if count > 1]
        for (name, at), how in self.passed.items():
            waits = (name, at) in self.idle_days and at > self.now - 9 * 86_400
            if not waits and (name, at) not in self.accounted and (name, at) not in self.reported:
                self.problems.append(f"{name} at {at} was passed ({how}) and is silent")
