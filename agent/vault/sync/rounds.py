"""Rounds with the remotes that are set up, one after the other, and the pause between them that a person wishes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from agent.config.addresses import without_login
from agent.errors import UserError
from agent.git.network import Network
from agent.vault.provenance.remotes import configured
from agent.vault.store import Vault
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import RoundReport, SyncRound
from agent.vault.sync.state import SyncedRemote, state_file, sync_state

NETWORK_SECONDS = 120.0
"""Seconds after which one transfer is ended."""


def chosen(vault: Vault, name: str = "") -> list[SyncedRemote]:
    """The remote of this name, or all; raises `UserError` if there is none, or if its address is another one now."""
    remotes = sync_state(vault).remotes
    if not remotes:
        raise UserError("no remote is set up", hint="vault-agent sync setup ADDRESS; without an address it helps")
    if name and name not in remotes:
        raise UserError(
            "there is no remote {name} that is kept in step",
            hint="vault-agent sync status lists them; vault-agent sync setup {name} adds one",
            name=name,
        )
    found = [remotes[name]] if name else [*remotes.values()]
    addresses = configured(vault.git)
    for each in found:
        now = addresses.get(each.name, "")
        if now != each.address:
            raise UserError(
                "the remote {name} was set up with the address {address}, and git's settings have another one now",
                hint="vault-agent sync setup {name} takes up the new one; git remote -v shows it",
                name=each.name,
                address=without_login(each.address),
            )
    return found


def rounds(
    vault: Vault,
    remotes: Sequence[SyncedRemote],
    allowed: RemotePermission,
    step: Callable[[str], object] = lambda step: None,
    progress: Callable[[int, int], object] = lambda done, of: None,
    seconds: float = NETWORK_SECONDS,
    answered: Mapping[str, RemotePermission] = {},
    is_patient: bool = False,
) -> Iterator[RoundReport]:
    """One round with each remote. With several, the earlier ones are done again if a later one had something new.

    `seconds` is the most for one transfer, `answered` what is allowed for single remotes instead of `allowed`; the rest
    as in `SyncRound`.
    """
    network = Network(vault.git, seconds)
    states = state_file(vault)

    def go_round(each: SyncedRemote) -> RoundReport:
        remote, permission = states.load().remotes.get(each.name, each), answered.get(each.name, allowed)
        return SyncRound(vault, network, remote, permission, is_patient, step, progress).run()

    first = ""
    for each in remotes:
        report = go_round(each)
        first = first or (vault.head or "")
        yield report
    if len(remotes) > 1 and vault.head != first:
        for each in remotes[:-1]:
            yield go_round(each)


def pause(vault: Vault, paused: bool) -> bool:
    """Stop the daemon's rounds, or let them go on; returns what it was before."""
    states = state_file(vault)
    before = states.load()
    states.save(replace(before, is_paused=paused))
    return before.is_paused
