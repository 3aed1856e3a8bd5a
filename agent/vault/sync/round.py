"""One round with one remote: fetch, join, take in, push. Start reading this package here.

No lock is held while the network works. The branch moves only by the write protocol, and only from the commit that the
round has seen; the remote's only from the commit that was fetched (a lease). When somebody was quicker, the round
begins again, a few times. "Synced" is what the remote has confirmed, nothing else.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from random import random

from agent.config.durable import process_lock
from agent.config.receiving_limits import TooMuch
from agent.dataclass import dataclass
from agent.errors import AgentError, GitFailed, LockHeld, MassChange, Retryable, os_reason
from agent.git.commit import HeadMoved
from agent.git.network import Network, RefUpdate, RefusedRef
from agent.git.objects import TreeEntry
from agent.git.repository import OWN_REFS, branch, common_folder, ref_commit
from agent.git.tree_edit import changed_entries
from agent.texts import Sentence
from agent.vault.held_back import HeldFile
from agent.vault.layout import SYNC_STATE
from agent.vault.receiving.choice import hold_back
from agent.vault.store import Vault
from agent.vault.sync.fetching import receive, refused
from agent.vault.sync.foreign_exchange import ForeignExchange
from agent.vault.sync.joining import Joined, described, join, outgoing
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.problems import ProblemKind, TransferProblem, exclude_here, largest_file, problem_of
from agent.vault.sync.replay import replay
from agent.vault.sync.sides import side_of
from agent.vault.sync.staging import still_staged
from agent.vault.sync.state import StateFile, SyncedRemote, Wait, add_unasked
from agent.vault.worktree.survey import DirtyKind

RESCUE = f"{OWN_REFS}rescue/"
"""The references that keep what is no longer below the branch."""
LOCK = "sync.lock"
"""The lock that a round holds, in the vault's private folder."""
TRIES = 6
_NAMED = 50
"""The most files that git is asked about by name."""
_PAUSE = 0.2
"""Seconds before the second try; doubled with each, and up to twice as long by chance."""
_NONE = Sentence("")
_MOVED = (
    *("stale info", "non-fast-forward", "fetch first"),
    *("failed to update ref", "cannot lock ref", "incorrect old value"),
)
"""How the reasons begin for which a remote refuses a push when another machine was quicker."""


