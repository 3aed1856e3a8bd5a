"""Which runs are under way and which wait for a person, as small files in the vault's private folder.

A run is marked while it goes on; a mark that stands there without its process tells of a run that was cut off. A run
that waits keeps its mark with the name of the note that it waits for, so that it can be taken up when that is decided.
Notes come and go with a vault, marks never do: only what this machine has begun is ever taken up unasked.
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from agent.clock import Clock
from agent.config.private import make_folder, replace
from agent.vault.locks import holder, process_lock
from agent.vault.store import Vault

_PATIENCE = 0.5


@dataclass(frozen=True, slots=True)
class RunMark:
    """A run in the session of this id. `waits_for` is the note to decide or answer in, empty while the run goes on;
    `content` is the blob id of the session's note as the run left it; `parent` names the run that delegated to it, and
    that alone takes it up again."""

    id: str
    session: str
    run: str
    waits_for: str = ""
    content: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class RunRegistry:
    """The marks of one vault on this machine."""

    folder: Path
    clock: Clock

    def held(self, session: str) -> AbstractContextManager[None]:
        """Be the only process in the session of this id; entering raises `LockHeld`."""
        make_folder(self.folder)
        return process_lock(self._lock(session), self.clock, _PATIENCE, "another process is at work in this session")

    def is_held(self, session: str) -> bool:
        """Whether a process is at work in the session."""
        return holder(self._lock(session)) is not None

    def put(self, mark: RunMark) -> None:
        """Leave a mark, in place of the session's last one."""
        replace(self._file(mark.id), json.dumps(asdict(mark)))

    def drop(self, session: str) -> None:
        """Take a session's mark away."""
        self._file(session).unlink(missing_ok=True)

    def get(self, session: str) -> RunMark | None:
        """A session's mark; None where there is none that can be read."""
        try:
            said = json.loads(self._file(session).read_text("utf-8"))
            return RunMark(**{key: str(said[key]) for key in RunMark.__slots__})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def all(self) -> Iterator[RunMark]:
        """Every mark that can be read."""
        found = (self.get(path.stem) for path in sorted(self.folder.glob("*.json")))
        return (mark for mark in found if mark is not None)

    def waiting(self) -> tuple[RunMark, ...]:
        """Those of runs that wait for a person, and in whose session nobody is at work."""
        found = (mark for mark in self.all() if mark.waits_for and not mark.parent)
        return tuple(mark for mark in found if not self.is_held(mark.id))

    def _file(self, session: str) -> Path:
        return self.folder / f"{session}.json"

    def _lock(self, session: str) -> Path:
        return self.folder / f"{session}.lock"


def run_registry(vault: Vault) -> RunRegistry:
    """The marks of a vault."""
    return RunRegistry(vault.private_folder / "runs", vault.clock)
