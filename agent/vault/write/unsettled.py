"""Files that a person's commit leaves for later: open in another program, just saved, or not readable.

None of them delays the others. A file that is written all the time, such as a log, is committed in its present state
from time to time. The waiting time of each file is stored in the vault's private folder.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from agent.clock import Clock, time_on_clock
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.json_value import parse_json
from agent.vault.options import HOLDS_UP
from agent.vault.worktree.files import SETTLE_SECONDS, Files
from agent.vault.worktree.survey import Dirty, DirtyKind

RECORDED_AFTER = 10.0
"""Number of quiet intervals after which a file that is written all the time is committed in its present state."""
_SHORTEST = 1.0
_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Settled:
    """Files sorted by the action that is possible now.

    `ready`: to be committed. `restless`: those of them that are committed in their present state. `held`: those that
    another program keeps open. `open`: kept open, and waiting. `unread`: not readable. `fresh`: a burst of edits has
    not ended, so all files wait.
    """

    ready: tuple[Dirty, ...]
    restless: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    open: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class WaitingFiles:
    """Sorts the changed files of one vault; `since` is the file with their waiting times."""

    files: Files
    clock: Clock
    since: Path
    quiet_seconds: float

    def sort(self, items: Sequence[Dirty], *, quiet: bool) -> Settled:
        """The files sorted by possible action. `quiet` leaves out files changed within the quiet interval.

        Without it, this waits for saves in progress, at most two seconds for all files together.
        """
        opened, unread = opened_and_unread(self.files, items)
        deadline = self.clock.monotonic() + SETTLE_SECONDS
        while opened and not quiet and self.clock.monotonic() < deadline:
            self.clock.sleep(_PAUSE)
            opened, _ = opened_and_unread(self.files, [item for item in items if item.path in opened])
        now = self.clock.now().timestamp()
        fresh = {item.path for item in items if self._is_fresh(item, now)} - opened - unread if quiet else set[str]()
        ages = self._ages(opened | fresh, now)
        interval = max(self.quiet_seconds, _SHORTEST)
        restless = {path for path, age in ages.items() if age >= RECORDED_AFTER * interval}
        if any(ages[path] < HOLDS_UP * interval for path in fresh):
            return Settled((), fresh=True)
        later = ((opened | fresh) - restless) | unread
        ready = tuple(item for item in items if item.path not in later)
        held = frozenset(opened & restless)
        return Settled(ready, frozenset(restless), held, tuple(sorted(opened - restless)), tuple(sorted(unread)))

    def _is_fresh(self, item: Dirty, now: float) -> bool:
        """True if a file, or the folder that a deleted file was in, changed a moment ago.

        By the inode change time, which no program can set: a file dated in the future does not stay fresh for ever.
        """
        path = self.files.root / item.path
        try:
            status = (path if item.kind is not DirtyKind.DELETED else path.parent).lstat()
        except OSError:
            return False
        return abs(now - time_on_clock(self.clock, status.st_ctime)) < self.quiet_seconds

    def _ages(self, paths: Collection[str], now: float) -> dict[str, float]:
        """The seconds that each path has waited; all other paths are removed from the file."""
        before = _load(self.since)
        since = {path: min(before.get(path, now), now) for path in sorted(paths)}
        if since != before:
            with suppress(OSError):  # on a failure, their waiting time starts again
                self.since.write_text(json.dumps(since), "utf-8")
        return {path: now - start for path, start in since.items()}

    def recorded(self, paths: Iterable[str]) -> None:
        """Restart the waiting time of files that were committed while open."""
        since = _load(self.since)
        done = [path for path in paths if since.pop(path, None) is not None]
        if done:
            with suppress(OSError):
                self.since.write_text(json.dumps(since), "utf-8")


def opened_and_unread(files: Files, items: Iterable[Dirty]) -> tuple[set[str], set[str]]:
    """The changed files that another program keeps open for writing, and those that cannot be read."""
    opened, unread = set[str](), set[str]()
    for item in items:
        if item.kind is DirtyKind.DELETED:
            continue
        try:
            if files.is_open_elsewhere(item.path):
                opened.add(item.path)
        except (AgentError, OSError):
            unread.add(item.path)
    return opened, unread


def _load(path: Path) -> dict[str, float]:
    try:
        return dict(_times(parse_json(path.read_text("utf-8"))))
    except (OSError, ValueError):
        return {}


def _times(loaded: object) -> Iterator[tuple[str, float]]:
    if isinstance(loaded, dict):
        for path, start in loaded.items():
            if isinstance(start, int | float):
                yield str(path), float(start)
