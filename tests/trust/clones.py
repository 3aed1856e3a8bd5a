"""Three clones of one vault with a bare remote, and the harness's own record of every line that was saved.

Each line that a person saves holds a mark that no other line has. A line that a person takes out again must still be
in the history; all others must be in the notes.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from agent.git.network import Network
from agent.vault.layout import SYNC_STATE
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from agent.vault.sync.permission import RemoteChoice, RemotePermission
from agent.vault.sync.round import RoundEnd, RoundReport, SyncRound
from agent.vault.sync.state import StateFile, SyncedRemote
from tests.fakes import FakeClock
from tests.remotes import clone_as, git_as, make_remote
from tests.vaults import FAST, init, with_parts, write

NAMES = ("Anna", "Bert", "Cora")
PLAIN = "Cora"
"""The clone on which git alone is used, as obsidian-git does."""
NOTHING = RemotePermission()
KEEP = RemotePermission(RemoteChoice.KEEP, mass=True)
"""The answer to every question."""
_MARK = re.compile(r"mark-\d+")
_START = datetime(2026, 11, 21, 14, 12, 0, tzinfo=UTC)


def marks(text: str) -> set[str]:
    """The marks in a text."""
    return set(_MARK.findall(text))


@dataclass(slots=True)
class Clone:
    """One machine with its clone. `middle`: what its person has begun in git and not ended. `is_stuck`: git alone could
    not merge. `offline`: the number of its syncs that will not reach the remote."""

    name: str
    vault: Vault
    remote: Path
    clock: FakeClock
    middle: str = ""
    is_stuck: bool = False
    offline: int = 0

    @property
    def root(self) -> Path:
        return self.vault.place.root

    @property
    def state(self) -> Path:
        return self.root.parent / "state"

    def known(self) -> SyncedRemote:
        """What the machine knows of the remote."""
        return known(self.vault, self.remote)

    def git(self, *args: str) -> str:
        """Run git as its person; raises `AssertionError` if it fails."""
        return git_as(self.root, self.name, *args)

    def fetched(self, *args: str) -> bool:
        """Fetch, then run git as its person; False if it fails."""
        return self.tries("fetch", "-q", "origin") and self.tries(*args)

    def free(self) -> None:
        """After a kill the program is started again, and settles what it left."""
        if (self.root / ".git/index.lock").exists():
            self.vault.settle()

    def tries(self, *args: str) -> bool:
        """Run git as its person; False if it fails."""
        try:
            git_as(self.root, self.name, *args)
        except AssertionError:
            return False
        return True

    def notes(self) -> list[str]:
        """The paths of its notes, sorted."""
        found = []
        for folder, names, files in os.walk(self.root):
            names[:] = [name for name in names if not name.startswith(".")]
            there = Path(folder).relative_to(self.root).as_posix()
            found += [f"{there}/{name}".removeprefix("./") for name in files if name.endswith(".md")]
        return sorted(path for path in found if not path.rpartition("/")[2].startswith("."))

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()


def known(vault: Vault, remote: Path) -> SyncedRemote:
    """What a machine knows of the remote; a fresh record if it has not synced yet."""
    found = StateFile(vault.private_folder / SYNC_STATE).load().remotes.get("origin")
    return found or SyncedRemote("origin", str(remote), "main")


@dataclass(slots=True)
class Company:
    """All clones, and what was done and saved. `dropped` lines were taken out on purpose and must be in the history;
    `gone` ones need not be found: no commit ever had them, or a person has rewritten the history."""

    folder: Path
    clones: list[Clone]
    remote: Path
    log: list[str] = field(default_factory=list)
    saved: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    ticked: set[str] = field(default_factory=set)
    count: int = 0

    def mark(self) -> str:
        """A mark that no other line has."""
        self.count += 1
        return f"mark-{self.count}"

    def say(self, text: str) -> None:
        """Note what is done."""
        self.log.append(text)

    def save(self, clone: Clone, path: str, text: str | None) -> None:
        """A person writes a file with an editor, or deletes it (None)."""
        file = clone.root / path
        before = marks(file.read_bytes().decode()) if file.exists() else set()
        after = marks(text or "")
        self.drop(clone, before - after)
        self.ticked -= before - after
        self.saved |= after - before
        if text is None:
            file.unlink()
        else:
            write(file, text)

    def drop(self, clone: Clone, lost: set[str]) -> None:
        """Record that a person takes these lines out."""
        for mark in lost:
            committed = clone.tries("grep", "-q", "-w", "-F", mark, "HEAD")
            (self.dropped if committed else self.gone).add(mark)

    def rewritten(self) -> None:
        """Record that a person has rewritten the history: what was taken out before may be in it no more."""
        self.gone |= self.dropped
        self.dropped.clear()

    def advance(self, rng: Random) -> None:
        """Let time pass for all."""
        seconds = rng.uniform(1, 120)
        for clone in self.clones:
            clone.clock.advance(seconds)

    def main(self) -> str:
        """The commit of the remote's branch."""
        return ref_of(self.remote, "refs/heads/main")

    def sync(
        self,
        clone: Clone,
        allowed: RemotePermission = NOTHING,
        step: Callable[[str], object] = lambda step: None,
        options: Options | None = None,
    ) -> RoundReport:
        """One round; raises `AssertionError` if it says what is not so, or fails without a reason."""
        vault = clone.vault
        if options is not None:
            vault = with_parts(vault, options=options)
        away = self.remote.with_suffix(".away")
        if clone.offline:
            clone.offline -= 1
            self.remote.rename(away)
        is_away = away.exists()
        try:
            report = SyncRound(vault, Network(vault.git), clone.known(), allowed, step=step).run()
        finally:
            if is_away:
                away.rename(self.remote)
        came_of_it = {**report.conflicts, **report.numbered, **dict.fromkeys(report.kept, "kept")}
        self.say(f"  {clone.name}: {report.end} {report.trouble} {came_of_it or ''}")
        self._believe(clone, report, is_away)
        return report

    def _believe(self, clone: Clone, report: RoundReport, is_away: bool) -> None:
        head = clone.git("rev-parse", "HEAD").strip()
        if report.end is RoundEnd.SYNCED:
            assert not is_away, f"{clone.name} is synced without a remote"
            has_it = ["merge-base", "--is-ancestor", head, self.main()]  # another machine may have gone on since
            assert self.main() == head or clone.fetched(*has_it), f"{clone.name} is synced, and the remote is elsewhere"
            assert clone.known().agreed == head and not clone.known().trouble
        elif report.end is RoundEnd.FAILED:
            assert is_away, f"{clone.name}: {report.trouble}"
        else:
            is_asked = clone.middle or report.wait is not None or "moved on one side" in report.trouble
            assert is_asked, f"{clone.name} waits: {report.trouble}"

    def answered(self, clone: Clone) -> RoundReport:
        """One round in which every question is answered: what is here is kept."""
        report = self.sync(clone)
        return self.sync(clone, KEEP) if report.wait is not None else report


