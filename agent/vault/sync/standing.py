"""How far this machine and each remote are from each other, read without the network."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from agent.dataclass import dataclass
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.link_check import common_folder
from agent.vault.plumbing.logins import without_login
from agent.vault.plumbing.repository import ref_commit
from agent.vault.store import Vault
from agent.vault.sync.state import SyncedRemote, sync_state

QUIET = timedelta(days=1)
"""How long a trouble that passes by itself, such as being offline, is no news."""


@dataclass(frozen=True, slots=True)
class RemoteStanding:
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


def standings(vault: Vault, uncommitted: int) -> Iterator[RemoteStanding]:
    """How each remote stands that is kept in step; `uncommitted` is the number of changed files."""
    for remote in sync_state(vault).remotes.values():
        yield _standing(vault, remote, uncommitted)


def _standing(vault: Vault, remote: SyncedRemote, uncommitted: int) -> RemoteStanding:
    git, head = vault.git, vault.head or ""
    there = ref_commit(common_folder(vault.place.gitdir), remote.tracking)
    if not head or head == there:
        return RemoteStanding(remote, 0, 0, None, None, uncommitted)
    ahead = _times(git, head, there)
    behind = _times(git, there, head) if there else []
    return RemoteStanding(
        remote, len(ahead), len(behind), min(ahead, default=None), min(behind, default=None), uncommitted
    )


def _times(git: Git, commit: str, without: str) -> list[datetime]:
    """The times of the commits that only the first has."""
    names = [commit, f"^{without}"] if without else [commit]
    rows = git.run("rev-list", "--timestamp", "--end-of-options", *names, ok=(0, 128)).decode().splitlines()
    return [datetime.fromtimestamp(int(row.partition(" ")[0]), UTC) for row in rows]


def standing_document(standing: RemoteStanding) -> dict[str, object]:
    """One remote for JSON."""
    remote = standing.remote
    wait = remote.wait
    return {
        "name": remote.name,
        "address": standing.address,
        "branch": remote.branch,
        "synced": standing.is_synced,
        "as_of": _iso(remote.agreed_at),
        "tried": _iso(remote.tried_at),
        "ahead": standing.ahead,
        "ahead_since": _iso(standing.ahead_since),
        "behind": standing.behind,
        "behind_since": _iso(standing.behind_since),
        "uncommitted": standing.uncommitted,
        "problem": str(remote.trouble) or None,
        "hint": str(remote.hint) or None,
        "passing": remote.is_passing,
        "since": _iso(remote.since),
        "wait": {"kind": wait.kind.value, "notes": list(wait.paths)} if wait is not None else None,
        "left_out": list(remote.left_out),
    }


def _iso(when: datetime | None) -> str | None:
    return when.isoformat() if when is not None else None
