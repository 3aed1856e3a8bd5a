"""A planner on a clock that a test moves, and a caller that decides what it is given."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from agent.records.database import Records
from agent.schedule.first_seen import first_seen_table
from agent.schedule.job import Job
from agent.schedule.job_header import parse_job
from agent.schedule.ledger import OccurrenceLedger
from agent.schedule.occurrences import zone_of
from agent.schedule.planner import Due, LeftOut, Planned, Planner


def job_of(header: str, name: str = "night", body: str = "Say hello.") -> Job:
    """The job of a note with this header, active and in UTC unless it says otherwise."""
    zone = "" if "timezone:" in header else "timezone: UTC\n"
    job = parse_job(f"jobs/{name}.md", f"---\ntype: job\n{zone}{header}\n---\n{body}\n".encode())
    assert isinstance(job, Job), job
    return job


def told(planned: Planned) -> str:
    """`due 02:30`, `missed 02:30-04:30 3`, in the job's zone."""
    if isinstance(planned, Due):
        return f"due {planned.occurrence.at:%H:%M}" + (f" for {planned.stands_for}" if planned.stands_for > 1 else "")
    first, last = (f"{each.at:%H:%M}" for each in (planned.first, planned.last))
    return f"{planned.outcome} {first}" + (f"-{last} {planned.count}" if planned.count > 1 else "")


@dataclass
class Plan:
    """One process after another with the same files; `now` and `awake` (monotonic) are the clock."""

    folder: Path
    now: datetime
    awake: float = 1000.0
    days: tuple[int, ...] = tuple(range(7))
    jobs: tuple[Job, ...] = ()
    zone: str = "UTC"
    decides: bool = True
    planned: list[Planned] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """A new process, also after a kill."""
        self.ledger = OccurrenceLedger(Records(self.folder, durable=False))
        first_seen = first_seen_table(Records(self.folder, durable=False))
        self.planner = Planner(self.ledger, first_seen, self.days, lambda: zone_of(self.zone))
        self.planner.set_jobs(self.jobs, self.now)

    def stop(self) -> None:
        self.ledger.close()

    def set_jobs(self, *jobs: Job) -> None:
        self.jobs = tuple(replace(job) for job in jobs)
        self.planner.set_jobs(self.jobs, self.now)

    def look(self) -> list[str]:
        """What comes up now, in words; runs it at once."""
        found = self.planner.look(self.now, self.awake)
        self.planned += found
        for each in found if self.decides else ():
            if isinstance(each, LeftOut):
                self.ledger.decide(each.last.key, each.outcome, self.now, each.reason)
            else:
                self.ledger.begin(each.occurrence.key, self.now)
                self.ledger.end(each.occurrence.key, "done", self.now)
        return [told(each) for each in found]

    def run(self, hours: float = 0, *, seconds: float = 0, step: float = 20) -> list[str]:
        """Look every `step` seconds for so long."""
        found = []
        left = hours * 3600 + seconds
        while left > 0:
            self.pass_time(min(step, left))
            left -= step
            found += self.look()
        return found

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.awake += seconds

    def sleep(self, hours: float) -> None:
        """The computer sleeps: only the wall clock goes on."""
        self.now += timedelta(hours=hours)
