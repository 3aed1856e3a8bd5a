"""Sets up a remote that is kept in step: tries that it can be reached and written, and writes it into git's settings.

Nothing of the vault is sent here; the first round does that. The try is a small object with a reference of its own
outside the branches, which is deleted again.
"""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from agent.config.addresses import without_login
from agent.config.durable import process_lock
from agent.dataclass import dataclass
from agent.errors import AgentError, GitFailed, Retryable, UserError
from agent.git.network import Network, RefUpdate
from agent.git.repository import OWN_REFS, Place, common_folder
from agent.git.repository import branch as head_branch
from agent.git.runner import Git
from agent.texts import Sentence
from agent.vault.layout import SYNC_STATE
from agent.vault.provenance.remotes import configured, plain_address
from agent.vault.store import Vault
from agent.vault.sync.claims import drop_claims
from agent.vault.sync.distance import distances
from agent.vault.sync.problems import ProblemKind, TransferProblem, problem_of
from agent.vault.sync.round import LOCK
from agent.vault.sync.state import StateFile, SyncedRemote, state_file

T = TypeVar("T")

PROBE = f"{OWN_REFS}probe/"
"""The references that a try makes on a remote, and deletes again."""
_NAME = re.compile(r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)*")
_HEADS = "refs/heads/"
_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^@/:]+):")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/]*@)?(?P<host>[^/:@]+)", re.IGNORECASE)
FORGES = {
    "github.com": "https://github.com/new",
    "gitlab.com": "https://gitlab.com/projects/new",
    "codeberg.org": "https://codeberg.org/repo/create",
    "bitbucket.org": "https://bitbucket.org/repo/create",
    "gitee.com": "https://gitee.com/projects/new",
    "git.sr.ht": "https://git.sr.ht/create",
}
"""Hosts where a repository can be public, with the page that makes one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A remote that may be set up. `is_new`: git's settings do not have it. `refuses_refs`: it takes only branches, so
    that it is not known whether this login may write there.
    """

    name: str
    address: str
    branch: str
    is_new: bool
    refuses_refs: bool = False

    @property
    def forge(self) -> str:
        """The page that makes a private repository at the address's public host; empty for any other host."""
        found = _URL.match(self.address) or _SCP.match(self.address)
        return FORGES.get(found["host"].casefold(), "") if found else ""


def remotes_of_git(vault: Vault) -> dict[str, str]:
    """The address of each remote in git's settings, by name."""
    return configured(vault.git)


def check_repository(vault: Vault) -> None:
    """Raise `UserError` for a repository that cannot be kept in step as a whole."""
    place, git = vault.place, vault.git
    check_whole(place)
    if (common_folder(place.gitdir) / "shallow").exists():
        raise UserError(
            "this clone has only the end of the history, so it cannot be compared with others",
            hint="get the rest first: git fetch --unshallow",
        )
    if git.run("config", "--bool", "core.sparseCheckout", ok=(0, 1)).strip() == b"true":
        raise UserError(
            "this clone has only a part of the files (a sparse checkout)",
            hint="get all of them first: git sparse-checkout disable",
        )


def check_whole(place: Place) -> None:
    """Raise `UserError` if the vault is only a folder of its repository."""
    if place.prefix:
        raise UserError(
            "the vault is the folder {folder} of a larger repository, {worktree}, and sync would send all of that",
            hint="give the vault a repository of its own (move it out, then vault-agent init), or sync by git there",
            folder=place.prefix.rstrip("/"),
            worktree=place.worktree,
        )


def examine(vault: Vault, wanted: str, name: str, branch: str) -> Candidate:
    """Find out about the remote that a person means by a name or an address (empty: the only one of git's settings).

    Raises `UserError` if this vault, the address or the branch cannot be used; changes nothing but a probe reference on
    the remote.
    """
    check_repository(vault)
    known = configured(vault.git)
    found, address = _meant(wanted, name, known)
    here = head_branch(vault.place.gitdir) or ""
    if not here:
        raise UserError("no branch is open here (HEAD is detached)", hint="git switch NAME opens one")
    here = here.removeprefix(_HEADS)
    if branch and branch != here:
        raise UserError(
            "the branch here is {here}, and only that one can be kept in step",
            hint="git switch {branch}, or git branch -m {branch} to rename yours; then again",
            here=here,
            branch=branch,
        )
    branches = _branches(Network(vault.git), address)
    if branches and here not in branches and not branch:
        raise UserError(
            "{address} has no branch {here}, but {others}",
            hint="to use one of those: git branch -m NAME; to add yours beside them: "
            "vault-agent sync setup {address} --branch {here}",
            address=without_login(address),
            here=here,
            others=", ".join(sorted(branches)[:5]),
        )
    candidate = Candidate(found, address, here, found not in known)
    return replace(candidate, refuses_refs=not _probe(vault, address))


