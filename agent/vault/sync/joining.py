"""Finds the commit in which a remote's history and this machine's come together; moves nothing.

A remote that only went on is merged. One whose history was rewritten never moves this machine back: if no note loses
text by it, our own commits are made again on top; otherwise the person is asked.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum

from agent.dataclass import dataclass
from agent.git.identities import AGENT, RAW, git_time, signature
from agent.git.object_ids import object_id
from agent.git.runner import Git
from agent.git.tree_edit import commit_edits
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.vault.history.purged import load_rewritten
from agent.vault.message import compose
from agent.vault.store import Vault
from agent.vault.sync.permission import RemoteChoice, RemotePermission
from agent.vault.sync.replay import replay
from agent.vault.sync.state import SyncedRemote, Wait, WaitKind
from agent.vault.sync.trees import merge_trees
from agent.vault.write.mass_change import lost_between
from agent.vault.write.take_in import TAKE_IN


class CommitOrder(StrEnum):
    """The commit here, seen from the remote's."""

    SAME = "same"
    AHEAD = "ahead"
    BEHIND = "behind"
    DIVERGED = "diverged"
    UNRELATED = "unrelated"
    """They have no commit in common, as after two `init`s."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The order of two commits, with their latest common commit (the empty tree if there is none)."""

    order: CommitOrder
    base: str


def relate(git: Git, ours: str, theirs: str) -> Relation:
    """Compare two commits of this repository."""
    if ours == theirs:
        return Relation(CommitOrder.SAME, ours)
    found = git.run("merge-base", "--end-of-options", ours, theirs, ok=(0, 1)).decode().strip()
    if not found:
        return Relation(CommitOrder.UNRELATED, object_id("tree", b"", git.width))
    order = {theirs: CommitOrder.AHEAD, ours: CommitOrder.BEHIND}.get(found, CommitOrder.DIVERGED)
    return Relation(order, found)


def contains(git: Git, commit: str, earlier: str) -> bool:
    """True if `earlier` is the commit or one below it; False if it is not in this repository."""
    if commit == earlier:
        return True
    command = ["merge-base", "--is-ancestor", "--end-of-options", earlier, commit]
    running = git.start(*command)
    running.wait(ok=(0, 1, 128))
    return running.code == 0


@dataclass(frozen=True, slots=True)
class Joined:
    """The commit to move to, and what a person should know of it.

    `conflicts`: notes with their conflict copies. `undeleted`: deleted on one side, changed on the other.
    `numbered`: files that got another name. `left`: the commit that is no longer below, if there is one. `made`: our
    commits that were made again. `is_own`: the commit is a merge that was made here.
    """

    commit: str
    conflicts: Mapping[str, str] = field(default_factory=dict)
    undeleted: tuple[str, ...] = ()
    numbered: Mapping[str, str] = field(default_factory=dict)
    left: str = ""
    made: Mapping[str, str] = field(default_factory=dict)
    is_own: bool = False


def join(vault: Vault, remote: SyncedRemote, ours: str, theirs: str, allowed: RemotePermission) -> Joined | Wait:
    """Where to go from HEAD's commit `ours` when the remote is at `theirs`; a `Wait` if the person has to say."""
    git = vault.git
    agreed = remote.agreed
    if agreed and not contains(git, theirs, agreed) and contains(git, ours, agreed):
        found = _rewritten(vault, agreed, ours, theirs, allowed)
    elif agreed and not contains(git, ours, agreed) and agreed in load_rewritten(vault):
        found = _forgotten_here(vault, agreed, ours, theirs)
    else:
        found = _ordinary(vault, remote, ours, theirs, allowed)
    if isinstance(found, Wait) or allowed.mass or found.left:
        return found
    lost = _too_many(vault, ours, found.commit)
    return Wait(WaitKind.INCOMING, ours, theirs, lost) if lost else found


def outgoing(vault: Vault, ours: str, theirs: str) -> Wait | None:
    """A `Wait` if the push of `ours` would delete or empty too many of the notes that the remote has at `theirs`."""
    lost = _too_many(vault, theirs, ours)
    return Wait(WaitKind.OUTGOING, ours, theirs, lost) if lost else None


def _too_many(vault: Vault, before: str, after: str) -> tuple[str, ...]:
    """The notes that are lost between two commits, if they are more than the brake allows; else none."""
    brake = vault.options.brake
    if before == after:
        return ()
    lost = lost_between(vault.git, vault.place.prefix, before, after, brake.notes)
    if len(lost) <= brake.limit(0):
        return ()
    return tuple(sorted(lost)) if len(lost) > brake.limit(vault.writer.count_notes()) else ()


