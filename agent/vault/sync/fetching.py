"""Fetches a remote's commit through the gate: what is too much to be read is dropped, and not fetched again."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from agent.config.receiving_limits import ReceivingLimits, TooMuch
from agent.git.network import Network
from agent.git.receiving_sizes import check_sizes
from agent.git.repository import common_folder, read_text, ref_commit
from agent.git.runner import Git
from agent.vault.provenance.remotes import plain_address
from agent.vault.store import Vault
from agent.vault.sync.state import RefusedCommit, SyncedRemote


def receive(vault: Vault, network: Network, remote: SyncedRemote, commit: str, also: Sequence[str] = ()) -> None:
    """Have the remote's commit (empty: it has none) here, at the remote-tracking reference, and what the refspecs
    `also` name, if they are within the limits.

    Raises `TooMuch` if it is not: nothing of it is here then, or, where git has fetched it by itself, no reference to
    it.
    """
    limits = limits_of(vault, remote)
    tracked = ref_commit(common_folder(vault.place.gitdir), remote.tracking)
    if remote.refusal is not None and remote.refusal.mark == _mark(commit, limits):
        _drop(vault, remote, commit)
        raise TooMuch(remote.refusal.reason, hint=remote.refusal.hint)
    branch = [f"+refs/heads/{remote.branch}:{remote.tracking}"] if commit and commit != tracked else []
    if branch or also:

        def inspect(git: Git, new: Sequence[str], known: Sequence[str]) -> None:
            check_sizes(git, new, known, limits)

        network.fetch(remote.address, [*branch, *also], limits.fetch, inspect)
    if commit and not branch and commit != remote.agreed:
        try:
            check_sizes(vault.git, [commit], [each for each in (vault.head, remote.agreed) if each], limits)
        except TooMuch:
            _drop(vault, remote, commit)
            raise


def refused(vault: Vault, remote: SyncedRemote, commit: str, error: TooMuch) -> SyncedRemote:
    """The remote with the record that its commit is too much, until it, or a limit, is another one."""
    return replace(remote, refusal=RefusedCommit(_mark(commit, limits_of(vault, remote)), error.message, error.hint))


def limits_of(vault: Vault, remote: SyncedRemote) -> ReceivingLimits:
    """The limits for what comes from a remote: where only the person writes, a note may have any size."""
    limits = vault.options.receiving
    is_mine = vault.provenance.answers.load().is_mine(plain_address(remote.address))
    return replace(limits, note=0) if is_mine else limits


def _mark(commit: str, limits: ReceivingLimits) -> str:
    return f"{commit} {limits.files} {limits.depth} {limits.note} {limits.fetch}"


def _drop(vault: Vault, remote: SyncedRemote, commit: str) -> None:
    """Take back the references to a commit that is not taken in."""
    common = common_folder(vault.place.gitdir)
    if ref_commit(common, remote.tracking) == commit:
        change = [remote.tracking, remote.agreed, commit] if remote.agreed else ["-d", remote.tracking, commit]
        vault.git.run("update-ref", *change)
    fetched = vault.place.gitdir / "FETCH_HEAD"
    if commit in read_text(fetched):
        with suppress(OSError):
            fetched.unlink()
