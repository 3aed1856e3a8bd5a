"""A vault with jobs and its daemon in this process, whose clock is moved by the test: nobody waits for a morning."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.schedule.history import HistoryRow, parse_history
from agent.workspace.workspace import Workspace
from tests.daemon.house import BRISK, House, living
from tests.stories.agents import furnish, script
from tests.vaults import git, write

MORNING = datetime(2026, 11, 23, 8, 59, tzinfo=UTC)
"""A Monday, a minute before nine."""
QUICK = {
    **BRISK,
    "VAULT_AGENT_INBOX__QUIET_SECONDS": "0.2",
    "VAULT_AGENT_MEMORY__LIFECYCLE": "off",
    "VAULT_AGENT_GIT__QUIET_SECONDS": "0.1",
}


@dataclass
class MovingClock(SystemClock):
    """Time as it passes, from `start` on, and further when the test says so."""

    start: datetime = MORNING
    ahead: float = 0.0
    asleep: float = 0.0
    """Seconds that passed on the clock on the wall only."""
    _since: float = field(default_factory=lambda: SystemClock().monotonic())

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.monotonic() + self.asleep)

    def monotonic(self) -> float:
        return SystemClock.monotonic(self) - self._since + self.ahead

    def pass_by(self, **time: float) -> None:
        """Let so much time pass, while the machine is awake."""
        self.ahead += timedelta(**time).total_seconds()

    def sleep_for(self, **time: float) -> None:
        """Let so much time pass, while the machine sleeps."""
        self.asleep += timedelta(**time).total_seconds()


def job(on: str = '{cron: "0 9 * * *"}', text: str = "Say hello.", **more: object) -> str:
    """A job's note."""
    lines = ["type: job", f"on: {on}", "timezone: UTC", *(f"{key}: {value}" for key, value in more.items())]
    return "---\n" + "\n".join(lines) + f"\n---\n{text}\n"


@dataclass
class Town:
    """The vault, and the clock that all its daemons have, one after the other."""

    folder: Path
    root: Path
    clock: MovingClock

    def says(self, *replies: object, **whole: object) -> None:
        """What the model says from now on."""
        script(self.folder / "script.json", *replies, **whole)

    def write(self, path: str, text: str) -> None:
        """Write a note as its person does, and commit it."""
        write(self.root / path, text)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", path)

    @contextmanager
    def daemon(self) -> Iterator[House]:
        with living(self.root, clock=self.clock) as house:
            yield house

    def rows(self, job: str) -> tuple[HistoryRow, ...]:
        """The history of a job."""
        path = self.root / f"jobs/history/{job}.md"
        return parse_history(path.read_bytes()) if path.exists() else ()

    def outcomes(self, job: str) -> list[str]:
        return [each.outcome for each in self.rows(job)]

    def wait_for(self, house: House, job: str, *outcomes: str) -> None:
        """Turns until the history of a job has these outcomes, and all that was to be written is."""
        is_over = lambda: self.outcomes(job) == list(outcomes) and not house.parts.jobs.runs  # noqa: E731
        house.until(is_over, f"{job} has come to {outcomes}")

    def daily(self) -> str:
        """The day's note."""
        path = self.root / f"daily/{self.clock.now().date()}.md"
        return path.read_text("utf-8") if path.exists() else ""

    def commits(self) -> int:
        return int(git(self.root, "rev-list", "--count", "HEAD"))

    @property
    def workspace(self) -> Workspace:
        return open_workspace(self.root, clock=self.clock)


def found(folder: Path, put: Callable[[str, str], None], **notes: str) -> Town:
    """A vault whose model says "Good morning." to everything."""
    root = furnish(folder, put, folder / "script.json")
    for key, value in QUICK.items():
        put(key, value)
    town = Town(folder, root, MovingClock())
    town.says("Good morning.", after="Good morning.")
    for name, text in notes.items():
        town.write(f"jobs/{name}.md", text)
    return town
