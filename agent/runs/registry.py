"""Marks of the runs that are active or wait for a person, kept on this machine.

A run has a mark while it is active; a mark without a process belongs to an interrupted run. A waiting run keeps its
mark, with the path of the note that it waits for, so that it can resume after the decision. Notes are copied with a
vault, marks never are: only runs that this machine started resume automatically.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from agent.clock import Clock
from agent.config.durable import holder, process_lock
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.records.table import Table
from agent.vault.store import Vault

_PATIENCE = 0.5


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run in the session of this id. `waits_for` is the note to decide or answer in, empty while the run is active;
    `content` is the blob id of the session's note as the run left it; `parent` names the run that delegated to it, and
    only that run resumes it. `job` is the job that the run belongs to."""

    id: str
    session: str
    run: str
    waits_for: str = ""
    content: str = ""
    parent: str = ""
    job: str = ""


@dataclass(frozen=True, slots=True)
class RunRegistry:
    """The marks of one vault on this machine. `folder` has the locks of sessions."""

    marks: Table[RunMark]
    folder: Path
    clock: Clock

    def held(self, session: str) -> AbstractContextManager[None]:
        """The lock of the session of this id; entering raises `LockHeld` if another process holds it."""
        make_folder(self.folder)
        return process_lock(self._lock(session), self.clock, _PATIENCE, "another process is at work in this session")

    def is_held(self, session: str) -> bool:
        """True if a process holds the session's lock."""
        return holder(self._lock(session)) is not None

    def put(self, mark: RunMark) -> None:
        """Save a mark; it replaces the session's last one."""
        self.marks.put(mark, mark.id)

    def drop(self, session: str) -> None:
        """Delete a session's mark."""
        self.marks.drop(session)

    def get(self, session: str) -> RunMark | None:
        """A session's mark; None if there is none that can be read."""
        return self.marks.get(session)

    def all(self) -> Sequence[RunMark]:
        """Every mark that can be read."""
        return self.marks.all()

    def waiting(self) -> tuple[RunMark, ...]:
        """The marks of runs that wait for a person and whose session no process holds; without those of sub-runs."""
        found = (mark for mark in self.all() if mark.waits_for and not mark.parent)
        return tuple(mark for mark in found if not self.is_held(mark.id))

    def _lock(self, session: str) -> Path:
        return self.folder / f"{session}.lock"


def run_registry(vault: Vault) -> RunRegistry:
    """The marks of a vault."""
    marks = Table(vault.records, "runs", RunMark, is_flushed=False)
    return RunRegistry(marks, vault.private_folder / "runs", vault.clock)
