"""Machines that share one vault through a bare remote on this disk, and a plain clone without this program."""

from dataclasses import dataclass
from pathlib import Path

from agent.clock import Clock
from agent.git.network import Network
from agent.vault.layout import SYNC_STATE
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import RoundEnd, RoundReport, SyncRound
from agent.vault.sync.state import StateFile, SyncedRemote
from tests.fakes import FakeClock
from tests.remotes import clone_as, git_as, make_remote
from tests.vaults import FAST, make_vault, write

SYNCED = RoundEnd.SYNCED
NOTHING = RemotePermission()


@dataclass(slots=True)
class Machine:
    """One machine with its clone of the vault."""

    name: str
    vault: Vault
    remote: Path

    @property
    def root(self) -> Path:
        return self.vault.place.root

    @property
    def state(self) -> StateFile:
        return StateFile(self.vault.private_folder / SYNC_STATE)

    def known(self) -> SyncedRemote:
        """What the machine knows of the remote."""
        return self.state.load().remotes.get("origin") or SyncedRemote("origin", str(self.remote), "main")

    def sync(self, allowed: RemotePermission = NOTHING) -> RoundReport:
        """One round."""
        return SyncRound(self.vault, Network(self.vault.git), self.known(), allowed).run()

    def synced(self, allowed: RemotePermission = NOTHING) -> RoundReport:
        """One round that reaches its end."""
        report = self.sync(allowed)
        assert report.end is SYNCED, (report.end, report.trouble, report.hint)
        return report

    def write(self, path: str, text: str) -> None:
        write(self.root / path, text)

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def files(self) -> set[str]:
        """The paths of the notes and other files, settings aside."""
        found = (path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())
        return {path for path in found if not path.startswith(".git/") and path != "vault-agent.yaml"}

    def git(self, *args: str) -> str:
        return git_as(self.root, self.name, *args)


def two_machines(
    folder: Path,
    notes: dict[str, str],
    options: Options = FAST,
    clocks: tuple[Clock | None, Clock | None] = (None, None),
) -> tuple[Machine, Machine]:
    """Two machines with the same notes, both in step with the remote."""
    remote = folder / "shared.git"
    make_remote(remote)
    first = Machine("Anna", make_vault(folder / "one", dict(notes), clock=clocks[0], options=options), remote)
    first.synced()
    return first, another(folder, "Bert", remote, options, clocks[1])


def another(folder: Path, name: str, remote: Path, options: Options = FAST, clock: Clock | None = None) -> Machine:
    """One more machine with a clone of what the remote has."""
    root = folder / name.lower() / "vault"
    root.parent.mkdir(parents=True)
    clone_as(name, remote, root)
    machine = Machine(name, open_vault(root, folder / name.lower() / "state", clock or FakeClock(), options), remote)
    machine.synced()
    return machine
