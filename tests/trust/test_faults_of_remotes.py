"""Promise 6, remotes: what is called synced is there, no line is lost, and a well server is all that a clone needs.

Two clones save lines and sync at the same time, while the server cuts, refuses, hangs, lies about its refs, or stores a
push and loses the answer. The ledger is a list of the lines that were saved; what is there, git says in the bare
repository itself.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.git.network import Network, RefUpdate, RefusedRef
from agent.vault.layout import SYNC_STATE
from agent.vault.store import Vault, open_vault
from agent.vault.sync.round import RoundEnd, RoundReport, SyncRound
from agent.vault.sync.state import StateFile, SyncedRemote
from tests.fakes import FakeClock
from tests.trust.git_server import (
    GitServer,
    Part,
    Step,
    cut,
    garbled,
    git_server,
    hang,
    lost,
    page,
    refuses,
    stale,
    status,
    stored_then_hangs,
    takes_at_most,
)
from tests.vault.network.persons import own_account
from tests.vaults import FAST, git, make_vault, object_format, write

MAIN = "refs/heads/main"
SECONDS = 3.0
"""The time limit of the clients while the server has faults; a server that hangs does so for longer."""
PATIENT = 30.0


class Hopeful(Network):
    """A planted bug: a push that ended without an answer has surely arrived."""

    def push(self, remote: str, updates: Sequence[RefUpdate], *, atomic: bool = False) -> tuple[RefusedRef, ...]:
        try:
            return Network.push(self, remote, updates, atomic=atomic)
        except AgentError:
            return ()


class Rough(Network):
    """A planted bug: what stands there is overwritten."""

    def push(self, remote: str, updates: Sequence[RefUpdate], *, atomic: bool = False) -> tuple[RefusedRef, ...]:
        there = self.list_refs(remote)
        forced = [replace(each, expected=there.get(each.ref, "")) for each in updates]
        return Network.push(self, remote, forced, atomic=atomic)


class Forgetful(Network):
    """A planted bug: what was fetched is what we had before."""

    def fetch(self, address_or_remote: str, refspecs: Sequence[str], *limits: object, **more: object) -> None:
        for each in refspecs:
            self.git.run("update-ref", each.partition(":")[2], "HEAD")


@dataclass(slots=True)
class Clone:
    """One machine of the person, and the lines that were saved on it."""

    name: str
    vault: Vault
    network: Network
    address: str
    lines: list[str] = field(default_factory=list)

    def saves(self, chance: random.Random) -> None:
        """A new line somewhere in a note that both machines write to, or in one of its own."""
        note = self.vault.place.root / chance.choice(["both.md", "list.md", f"{self.name}.md", f"{len(self.lines)}.md"])
        lines = note.read_text().splitlines() if note.exists() else ["# Note", ""]
        line = f"- {self.name} {len(self.lines)}"
        at = chance.choice([len(lines), chance.randrange(2, len(lines) + 1)])
        write(note, "\n".join([*lines[:at], line, *lines[at:], ""]))
        self.lines.append(line)

    @property
    def states(self) -> StateFile:
        return StateFile(self.vault.private_folder / SYNC_STATE)

    def known(self) -> SyncedRemote:
        return self.states.load().remotes.get("origin") or SyncedRemote("origin", self.address, "main")

    def sync(self, seconds: float = SECONDS) -> RoundReport:
        """One round."""
        return SyncRound(self.vault, replace(self.network, seconds=seconds), self.known()).run()


@dataclass(slots=True)
class Ground:
    """The server and the two clones."""

    server: GitServer
    clones: tuple[Clone, Clone]
    wrong: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    def round(self) -> None:
        """Both sync at the same time; what is said then is held against the bare repository."""
        with ThreadPoolExecutor(2) as pool:
            reports = [*pool.map(lambda clone: clone.sync(), self.clones)]
        for clone, report in zip(self.clones, reports, strict=True):
            self.check(clone, report)

    def check(self, clone: Clone, report: RoundReport) -> None:
        self.ends[str(report.end)] += 1
        known = clone.known()
        if known.agreed and known.agreed not in self.commits():
            self.wrong.append(f"{clone.name}: agreed on a commit that is not there ({report.end})")
        if report.end is not RoundEnd.SYNCED:
            if not report.trouble or not known.trouble:
                self.wrong.append(f"{clone.name}: not synced, and nothing is said about it")
            return
        if known.trouble or known.agreed != clone.vault.head:
            self.wrong.append(f"{clone.name}: synced, and the state does not say so")
        missing = {*clone.lines} - self.there(known.agreed)
        self.wrong += [f"{clone.name}: called synced, not there: {line}" for line in sorted(missing)]

    def recovers(self) -> None:
        """With a well server, one round of each clone is enough, and all lines are there."""
        self.server.heal()
        for clone in self.clones:
            report = clone.sync(PATIENT)
            self.check(clone, report)
            if report.end is not RoundEnd.SYNCED:
                self.wrong.append(f"{clone.name}: {report.end} with a well server: {report.trouble}")
        lost = {line for clone in self.clones for line in clone.lines} - self.there(MAIN)
        self.wrong += [f"lost: {line}" for line in sorted(lost)]

    def commits(self) -> set[str]:
        """The commits of the branch in the bare repository."""
        return {*git(self.server.repository, "rev-list", MAIN, check=False).split()}

    def there(self, revision: str) -> set[str]:
        """The lines of all notes in a commit of the bare repository."""
        return {*git(self.server.repository, "grep", "-h", "-e", "", revision, check=False).splitlines()}

    def is_whole(self) -> None:
        """No fault in any repository, and nothing left of a transfer."""
        git(self.server.repository, "fsck", "--full", "--strict")
        for clone in self.clones:
            gitdir = clone.vault.place.gitdir
            git(clone.vault.place.root, "fsck", "--full", "--strict")
            left = [each for name in ("*.lock", "tmp_*", "network-*") for each in gitdir.rglob(name)]
            self.wrong += [str(path) for path in left]


Make = Callable[[type[Network]], Ground]


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes a server with two clones that agree."""
    own_account(tmp_path, monkeypatch)
    with ExitStack() as servers:

        def make(kind: type[Network]) -> Ground:
            server = servers.enter_context(git_server(tmp_path / "server", object_format()))
            first = make_vault(tmp_path / "anna", {"both.md": "# Note\n\n"}, clock=FakeClock())
            anna = Clone("anna", first, Network(first.git), server.url)
            assert anna.sync(PATIENT).end is RoundEnd.SYNCED
            git(tmp_path, "clone", "-q", str(server.repository), "bella/vault")
            git(tmp_path / "bella/vault", "config", "user.name", "bella")
            git(tmp_path / "bella/vault", "config", "user.email", "bella@example.org")
            second = open_vault(tmp_path / "bella/vault", tmp_path / "bella/state", FakeClock(), FAST)
            bella = Clone("bella", second, Network(second.git), server.url)
            assert bella.sync(PATIENT).end is RoundEnd.SYNCED
            server.remember()
            anna.network, bella.network = kind(first.git), kind(second.git)
            return Ground(server, (anna, bella))

        yield make


