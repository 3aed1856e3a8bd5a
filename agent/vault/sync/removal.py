"""Takes a remote out: this machine neither sends to it nor takes in from it any more, and forgets what it knew of it.

The remote is asked nothing and keeps all that it has. What came from it stays, and counts as before: only what comes
later by the same address is asked about anew. What was rescued here stays, too: it may be the only copy.
"""

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.vault.locks import process_lock
from agent.vault.provenance.remotes import plain_address
from agent.vault.store import Vault
from agent.vault.sync.claims import drop_claims
from agent.vault.sync.round import LOCK
from agent.vault.sync.setup import remotes_of_git
from agent.vault.sync.standing import standings
from agent.vault.sync.state import state_file


@dataclass(frozen=True, slots=True)
class Removed:
    """The remote that was taken out. `unsent`: the commits here that it was never seen to have."""

    name: str
    address: str
    unsent: int


def remove(vault: Vault, name: str) -> Removed:
    """Take a remote out of sync and, unless it has another address there by now, out of git's settings.

    The answer to who writes there is dropped, and so are the claims that this machine has there. Raises `UserError` if
    no remote of this name is kept in step, `LockHeld` while a round goes on.
    """
    states = state_file(vault)
    with process_lock(vault.private_folder / LOCK, vault.clock, 0.0, "another vault-agent is syncing"):
        standing = next((each for each in standings(vault, 0) if each.remote.name == name), None)
        if standing is None:
            hint = "vault-agent sync status lists them; git remote remove NAME takes out one that only git has"
            raise UserError("there is no remote {name} that is kept in step", hint=hint, name=name)
        remote = standing.remote
        drop_claims(vault, remote)
        vault.provenance.leave(plain_address(remote.address))
        if remotes_of_git(vault).get(name) == remote.address:
            vault.git.run("remote", "remove", name)
        states.drop(name)
    return Removed(name, plain_address(remote.address), standing.ahead)
