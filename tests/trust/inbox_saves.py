"""Editors that save a note in the very moment in which its answer is written: at each point of the write, in each way.

Built on the desk of `inbox_human`: real files and git, a clock that is ours, a daemon that takes its turns when told.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.markdown import requests
from agent.vault.worktree.files import Files
from agent.workspace.workspace import Workspace
from tests.trust.inbox_human import QUIET, Desk, desk
from tests.vaults import git, with_parts, write

Save = Callable[[], None]
DURING = ("read", "trade", "traded")
MOMENTS = ("before", *DURING, "after", "seen", "later")
"""When the editor saves: when the run is over and nothing written; between our reading and our writing; just before and
just after our bytes come into place; before anybody looked; when our write was seen; an hour later."""


@dataclass(frozen=True, slots=True)
class MeddledFiles(Files):
    """The vault's files, and a save that happens in the middle of one of our own, once."""

    waiting: dict[str, Save] = field(default_factory=dict)

    def _now(self, moment: str) -> None:
        save = self.waiting.pop(moment, None)
        if save is not None:
            save()

    def read(self, path: str) -> bytes | None:
        data = Files.read(self, path)
        self._now("read")
        return data

    def trade(self, path: str, temporary: str) -> None:
        self._now("trade")
        Files.trade(self, path, temporary)
        self._now("traded")


@dataclass
class Meeting:
    """A desk whose files can be meddled with."""

    at: Desk
    waiting: dict[str, Save]

    @property
    def root(self) -> Path:
        return self.at.root

    def ask(self, path: str, text: str) -> None:
        """A note is typed and worked on; what came of it is not written yet."""
        write(self.root / path, text)
        for _ in range(60):
            self.at.turn(1.0)
            entry = self.at.inbox.entries.get(path)
            if entry is not None and entry.work is not None:
                wait([entry.work], 30)
                assert entry.phase == "ended"
                return
        raise AssertionError(f"{path} is not worked on: {self.at.inbox.entries}")

    def in_history(self, path: str) -> int:
        """How many answers history has for a note, in the version that had the most."""
        vault = self.at.workspace.vault
        versions = git(self.root, "log", "--format=%H", "--", path).split()
        return max((vault.read_at(each, path) or b"").count(b"%% vault-agent: answer ") for each in versions)

    def tell(self) -> None:
        """The answer is written, and nobody has looked at the files since."""
        self.at.inbox.turn(self.at.clock.monotonic())

    def meet(self, moment: str, save: Save) -> None:
        """The answer is written, with a save at that moment; then all comes to rest."""
        if moment == "before":
            save()
        elif moment in DURING:
            self.waiting[moment] = save
        self.tell()
        assert not self.waiting, "nothing was written"
        if moment == "after":
            save()
        elif moment == "seen":
            self.at.turn(QUIET / 5)
            save()
        self.at.rest()
        if moment == "later":
            self.at.clock.advance(3600.0)
            save()
            self.at.rest()

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def answers(self, path: str) -> int:
        return self.text(path).count("%% vault-agent: answer ")

    def words(self, path: str) -> list[str]:
        """The person's own lines."""
        own = requests.own_words((self.root / path).read_bytes())
        return [line.replace("- [x] @agent", "- [ ] @agent").rstrip() for line in own.splitlines() if line.strip()]

    def no_litter(self) -> None:
        """No conflict copy, no temporary file, nothing that cannot be committed."""
        assert not [path.name for path in self.root.rglob("*") if "conflict" in path.name or path.suffix == ".part"]
        self.at.workspace.vault.commit_human()
        assert not git(self.root, "status", "--porcelain")


@contextmanager
def meeting(root: Path) -> Iterator[Meeting]:
    """A person at their desk, with an editor that saves at bad moments."""
    waiting: dict[str, Save] = {}

    def meddled(workspace: Workspace) -> Workspace:
        files = MeddledFiles(workspace.vault.place.root, workspace.clock, False, waiting)
        return replace(workspace, vault=with_parts(workspace.vault, files=files))

    with desk(root, 1, meddled) as at:
        yield Meeting(at, waiting)
