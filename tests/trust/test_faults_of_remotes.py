"""Promise 6, remotes: what is called synced is there, no line is lost, and a well server is all that a clone needs.

Two clones save lines and sync at the same time, while the server cuts, refuses, hangs, lies about its refs, or stores a
push and loses the answer. The ledger is a list of the lines that were saved; what is there, git says in the bare
repository itself.
"""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.network import Network, RefUpdate, Refused
from agent.vault.sync.problems import problem_of
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
from tests.vaults import git, head, init, object_format, write

MAIN = "refs/heads/main"
TRACKED = "+refs/heads/*:refs/remotes/origin/*"
SECONDS = 2.0
"""The time limit of the clients while the server has faults; a server that hangs does so for longer."""
PATIENT = 30.0


@dataclass(slots=True)
class Clone:
    """One machine of the person, and the lines that it has saved."""

    name: str
    root: Path
    network: Network
    lines: list[str] = field(default_factory=list)

    def saves(self, count: int) -> None:
        """Commit new lines, each in a note of this machine."""
        for _ in range(count):
            line = f"{self.name} {len(self.lines)}"
            note = self.root / f"{self.name}/{len(self.lines) % 3}.md"
            before = note.read_text() if note.exists() else ""
            write(note, f"{before}{line}\n")
            self.lines.append(line)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", f"{self.name} saved")

    def sync(self) -> bool:
        """Fetch, merge and push, again while others push meanwhile; true if everything here is there."""
        try:
            for _ in range(4):
                refused = self.once()
                if not refused:
                    return True
                if not problem_of(refused).passes:
                    return False
        except AgentError as error:
            assert problem_of(error).reason
        return False

    def once(self) -> tuple[Refused, ...]:
        self.network.fetch("origin", [TRACKED])
        theirs = git(self.root, "rev-parse", "-q", "--verify", "origin/main", check=False).strip()
        if theirs:
            git(self.root, "merge", "-q", "--no-edit", "--allow-unrelated-histories", theirs)
        return self.network.push("origin", [RefUpdate("HEAD", MAIN, theirs)])


class Hopeful(Clone):
    """A planted bug: a push that ended without an answer has surely arrived."""

    def sync(self) -> bool:
        try:
            return not self.once()
        except AgentError:
            return True


class Rough(Clone):
    """A planted bug: what stands there is overwritten."""

    def once(self) -> tuple[Refused, ...]:
        there = self.network.list_refs("origin").get(MAIN, "")
        return self.network.push("origin", [RefUpdate("HEAD", MAIN, there)])


@dataclass(slots=True)
class Ground:
    """The server and the two clones."""

    server: GitServer
    clones: tuple[Clone, Clone]
    wrong: list[str] = field(default_factory=list)
    synced: int = 0

    def round(self) -> None:
        """Both sync at the same time; what either says is held against the bare repository."""
        with ThreadPoolExecutor(2) as pool:
            results = [*pool.map(lambda clone: clone.sync(), self.clones)]
        self.synced += sum(results)
        self.wrong += [f"{clone.name}: false synced" for clone, yes in zip(self.clones, results, strict=True)
                       if yes and not self.has(head(clone.root))]  # fmt: skip

    def has(self, commit: str) -> bool:
        """True if the branch of the bare repository contains a commit."""
        there = git(self.server.repository, "rev-list", MAIN, check=False).split()
        return commit in there

    def recovers(self) -> None:
        """With a well server, one round of each clone is enough."""
        self.server.heal()
        for clone in self.clones:
            patient = replace(clone, network=replace(clone.network, seconds=PATIENT))
            if not patient.sync() or not self.has(head(clone.root)):
                self.wrong.append(f"{clone.name}: not synced with a well server")
        there = git(self.server.repository, "grep", "-h", "-e", "", MAIN, check=False).splitlines()
        lost = {line for clone in self.clones for line in clone.lines} - {*there}
        self.wrong += [f"lost: {line}" for line in sorted(lost)]

    def is_whole(self) -> None:
        """No fault in any repository, and nothing left of a transfer."""
        for root in (self.server.repository, *(clone.root for clone in self.clones)):
            git(root, "fsck", "--full", "--strict")
        for clone in self.clones:
            left = [*(clone.root / ".git").glob("**/*.lock"), *(clone.root / ".git").glob("**/tmp_*")]
            self.wrong += [str(path) for path in [*left, *(clone.root / ".git").glob("vault-agent/network-*")]]


Make = Callable[[type[Clone]], Ground]


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes a server with two clones that agree."""
    own_account(tmp_path, monkeypatch)
    with ExitStack() as servers:

        def make(kind: type[Clone]) -> Ground:
            server = servers.enter_context(git_server(tmp_path / "server", object_format()))
            anna, bella = (_clone(tmp_path / name, server, kind) for name in ("anna", "bella"))
            for clone in (anna, bella):
                clone.saves(1)
                assert Clone.sync(replace(clone, network=replace(clone.network, seconds=PATIENT)))
            server.remember()
            return Ground(server, (anna, bella))

        yield make


def _clone(root: Path, server: GitServer, kind: type[Clone]) -> Clone:
    root.mkdir(parents=True)
    init(root)
    for key, value in (("user.name", root.name), ("user.email", f"{root.name}@example.org")):
        git(root, "config", key, value)
    git(root, "remote", "add", "origin", server.url)
    return kind(root.name, root, Network(Git(root / ".git", root, durable=False), SECONDS))


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
            if chance.random() < 0.7:
                clone.saves(chance.randrange(1, 4))
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


@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.chaos)])
def test_what_is_called_synced_is_there(ground: Make, count: int) -> None:
    place = ground(Clone)
    chaos(place, count, f"remotes {count}")
    assert place.wrong == []
    assert place.server.played >= count and place.synced > count // 20


@pytest.mark.parametrize("kind", [Hopeful, Rough])
def test_a_planted_bug_is_found(ground: Make, kind: type[Clone]) -> None:
    place = ground(kind)
    chaos(place, 60, "planted")
    assert place.wrong