def ref_of(repository: Path, ref: str) -> str:
    """The commit of a ref of a bare repository, read from its files or by git."""
    loose = repository / ref
    if loose.exists():
        return loose.read_text().strip()
    return git_as(repository, "Anna", "rev-parse", ref).strip()


def clones(folder: Path, notes: dict[str, str], options: Options = FAST) -> Company:
    """Three clones with the same notes, in step with their remote; their clocks differ by some hours."""
    folder.mkdir(parents=True, exist_ok=True)
    remote = folder / "shared.git"
    make_remote(remote)
    first = folder / "first"
    first.mkdir()
    init(first)
    for path, text in {"vault-agent.yaml": "", ".gitignore": ".vault-agent-*\n", **notes}.items():
        write(first / path, text)
    git_as(first, "Anna", "add", "-A")
    git_as(first, "Anna", "commit", "-q", "-m", "The vault as it was")
    git_as(first, "Anna", "push", "-q", str(remote), "main")
    company = Company(folder, [_clone(folder, name, remote, options) for name in NAMES], remote)
    company.saved = {mark for text in notes.values() for mark in marks(text)}
    company.count = 1000
    for clone in company.clones:
        company.sync(clone)
    return company


def _clone(folder: Path, name: str, remote: Path, options: Options) -> Clone:
    home = folder / name.lower()
    home.mkdir()
    clone_as(name, remote, home / "vault", **{"gc.auto": "0"})
    number = NAMES.index(name)
    clock = FakeClock(_START + timedelta(hours=7 * number), ids=number * 10**12)
    return Clone(name, open_vault(home / "vault", home / "state", clock, options), remote, clock)