class RoundEnd(StrEnum):
    """How a round ended."""

    SYNCED = "synced"
    """The remote has this vault's commit."""
    WAITS = "waits"
    """The person has to say or finish something first."""
    FAILED = "failed"
    TAKEN = "taken"
    """Another process of this program is syncing this vault."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What a round did. `received` and `sent` are the files that changed here and there, `held` those that came
    and are held back; the rest as in `Joined`.

    `trouble` is why it did not end as `SYNCED`, `hint` what to do about it.
    """

    remote: str
    end: RoundEnd
    received: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    conflicts: Mapping[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    numbered: Mapping[str, str] = field(default_factory=dict)
    rescued: str = ""
    trouble: Sentence = Sentence("")
    hint: Sentence = Sentence("")
    wait: Wait | None = None
    held: tuple[str, ...] = ()


@dataclass(slots=True)
class SyncRound:
    """One round. `is_patient`: what a person is just typing is not committed yet. `step` is told what begins, and
    `progress` how many files are in place of how many, for a person who watches."""

    vault: Vault
    network: Network
    remote: SyncedRemote
    allowed: RemotePermission = RemotePermission()
    is_patient: bool = False
    step: Callable[[str], object] = lambda step: None
    progress: Callable[[int, int], object] = lambda done, of: None
    _held: dict[str, None] = field(default_factory=dict, init=False)
    _received: dict[str, None] = field(default_factory=dict, init=False)
    _sent: tuple[str, ...] = field(default=(), init=False)
    _joined: list[Joined] = field(default_factory=list, init=False)
    _rescued: str = field(default="", init=False)

    def run(self) -> RoundReport:
        """Keep the vault in step with the remote once; raises nothing that a report can say."""
        vault = self.vault
        states = StateFile(vault.private_folder / SYNC_STATE)
        try:
            with process_lock(vault.private_folder / LOCK, vault.clock, 0.0, "another vault-agent is syncing"):
                report = self._run()
                states.put(self.remote)
                for path in report.conflicts:
                    add_unasked(vault, path)
        except LockHeld as error:
            return self._report(RoundEnd.TAKEN, error.message, Sentence(error.hint))
        return report

    def _run(self) -> RoundReport:
        now = self.vault.clock.now()
        try:
            wait = self._rounds()
        except (_Busy, MassChange) as error:
            self.remote = self.remote.failed(error.message, Sentence(error.hint), now, is_passing=True)
            return self._report(RoundEnd.WAITS, error.message, Sentence(error.hint))
        except (AgentError, OSError) as error:
            problem = _problem(error)
            self.remote = self.remote.failed(problem.reason, problem.hint, now, is_passing=problem.passes)
            return self._report(RoundEnd.FAILED, problem.reason, problem.hint)
        if wait is None:
            return self._report(RoundEnd.SYNCED)
        trouble, hint = described(wait, self.remote)
        self.remote = replace(self.remote.failed(trouble, hint, now, is_passing=False), wait=wait)
        return replace(self._report(RoundEnd.WAITS, trouble, hint), wait=wait)

    def _rounds(self) -> Wait | None:
        """Try until the remote has this vault's commit; a `Wait` if the person has to say something first."""
        for attempt in range(TRIES):
            if attempt:
                self.vault.clock.sleep(_PAUSE * 2**attempt * (1 + random()))
            self._check_free()
            self._commit_people()
            exchange = ForeignExchange(self.vault, self.network, self.remote)
            theirs = self._fetch(exchange)
            try:
                wait = self._join(theirs) if theirs else None
            except HeadMoved:
                continue
            if wait is not None:
                return wait
            head = self.vault.head or ""
            if theirs and (wait := self._outgoing(head, theirs)) is not None:
                return wait
            exchange.hand_over(head, theirs)
            if head == theirs:
                self._agree(theirs)
                return None
            try:
                if self._push(head, theirs) and self.vault.head == head:  # else somebody has committed since
                    return None
            except AgentError as error:
                if not theirs or _problem(error).kind is not ProblemKind.TOO_LARGE or not self._leave_out(head, theirs):
                    raise
        name = self.remote.name
        raise _Busy("{name} is changed by other machines without a pause", hint="it is tried again later", name=name)

    def _outgoing(self, head: str, theirs: str) -> Wait | None:
        return None if head == theirs or self.allowed.at(theirs).mass else outgoing(self.vault, head, theirs)

    def _check_free(self) -> None:
        """Raise `_Busy` while the person is in the middle of something in git."""
        reason = self.vault.waiting_reason()
        if reason is not None:
            raise _Busy("sync waits: {reason}", hint="finish or abort it, then sync goes on", reason=Sentence(reason))
        name = branch(self.vault.place.gitdir)
        if name != f"refs/heads/{self.remote.branch}":
            raise _Busy(
                "sync waits: the branch here is {name}, and {branch} is kept in step",
                hint="git switch {branch}",
                name=(name or "").removeprefix("refs/heads/"),
                branch=self.remote.branch,
            )

    def _commit_people(self) -> None:
        """Commit what people have saved, in their name, so that it is sent and nothing stands in the way.

        Raises `_Busy` if they have staged something: what a crash left in the index is settled before.
        """
        self.vault.settle()
        if path := still_staged(self.vault):
            raise _staged(path)
        if self.vault.options.human_commits:
            self.vault.commit_human(confirmed=self.allowed.mass and not self.allowed.theirs, quiet=self.is_patient)

    def _fetch(self, exchange: ForeignExchange) -> str:
        """The commit of the remote's branch, now in this repository; empty if it has no such branch yet."""
        self.step("fetch")
        ref = f"refs/heads/{self.remote.branch}"
        there = self.network.list_refs(self.remote.address, [ref, *exchange.refs()])
        found = there.get(ref, "")
        wanted = exchange.refspecs(there)
        try:
            receive(self.vault, self.network, self.remote, found, wanted)
        except TooMuch as error:
            self.remote = refused(self.vault, self.remote, found, error)
            raise
        exchange.take()
        return self._tracked() if found else ""

    def _tracked(self) -> str:
        """The commit of the remote-tracking branch; empty if there is none."""
        return ref_commit(common_folder(self.vault.place.gitdir), self.remote.tracking)

    def _join(self, theirs: str) -> Wait | None:
        """Take in what the remote has; raises `HeadMoved` if somebody has committed meanwhile."""
        vault, head = self.vault, self.vault.head
        if head == theirs:
            return None
        self.step("merge")
        if head is None:
            raise _Busy("the vault has no commit yet", hint="vault-agent commit")
        joined = join(vault, self.remote, head, theirs, self.allowed.at(theirs))
        if isinstance(joined, Wait):
            return joined
        if joined.commit == head:
            return None
        prefix, found = vault.place.prefix, changed_entries(vault.git, head, joined.commit)
        entries = {raw.decode("utf-8", "surrogateescape").removeprefix(prefix): each for raw, each in found.items()}
        self._check_uncommitted(entries, head, joined.commit)
        if any(note.path in entries for note in vault.writer.held.all()):
            vault.commit_held(entries)
            raise HeadMoved("what a run has written is committed first")
        if joined.left:
            self._rescue(joined.left)
            vault.provenance.rewrite(joined.made)
        self.step("write")
        held: list[HeldFile] = []
        outcome = vault.take_in(
            joined.commit,
            head,
            f"from {self.remote.name}",
            is_own=joined.is_own,
            progress=self.progress,
            first=lambda: held.extend(hold_back(vault, head, joined.commit, theirs)),
        )
        self._held |= {each.path: None for each in held}
        self._received |= dict.fromkeys(path for path in entries if path not in self._held)
        self._joined.append(replace(joined, conflicts={**joined.conflicts, **dict.fromkeys(outcome.conflicts, "")}))
        return None

    def _check_uncommitted(self, entries: Mapping[str, TreeEntry | None], head: str, commit: str) -> None:
        """Raise `_Busy` if the person has begun something with a file that would change and only they can end."""
        found = self.vault.changed_files(entries) if len(entries) <= _NAMED else self.vault.changed_files()
        changed = {each.path: each.kind for each in found if each.path in entries}
        staged = sorted(path for path, kind in changed.items() if kind is DirtyKind.STAGED)
        if staged:
            raise _staged(staged[0])
        away = {path for path, kind in changed.items() if kind is DirtyKind.DELETED and entries[path] is not None}
        if any(entries[path] is None for path in changed):
            moves = side_of(self.vault.git, head, commit).moves
            away |= {path for path in moves if path.removeprefix(self.vault.place.prefix) in changed}
        if away:
            raise _Busy(
                "sync waits: {path} was moved on one side and changed on the other, and is not committed here",
                hint="commit it: vault-agent commit",
                path=min(away),
            )

    def _rescue(self, commit: str) -> None:
        """Keep a commit that the branch leaves; on this machine only: it may have what was forgotten on another one."""
        name = f"{RESCUE}{self.vault.clock.now():%Y-%m-%d-%H%M%S}-{commit[:10]}"
        self.vault.git.run("update-ref", name, commit)
        self._rescued = name

    def _leave_out(self, head: str, theirs: str) -> bool:
        """Take the largest file that the remote does not have out of the commits that are to be sent: it stays on this
        disk, and out of git. False if there is none that can be the reason."""
        vault = self.vault
        path = largest_file(vault.git, theirs, head)
        if not path:
            return False
        made = replay(vault, theirs, head, theirs, vault.clock.now(), without=(path,))
        self._rescue(head)
        exclude_here(vault, path)
        vault.provenance.rewrite(made.made)
        vault.take_in(made.tip, head, f"without {path}", stay=(path,))
        self.remote = replace(self.remote, left_out=tuple(sorted({*self.remote.left_out, path})))
        return True

    def _push(self, head: str, theirs: str) -> bool:
        """Send the commit; False if another machine was quicker. Raises `AgentError` if the remote refuses it."""
        self.step("push")
        ref = f"refs/heads/{self.remote.branch}"
        refused = self.network.push(self.remote.address, [RefUpdate(head, ref, theirs)])
        if not refused:
            if theirs:
                names = [os.fsdecode(raw) for raw in changed_entries(self.vault.git, theirs, head)]
                self._sent = tuple(dict.fromkeys((*self._sent, *names)))
            self.vault.git.run("update-ref", self.remote.tracking, head)
            self._agree(head)
            return True
        if refused[0].reason.startswith(_MOVED):
            return False
        raise RemoteRefused(refused)

    def _agree(self, commit: str) -> None:
        self.remote = self.remote.agrees(commit, self.vault.clock.now())

    def _report(self, end: RoundEnd, trouble: Sentence = _NONE, hint: Sentence = _NONE) -> RoundReport:
        conflicts: dict[str, str] = {}
        numbered: dict[str, str] = {}
        for each in self._joined:
            conflicts |= each.conflicts
            numbered |= each.numbered
        copies = tuple(path for each in self._joined for path in each.undeleted)
        received = tuple(self._received)
        return RoundReport(
            self.remote.name,
            end,
            received,
            self._sent,
            conflicts,
            copies,
            numbered,
            self._rescued,
            trouble,
            hint,
            held=(*self._held,),
        )


def sync_once(vault: Vault, remote: SyncedRemote) -> RoundReport:
    """One round with the person's own network."""
    return SyncRound(vault, Network(vault.git), remote).run()


def _problem(error: AgentError | OSError) -> TransferProblem:
    """What stands in the way, for people."""
    match error:
        case RemoteRefused():
            return problem_of(error.refused)
        case LockHeld() | HeadMoved():
            return TransferProblem(ProblemKind.OTHER, error.message, Sentence(error.hint), passes=True)
        case GitFailed() | Retryable():
            return problem_of(error)
        case AgentError():
            return TransferProblem(ProblemKind.OTHER, error.message, Sentence(error.hint), passes=False)
        case _:
            return TransferProblem(ProblemKind.OTHER, os_reason(error), Sentence("vault-agent doctor"), passes=True)


class _Busy(Retryable):
    """The round waits for the person, who is at work in git."""


def _staged(path: str) -> _Busy:
    """The error for a file that the person has staged and not committed."""
    hint = "commit it, or take it back with `git restore --staged`"
    return _Busy("sync waits: {path} is staged and not committed", hint=hint, path=path)


class RemoteRefused(Retryable):
    """The remote did not take a push."""

    def __init__(self, refused: tuple[RefusedRef, ...]) -> None:
        super().__init__("the remote refused the push: {reason}", reason=refused[0].reason)
        self.refused = refused
