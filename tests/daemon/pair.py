"""Two machines with one vault, each with a daemon in this process, and a remote in a folder between them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.vault.layout import SYNC_STATE
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.sync.claims import CLAIMS
from agent.vault.sync.state import StateFile, SyncedRemote
from agent.workspace.machine import open_claims
from tests.daemon.house import PATIENCE, STEP, HastyClock, House, living
from tests.remotes import clone_as, git_as, make_remote
from tests.stories.agents import NOTES
from tests.vault.sync.machines import Machine
from tests.vaults import git, make_vault, write

Put = Callable[[str, str], None]
NAMES = ("anna", "bert")


class AheadClock(HastyClock):
    """A clock that is wrong by so many seconds."""

    def __init__(self, ahead: float) -> None:
        self.ahead = timedelta(seconds=ahead)

    def now(self) -> datetime:
        return super().now() + self.ahead


@dataclass(frozen=True)
class Pair:
    """The two machines, and the environment of each; `put` sets a variable of this process."""

    machines: tuple[Machine, Machine]
    folder: Path
    put: Put

    @property
    def roots(self) -> tuple[Path, Path]:
        one, other = (each.root for each in self.machines)
        return one, other

    @property
    def remote(self) -> Path:
        return self.machines[0].remote

    def as_machine(self, number: int, **settings: str) -> None:
        """Let this process be one of the machines from now on."""
        self.put("VAULT_AGENT_HOME", str(self.folder / NAMES[number]))
        self.put("VAULT_AGENT_MACHINE__NAME", NAMES[number])
        for key, value in settings.items():
            self.put(f"VAULT_AGENT_{key}", value)

    @contextmanager
    def living(self, *numbers: int, ahead: float = 0.0) -> Iterator[tuple[House, ...]]:
        """The daemons of these machines, of both by default; the second machine's clock is so many seconds ahead."""
        with ExitStack() as stack:
            yield tuple(self._begin(stack, number, ahead) for number in numbers or (0, 1))

    def _begin(self, stack: ExitStack, number: int, ahead: float) -> House:
        self.as_machine(number)
        return stack.enter_context(living(self.roots[number], clock=AheadClock(ahead if number else 0.0)))

    def sync(self) -> None:
        """Bring both into step."""
        for machine in (*self.machines, self.machines[0]):
            machine.synced()

    def claims(self) -> list[str]:
        """The claims on the remote."""
        return git(self.remote, "for-each-ref", "--format=%(refname)", CLAIMS).splitlines()

    def arrive(self, houses: Sequence[House], notes: Mapping[str, str]) -> None:
        """Write notes on a phone of the same person, which pushes them, and bring them to both machines."""
        git(self.phone, "pull", "-q", "--ff-only", "origin", "main")
        for path, text in notes.items():
            write(self.phone / path, text)
        git(self.phone, "add", "-A")
        git(self.phone, "commit", "-q", "-m", "from the phone")
        git(self.phone, "push", "-q", "origin", "HEAD:main")
        for machine in self.machines:
            machine.synced()
        for house in houses:
            house.step()

    @property
    def phone(self) -> Path:
        """A clone without this program."""
        return self.folder / "phone"


def make_pair(folder: Path, put: Put) -> Pair:
    """Two machines in step, through a remote to which only their person writes."""
    remote = folder / "shared.git"
    make_remote(remote)
    roots = make_vault(folder / "one", NOTES).place.root, folder / "two" / "vault"
    git_as(roots[0], "Anna", "remote", "add", "origin", str(remote))
    git_as(roots[0], "Anna", "push", "-q", "origin", "main")
    roots[1].parent.mkdir()
    clone_as("Anna", remote, roots[1])
    found = []
    pair = Pair((None, None), folder, put)  # type: ignore[arg-type]
    for number, root in enumerate(roots):
        pair.as_machine(number)
        vault = open_workspace(root).vault
        vault.provenance.answers.answer(plain_address(str(remote)), Writers.ME)
        StateFile(vault.private_folder / SYNC_STATE).put(SyncedRemote("origin", str(remote), "main"))
        found.append(Machine(NAMES[number], vault, remote))
    pair = Pair((found[0], found[1]), folder, put)
    pair.sync()
    git(folder, "clone", "-q", str(remote), str(pair.phone))
    return pair


def until(houses: Sequence[House], holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Let the daemons take their turns until something is so."""
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    while not holds():
        assert clock.monotonic() < deadline, f"after {seconds:g} s it is not so that {what}: {state_of(houses)}"
        for house in houses:
            house.live.turn(STEP / len(houses))


def state_of(houses: Sequence[House]) -> str:
    """What is under way, for the message of a failure."""
    inboxes = [house.parts.inbox for house in houses]
    entries = [(each.path, each.phase, each.waits_for_turn) for inbox in inboxes for each in inbox.entries.values()]
    held = [each.what for house in houses for each in open_claims(house.workspace).held()]
    return f"{entries}, {held}, {[each.problem for each in inboxes]}"


def are_quiet(houses: Sequence[House]) -> bool:
    """True if no request is under way and no turn is still to be given back."""
    claims = (open_claims(house.workspace).held() for house in houses)
    return not any(claims) and all(not house.parts.inbox.entries and not house.working for house in houses)


def answers(root: Path, path: str) -> int:
    """How many answers stand in a note."""
    note = root / path
    return note.read_text("utf-8").count("%% vault-agent: answer ") if note.exists() else 0