def record(vault: Vault, candidate: Candidate) -> SyncedRemote:
    """Write the remote into git's settings, as upstream of the branch if that has none, and into the state."""
    name, branch = candidate.name, candidate.branch
    set_remote(vault.git, name, candidate.address if candidate.is_new else "", branch)
    states = StateFile(vault.private_folder / SYNC_STATE)
    before = states.load().remotes.get(name)
    if before is None or (before.address, before.branch) != (candidate.address, branch):
        before = SyncedRemote(name, candidate.address, branch)
    states.put(before)
    return before


def set_remote(git: Git, name: str, address: str, branch: str) -> None:
    """Add a remote to git's settings (with an empty address it is there), as upstream of the branch if that has
    none."""
    if address:
        _set(git, f"remote.{name}.url", address)
        _set(git, f"remote.{name}.fetch", f"+{_HEADS}*:refs/remotes/{name}/*")
    if not git.run("config", "--get", f"branch.{branch}.remote", ok=(0, 1)).strip():
        _set(git, f"branch.{branch}.remote", name)
        _set(git, f"branch.{branch}.merge", f"{_HEADS}{branch}")


def _set(git: Git, key: str, value: str) -> None:
    git.run("config", "--local", key, value)


def _meant(wanted: str, name: str, known: Mapping[str, str]) -> tuple[str, str]:
    """The name and the address of the remote that a person means."""
    if not wanted and len(known) == 1:
        return next(iter(known.items()))
    if not wanted:
        raise UserError(
            "which remote? There are {names}", hint="vault-agent sync setup NAME", names=", ".join(sorted(known))
        )
    if wanted in known:
        return wanted, known[wanted]
    address = plain(wanted)
    same = [each for each, url in known.items() if url in {wanted, address}]
    if same:
        return same[0], known[same[0]]
    if name in known:
        raise UserError(
            "git has another remote {name} already: {address}",
            hint="choose another name: vault-agent sync setup ADDRESS --name NAME",
            name=name,
            address=without_login(known[name]),
        )
    if not _NAME.fullmatch(name) or name.endswith(".lock"):
        raise UserError(
            "{name} cannot be the name of a remote", hint="letters, digits and hyphens, such as home", name=name
        )
    return name, address


def plain(wanted: str) -> str:
    """The address that a person has typed; a path is absolute in the answer."""
    before = wanted.partition("/")[0]
    if ":" in before:
        if wanted.startswith("-") or not wanted.isprintable() or "::" in before:
            raise UserError("{address} is no address that is used here", hint=_KINDS, address=ascii(wanted))
        return wanted
    if not {"/"} & set(wanted) and not Path(wanted).exists():
        raise UserError("there is no remote {name}, and no folder of this name", hint=_KINDS, name=wanted)
    return os.path.abspath(Path(wanted).expanduser())  # noqa: PTH100 - resolve() would rename a link


_KINDS = "an address looks like ssh://me@server/notes.git, https://server/notes.git, or /media/disk/notes.git"


def _branches(network: Network, address: str) -> dict[str, str]:
    found = tried(lambda: network.list_refs(address), address)
    return {ref.removeprefix(_HEADS): oid for ref, oid in found.items() if ref.startswith(_HEADS)}


def _probe(vault: Vault, address: str) -> bool:
    """Write a small reference there and delete it; False if the remote takes none outside the branches."""
    token = vault.clock.new_id()
    oid = vault.git.run("hash-object", "-w", "--stdin", stdin=f"a probe: {token}\n".encode()).decode().strip()
    ref, network = f"{PROBE}{token.lower()}", Network(vault.git)
    refused = tried(lambda: network.push(address, [RefUpdate(oid, ref, "")]), address)
    if not refused:
        with suppress(AgentError):  # a small reference that stays does no harm
            network.push(address, [RefUpdate("", ref, oid)])
    return not refused


def tried(transfer: Callable[[], T], address: str) -> T:
    """What a transfer returns; raises `UserError` with the reason and the help if it fails."""
    try:
        return transfer()
    except (GitFailed, Retryable) as error:
        raise _unusable(problem_of(error), address) from error


def _unusable(problem: TransferProblem, address: str) -> UserError:
    plain = without_login(address)
    hint = problem.hint
    if problem.kind is ProblemKind.LOGIN:
        hint = Sentence("log in once by hand, so that git can remember it: git ls-remote {address}", address=plain)
    elif problem.kind is ProblemKind.GONE:
        hint = Sentence("make an empty, private repository there first, or check the address: git ls-remote {address}",
                        address=plain)  # fmt: skip
    return UserError("{address} cannot be used: {reason}", hint=hint, address=plain, reason=problem.reason)


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
        found = next((each for each in distances(vault, 0) if each.remote.name == name), None)
        if found is None:
            hint = "vault-agent sync status lists them; git remote remove NAME takes out one that only git has"
            raise UserError("there is no remote {name} that is kept in step", hint=hint, name=name)
        remote = found.remote
        drop_claims(vault, remote)
        vault.provenance.leave(plain_address(remote.address))
        if remotes_of_git(vault).get(name) == remote.address:
            vault.git.run("remote", "remove", name)
        states.drop(name)
    return Removed(name, plain_address(remote.address), found.ahead)