def _ordinary(vault: Vault, remote: SyncedRemote, ours: str, theirs: str, allowed: RemotePermission) -> Joined | Wait:
    relation = relate(vault.git, ours, theirs)
    match relation.order:
        case CommitOrder.SAME | CommitOrder.AHEAD:
            return Joined(ours)
        case CommitOrder.BEHIND:
            return Joined(theirs)
        case CommitOrder.UNRELATED if not allowed.join:
            return Wait(WaitKind.UNRELATED, ours, theirs)
        case _:
            return _merged(vault, remote, relation.base, ours, theirs)


def _merged(vault: Vault, remote: SyncedRemote, base: str, ours: str, theirs: str) -> Joined:
    """A merge commit of both."""
    git, now = vault.git, vault.clock.now()
    merged = merge_trees(git, base, ours, theirs, vault.home, _day(vault, ours, theirs))
    message = compose(f"sync: joined with {remote.name}", Stamp("agent", tool=TAKE_IN), known=vault.known)
    who = signature(AGENT, now)
    sign, parents = vault.signing_key.sign, (ours, theirs)
    commit = commit_edits(git, ours, merged.edits, merged.blobs, parents, who, who, message, sign)
    return Joined(commit, merged.conflicts, merged.undeleted, merged.numbered, is_own=True)


def _rewritten(vault: Vault, agreed: str, ours: str, theirs: str, allowed: RemotePermission) -> Joined | Wait:
    choice = allowed.choice
    if choice is RemoteChoice.ASK:
        lost = lost_lines(vault, agreed, theirs)
        if lost:
            return Wait(WaitKind.REWRITTEN, ours, theirs, lost)
        choice = RemoteChoice.TAKE
    if choice is RemoteChoice.TAKE:
        made = replay(vault, agreed, ours, theirs, _day(vault, ours, theirs))
        return Joined(made.tip, left=ours, made=made.made)
    relation = relate(vault.git, ours, theirs)
    name = SyncedRemote("the rewritten remote", "", "")
    return _merged(vault, name, relation.base, ours, theirs)


def _forgotten_here(vault: Vault, agreed: str, ours: str, theirs: str) -> Joined:
    """A purge has written our history anew: a merge would bring back what it took out, so that what is new there is
    made again on top of ours. The remote's branch is replaced by the push, from exactly the commit that it has."""
    again = replay(vault, agreed, theirs, ours, _day(vault, ours, theirs))
    return Joined(again.tip)


def lost_lines(vault: Vault, before: str, after: str) -> tuple[str, ...]:
    """The files that have lost at least one line with text between two commits, and are not just elsewhere now."""
    command = ["diff", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-blank-lines"]
    fields = iter(vault.git.fields(*command, "--end-of-options", before, after))
    lost = []
    for field_ in fields:
        _, removed, path = field_.split("\t", 2)
        if not path:
            path, _ = next(fields), next(fields)
        if removed != "0":
            lost.append(path)
    return tuple(lost)


def _day(vault: Vault, ours: str, theirs: str) -> datetime:
    """The time of the later commit, which names conflict copies the same way on every machine."""
    found = vault.git.run("show", "-s", RAW, "--format=%cd", "--end-of-options", ours, theirs)
    return max(map(git_time, found.decode("ascii", "replace").splitlines()))


def described(wait: Wait, remote: SyncedRemote) -> tuple[Sentence, Sentence]:
    """What waits, and what to do about it."""
    count, name = len(wait.paths), remote.name
    match wait.kind:
        case WaitKind.REWRITTEN:
            return (
                Sentence(
                    "{name} was rewritten: {count} files there have lost lines that are here", name=name, count=count
                ),
                Sentence("look with vault-agent sync status; then vault-agent sync --keep or --take"),
            )
        case WaitKind.INCOMING:
            return (
                Sentence("{name} would delete or empty {count} notes here", name=name, count=count),
                Sentence("vault-agent sync status lists them; vault-agent sync --yes if you mean it"),
            )
        case WaitKind.OUTGOING:
            return (
                Sentence("{count} notes of {name} would be deleted or emptied", name=name, count=count),
                Sentence("vault-agent sync status lists them; vault-agent sync --yes if you mean it"),
            )
        case WaitKind.UNRELATED:
            return (
                Sentence("{name} has another vault", name=name),
                Sentence("vault-agent sync clone gets that one; vault-agent sync --join puts both together"),
            )
