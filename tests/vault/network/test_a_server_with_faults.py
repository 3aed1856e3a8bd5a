"""Each fault of a server is told for what it is, spoils nothing, and the next transfer works."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.git.network import Network, RefUpdate, RefusedRef
from agent.vault.sync.problems import ProblemKind as Kind
from agent.vault.sync.problems import TransferProblem, problem_of
from tests.remotes import git_as
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
from tests.vaults import git, head, make_vault, object_format, write

MAIN = "refs/heads/main"
TRACKED = "+refs/heads/*:refs/remotes/origin/*"


class Ground:
    """A vault and the server of its remote; Bob has another clone of the same repository."""

    def __init__(self, folder: Path, server: GitServer) -> None:
        self.server = server
        self.vault = make_vault(folder, {"notes/a.md": "one\n"})
        self.root = self.vault.place.root
        git(self.root, "remote", "add", "origin", server.url)
        git(self.root, "push", "-q", str(server.repository), "main")
        self.network = Network(self.vault.git, seconds=20)
        self.bob = folder / "bob"
        git_as(folder, "Bob", "clone", "-q", str(server.repository), str(self.bob))
        server.remember()

    def bob_pushes(self, size: int = 2000) -> str:
        write(self.bob / "notes/b.md", "".join(f"line {number}\n" for number in range(size)))
        git_as(self.bob, "Bob", "add", "-A")
        git_as(self.bob, "Bob", "commit", "-q", "-m", "theirs")
        git_as(self.bob, "Bob", "push", "-q", "origin", "HEAD:main")
        return head(self.bob)

    def anna_saves(self, text: str = "mine\n") -> str:
        write(self.root / "notes/c.md", text)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "mine")
        return head(self.root)

    def push(self, *, seconds: float = 20, expected: str | None = None) -> tuple[RefusedRef, ...]:
        return Network(self.vault.git, seconds).push("origin", [RefUpdate("HEAD", MAIN, expected)])

    def tracked(self) -> str:
        return git(self.root, "rev-parse", "-q", "--verify", "refs/remotes/origin/main", check=False).strip()

    def there(self) -> str:
        return git(self.server.repository, "rev-parse", MAIN).strip()

    def whole(self) -> bool:
        left = [*(self.root / ".git").glob("vault-agent/network-*"), *(self.root / ".git").glob("**/*.lock")]
        for root in (self.root, self.server.repository):
            git(root, "fsck", "--full", "--strict", "--connectivity-only")
        return not left and not [*(self.root / ".git/objects").glob("**/tmp_*")]


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    own_account(tmp_path, monkeypatch)
    with git_server(tmp_path / "server", object_format()) as server:
        yield Ground(tmp_path, server)


def trouble(action: object) -> TransferProblem:
    """The problem that a transfer ends with."""
    assert callable(action)
    try:
        refused = action()
    except AgentError as error:
        return problem_of(error)
    assert isinstance(refused, tuple) and refused, "nothing went wrong"
    return problem_of(refused)


FETCHES: list[tuple[str, Part, Step, Kind]] = [
    ("cut at once", cut(0), Step.LISTED, Kind.OFFLINE),
    ("cut in the list", cut(30), Step.LISTED, Kind.OFFLINE),
    ("cut at the pack", cut(20), Step.FETCHED, Kind.OFFLINE),
    ("cut in the pack", cut(400), Step.FETCHED, Kind.OFFLINE),
    ("lost", lost, Step.FETCHED, Kind.OFFLINE),
    ("lost at the beginning", lost, Step.LISTED, Kind.OFFLINE),
    ("garbled pack", garbled(60), Step.FETCHED, Kind.BROKEN),
    ("garbled list", garbled(20), Step.LISTED, Kind.BROKEN),
    ("login page", page, Step.LISTED, Kind.BROKEN),
    ("login page later", page, Step.FETCHED, Kind.BROKEN),
]


@pytest.mark.parametrize(("part", "step", "kind"), [each[1:] for each in FETCHES], ids=[each[0] for each in FETCHES])
def test_a_fetch_that_fails_says_why_and_leaves_nothing(ground: Ground, part: Part, step: Step, kind: Kind) -> None:
    theirs = ground.bob_pushes()
    ground.server.plan(part, step, lasting=True)
    problem = trouble(lambda: ground.network.fetch("origin", [TRACKED]))
    assert problem.kind is kind and problem.passes, problem
    assert ground.tracked() == "" and ground.whole()
    ground.server.heal()
    ground.network.fetch("origin", [TRACKED])
    assert ground.tracked() == theirs and ground.whole()


PUSHES: list[tuple[str, Part, Step, Kind, bool]] = [
    ("cut list", cut(30), Step.ANNOUNCED, Kind.OFFLINE, False),
    ("lost", lost, Step.PUSHED, Kind.OFFLINE, False),
    ("stored, then cut at once", cut(0), Step.PUSHED, Kind.OFFLINE, True),
    ("stored, then cut", cut(12), Step.PUSHED, Kind.OFFLINE, True),
    ("refused by a hook", refuses(), Step.PUSHED, Kind.REFUSED, False),
    ("too large", takes_at_most(10), Step.PUSHED, Kind.TOO_LARGE, False),
    ("login page", page, Step.PUSHED, Kind.BROKEN, False),
]


@pytest.mark.parametrize(
    ("part", "step", "kind", "stored"), [each[1:] for each in PUSHES], ids=[each[0] for each in PUSHES]
)
def test_a_push_that_fails_says_why_and_can_be_repeated(
    ground: Ground, part: Part, step: Step, kind: Kind, stored: bool
) -> None:
    old, mine = ground.there(), ground.anna_saves()
    ground.server.plan(part, step, lasting=True)
    problem = trouble(lambda: ground.push(expected=old))
    assert problem.kind is kind, problem
    assert ground.there() == (mine if stored else old) and ground.whole()
    ground.server.heal()
    assert ground.push(expected=old) == ()
    assert ground.there() == mine and ground.whole()


CODES = {
    401: Kind.LOGIN, 403: Kind.FORBIDDEN, 404: Kind.GONE, 408: Kind.BUSY, 410: Kind.GONE, 413: Kind.TOO_LARGE,
    429: Kind.BUSY, 500: Kind.BUSY, 502: Kind.BUSY, 503: Kind.BUSY, 504: Kind.BUSY,
}  # fmt: skip


@pytest.mark.parametrize("step", [Step.LISTED, Step.FETCHED, Step.ANNOUNCED, Step.PUSHED])
def test_what_a_server_answers_instead_is_told(ground: Ground, step: Step) -> None:
    ground.anna_saves()
    ground.bob_pushes()
    found = {}
    for code in CODES:
        ground.server.plan(status(code), step, lasting=True)
        if step in {Step.LISTED, Step.FETCHED}:
            found[code] = trouble(lambda: ground.network.fetch("origin", [TRACKED])).kind
        else:
            found[code] = trouble(lambda: ground.push(expected=ground.there())).kind
        ground.server.heal()
    assert found == CODES
    assert ground.whole()


def test_the_words_of_a_hook_are_told(ground: Ground) -> None:
    ground.anna_saves()
    ground.server.plan(refuses("sign the agreement first"), Step.PUSHED)
    assert trouble(ground.push).reason == "the server refuses refs/heads/main: sign the agreement first"


def test_a_push_on_a_list_of_yesterday_overwrites_nothing(ground: Ground) -> None:
    yesterday = ground.there()
    theirs = ground.bob_pushes()
    ground.anna_saves()
    ground.server.plan(stale, Step.ANNOUNCED)
    problem = trouble(lambda: ground.push(expected=yesterday))
    assert problem.kind is Kind.REFUSED and problem.passes, problem
    assert ground.there() == theirs and ground.whole()


def test_a_fetch_of_a_list_of_yesterday_is_yesterday_s(ground: Ground) -> None:
    yesterday, theirs = ground.there(), ground.bob_pushes()
    ground.server.plan(stale, Step.LISTED, lasting=True)
    ground.network.fetch("origin", [TRACKED])
    assert ground.tracked() == yesterday
    ground.server.heal()
    ground.network.fetch("origin", [TRACKED])
    assert ground.tracked() == theirs


@pytest.mark.parametrize("step", [Step.LISTED, Step.FETCHED])
def test_a_server_that_says_nothing_is_left_in_time(ground: Ground, step: Step) -> None:
    theirs = ground.bob_pushes()
    ground.server.plan(hang(15), step)
    problem = trouble(lambda: Network(ground.vault.git, 2).fetch("origin", [TRACKED]))
    assert (problem.kind, problem.passes) == (Kind.BUSY, True)
    assert ground.tracked() == "" and ground.whole()
    ground.network.fetch("origin", [TRACKED])
    assert ground.tracked() == theirs


@pytest.mark.parametrize(("part", "stored"), [(hang(15), False), (stored_then_hangs(15), True)])
def test_after_the_time_limit_a_push_can_be_repeated(ground: Ground, part: Part, stored: bool) -> None:
    old, mine = ground.there(), ground.anna_saves()
    ground.server.plan(part, Step.PUSHED)
    problem = trouble(lambda: ground.push(seconds=2, expected=old))
    assert (problem.kind, problem.passes) == (Kind.BUSY, True)
    assert ground.there() == (mine if stored else old) and ground.whole()
    assert ground.push(expected=old) == ()
    assert ground.there() == mine