def fault(chance: random.Random) -> tuple[Part, tuple[Step, ...]]:
    """A fault, and the steps at which it strikes."""
    fetch, push = (Step.LISTED, Step.FETCHED), (Step.ANNOUNCED, Step.PUSHED)
    either = (*fetch, *push)
    codes = (401, 403, 404, 408, 413, 429, 500, 502, 503, 504)
    parts: list[tuple[Part, tuple[Step, ...]]] = [
        (cut(chance.randrange(600)), fetch),
        (cut(chance.randrange(600)), push),
        (cut(chance.randrange(60)), (Step.PUSHED,)),
        (cut(0), (Step.PUSHED,)),
        (lost, either),
        (lost, (Step.PUSHED,)),
        (page, either),
        (garbled(chance.randrange(300)), fetch),
        (garbled(chance.randrange(60)), push),
        (status(chance.choice(codes)), either),
        (status(chance.choice(codes)), (chance.choice(either),)),
        (stale, (Step.LISTED,)),
        (stale, (Step.ANNOUNCED,)),
        (refuses(), (Step.PUSHED,)),
        (takes_at_most(10), (Step.PUSHED,)),
    ]
    if chance.random() < 0.06:
        slow = SECONDS * 2
        return chance.choice([(hang(slow), either), (stored_then_hangs(slow), (Step.PUSHED,))])
    return chance.choice(parts)


def chaos(place: Ground, injections: int, seed: str) -> None:
    """Faults until so many have struck; what is there is remembered now and then, to be served as old refs."""
    chance = random.Random(seed)
    while place.server.played < injections and not place.wrong:
        for clone in place.clones:
            for _ in range(chance.choice([0, 1, 1, 2, 4])):
                clone.saves(chance)
        if chance.random() < 0.3:
            place.server.remember()
        for _ in range(chance.choice([1, 1, 2, 3])):
            part, steps = fault(chance)
            place.server.plan(part, *steps)
        place.round()
        if chance.random() < 0.25:
            place.recovers()
    place.recovers()
    place.is_whole()


@pytest.mark.parametrize("count", [10, pytest.param(500, marks=pytest.mark.chaos)])
def test_what_is_called_synced_is_there(ground: Make, count: int) -> None:
    place = ground(Network)
    chaos(place, count, f"remotes {count}")
    assert place.wrong == []
    assert place.server.played >= count and place.ends["synced"] > count // 20 and place.ends["failed"] > count // 5


@pytest.mark.parametrize(
    "kind", [Forgetful, pytest.param(Hopeful, marks=pytest.mark.chaos), pytest.param(Rough, marks=pytest.mark.chaos)]
)
def test_a_planted_bug_is_found(ground: Make, kind: type[Network]) -> None:
    place = ground(kind)
    chaos(place, 60, "planted")
    assert place.wrong
