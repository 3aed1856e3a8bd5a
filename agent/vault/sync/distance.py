"""How far this machine and each remote are from each other, read without the network."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.git.identities import git_time
from agent.git.repository import common_folder, ref_commit
from agent.git.runner import Git
from agent.lazy import later
from agent.vault.store import Vault
from agent.vault.sync.state import SyncedRemote, sync_state

if TYPE_CHECKING:
    from agent.config.addresses import without_login
else:
    without_login = later("agent.config.addresses", "without_login")

QUIET = timedelta(days=1)
"""How long a trouble that passes by itself, such as being offline, is no news."""


@dataclass(frozen=True, slots=True)
class RemoteDistance:
    """A remote, as far as it was known at its last answer.

    `ahead`: the number of commits that only this machine has, the oldest of them made at `ahead_since`; `behind`: of
    those that only the remote has. `uncommitted`: of the files that are saved here and in no commit.
    """

    remote: SyncedRemote
    ahead: int
    behind: int
    ahead_since: datetime | None
    behind_since: datetime | None
    uncommitted: int

    @property
    def address(self) -> str:
        """The address without a login."""
        return without_login(self.remote.address)

    @property
    def is_synced(self) -> bool:
        """True if the remote has confirmed all that is here, and nothing has gone wrong since."""
        remote = self.remote
        return bool(remote.agreed) and not (remote.trouble or self.ahead or self.behind or self.uncommitted)

    def is_quiet(self, now: datetime) -> bool:
        """True if nothing is wrong with it that a person should know by now."""
        return is_quiet(self.remote, now)


def is_quiet(remote: SyncedRemote, now: datetime) -> bool:
    """True if nothing is wrong with a remote, or only what passes by itself, and for less than a day."""
    if not remote.trouble:
        return True
    return remote.is_passing and remote.wait is None and remote.since is not None and now - remote.since < QUIET


def distances(vault: Vault, uncommitted: int) -> Iterator[RemoteDistance]:
    """How each remote stands that is kept in step; `uncommitted` is the number of changed files."""
    for remote in sync_state(vault).remotes.values():
        yield _distance(vault, remote, uncommitted)


def _distance(vault: Vault, remote: SyncedRemote, uncommitted: int) -> RemoteDistance:
    git, head = vault.git, vault.head or ""
    there = ref_commit(common_folder(vault.place.gitdir), remote.tracking)
    if not head or head == there:
        return RemoteDistance(remote, 0, 0, None, None, uncommitted)
    ahead = _times(git, head, there)
    missing = _times(git, there, head) if there else []
    return RemoteDistance(
        remote, len(ahead), len(missing), min(ahead, default=None), min(missing, default=None), uncommitted
    )


def _times(git: Git, commit: str, without: str) -> list[datetime]:
    """The times of the commits that only the first has."""
    names = [commit, f"^{without}"] if without else [commit]
    rows = git.run("rev-list", "--timestamp", "--end-of-options", *names, ok=(0, 128)).decode().splitlines()
    return [git_time(row.partition(" ")[0]) for row in rows]
