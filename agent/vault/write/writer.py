"""The write protocol: turns an order into one durable commit, or into no change at all.

The order of steps is lock, recover, journal, files, commit, journal; each step is durable before the next one starts.
Notes that are held are put into `held` in place of the commit, and committed with a later order.
The reasons for each step are in its module; this one runs them in order and cleans up after a failure.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.config.durable import process_lock
from agent.dataclass import dataclass
from agent.errors import AgentError, Conflict, LockHeld, NoteExists, NoteGone, Permanent
from agent.git.commit import CommitPlan, Committer, Tip
from agent.git.identities import ARRIVAL_MARK, REFLOG_MARK, person
from agent.git.index_lock import commit_editor_is_open, index_lock
from agent.git.objects import Pack
from agent.git.repository import Place, blocked
from agent.git.runner import Git
from agent.vault.change import FORGET, Applied, Arrival, Change, Collision, Create, Move, Outcome, Request, Stamp
from agent.vault.folders import is_log
from agent.vault.held_back import load_held_back
from agent.vault.layout import Layout
from agent.vault.message import compose
from agent.vault.options import Options
from agent.vault.refusal import refused
from agent.vault.signing_key import SigningKey
from agent.vault.transaction import Order, Queue
from agent.vault.worktree import survey
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import TEMPORARY
from agent.vault.write import apply as on_disk
from agent.vault.write.held_notes import HeldNote, HeldNotes, listed_changes, message_of_held, stamp_with, work_in
from agent.vault.write.holding import Holding, by_commit, work_of_order
from agent.vault.write.journal import PERSON, Journal, JournalRecord, planned
from agent.vault.write.resolve import conflict_copy_path, conflict_note

if TYPE_CHECKING:  # what only a change needs is loaded when there is one: many commands only read
    from agent.vault.write.commit_plan import CommitPlanner
    from agent.vault.write.resolve import Combine, Resolver

TRIES = 4
EDITOR_PATIENCE = 2.0
_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Writer:
    """Carries out orders on one vault."""

    place: Place
    layout: Layout
    git: Git
    files: Files
    clock: Clock
    options: Options
    count_notes: Callable[[], int]
    journal: Journal

    @property
    def queue(self) -> Queue:
        return Queue(self.layout.queue)

    @property
    def held(self) -> HeldNotes:
        """The notes that are written and not committed yet."""
        return HeldNotes(self.layout.held)

    @property
    def holding(self) -> Holding:
        """What holds notes in place of a commit."""
        return Holding(self.held, self.committer, self.git, self.place, self.clock, self.options.home)

    @property
    def combine(self) -> "Combine":
        made: Combine = import_module("agent.vault.write.resolve").combiner(self.git)
        return made

    @property
    def committer(self) -> Committer:
        return Committer(self.git, self.place, self.clock, self.signing_key.sign, load_held_back)

    @property
    def signing_key(self) -> SigningKey:
        """The key with which the commits of this program are signed, if the person wants it."""
        return SigningKey(self.layout.signing)

    def exclusive(self) -> AbstractContextManager[None]:
        """Hold the vault's writer lock; entering raises `LockHeld`."""
        taken = "another vault-agent is writing"
        return process_lock(self.layout.lock, self.clock, self.options.lock_seconds, taken)

    def waiting_reason(self) -> str | None:
        """The reason why writes must wait now, or None; another program's commit gets two seconds to end."""
        deadline = self.clock.monotonic() + EDITOR_PATIENCE
        while (reason := blocked(self.place.gitdir)) is None:
            if not commit_editor_is_open(self.place.gitdir, self.place.worktree):
                return None
            if self.clock.monotonic() >= deadline:
                return "a commit message is being written in an editor"
            self.clock.sleep(_PAUSE)
        return reason

    def check_ours(self, requests: Iterable[Request]) -> None:
        """Raise `BadPath` if a request is about another repository, or a note that a sparse checkout excludes."""
        named = [(each.path, each.to) if isinstance(each, Move) else (each.path,) for each in requests]
        survey.check_ours(self.git, self.place, [path for paths in named for path in paths])

    def enqueue(self, order: Order, reason: str) -> Outcome:
        """Store the order for later; raises `BadPath` for one that could never be carried out."""
        self.check_ours(order.requests)
        self.queue.put(order)
        return Outcome(queued=reason)

    def perform(self, order: Order) -> Outcome:
        """Carry out an order under the writer lock; raises the errors of `Resolver.changes`, with nothing changed.

        Raises `BadPath` for a path in another repository, or one that a sparse checkout excludes.
        """
        self.check_ours(order.requests)
        requests = (*order.requests, *self._views(order))
        resolving: type[Resolver] = import_module("agent.vault.write.resolve").Resolver
        for attempt in range(TRIES):
            token = order.token if attempt == 0 else self.clock.new_id()
            resolver = resolving(self.files, self.combine, token, self._copy_name(token))
            changes = resolver.changes(requests)
            if not changes and order.arrival is None and not any(map(self.held.get, order.release)):
                return Outcome()
            self._brake(order, changes)
            if order.hold and self.options.human_commits:
                self._commit_saves(changes)
            try:
                return self._transact(replace(order, token=token), changes, tuple(resolver.conflicts))
            except (NoteExists, NoteGone, Conflict):
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _views(self, order: Order) -> Iterable[Request]:
        """The tables for Obsidian that come with the first note of their folder; an undo brings none."""
        if not self.options.views or order.arrival is not None or order.stamp.undoes or not order.requests:
            return ()
        created: Iterable[Request] = import_module("agent.vault.template").first_views(
            self.place.root, self.options.home, self.options.language, order.requests
        )
        return created

    def _brake(self, order: Order, changes: Sequence[Change]) -> None:
        """Raise `MassChange` if this change, with the earlier ones of its run, loses too many notes."""
        if order.confirmed:
            return
        module, prefix = import_module("agent.vault.write.mass_change"), self.place.prefix
        module.check_changes(
            *(self.options.brake, self.git, prefix, changes, order.stamp, self.clock.now(), self.count_notes),
            self.held.all,
        )

    def _commit_saves(self, changes: Sequence[Change]) -> None:
        """Commit what a person has saved in these notes, so that the changes can be held; not what they have staged,
        and nothing while git is at work."""
        if not (found := self.holding.saved(changes)):
            return
        token, saved = self.clock.new_id(), planned(found, self.git.width)
        rows = (replace(each, before=None, temporary="", collision=PERSON) for each in saved)
        self.journal.open(JournalRecord(token, "", "", Stamp("human"), tuple(rows)))
        with suppress(LockHeld), self.index_lock(token):
            applied = [Applied(each.path, "", each.before, each.after) for each in found]
            self.commit_applied(Order(token, (), "", Stamp("human")), applied)
        self.journal.close(token, None)

    def _transact(self, order: Order, changes: Sequence[Change], conflicts: tuple[str, ...]) -> Outcome:
        applied: list[Applied] = []
        outcome: Outcome | None = None
        try:
            self._announce(order, changes)
            with self.index_lock(order.token):
                for change in changes:
                    applied.append(on_disk.apply(self.files, change, self.combine))
                    if order.arrival is not None:
                        order.arrival.progress(len(applied), len(changes))
                copies = self._copies(order, changes, applied)
                outcome = self._commit(order, applied, conflicts + copies)
        except Exception as error:  # after an interrupt, as after a crash, `recover` continues
            if isinstance(error, LockHeld) and not applied:
                self.journal.close(order.token, None)
                if order.arrival is not None:
                    raise
                return self.enqueue(order, error.message)
            if outcome is None:
                if not self._undo(order, changes, applied):
                    raise _half_done(error) from error
                if isinstance(error, OSError):
                    raise refused(error, self.place) from error
                raise
        with suppress(AgentError, OSError):  # committed already; unfinished cleaning stays in the journal for `recover`
            is_own = order.arrival is None or order.arrival.is_own
            self.finish(order.token, applied, outcome.commit if is_own else None)
        return outcome

    def _announce(self, order: Order, changes: Sequence[Change]) -> None:
        """Write the planned changes into the journal."""
        files = planned(changes, self.git.width)
        record = JournalRecord(order.token, order.subject, order.body, order.stamp, files)
        if (arrival := order.arrival) is not None:
            record = replace(record, arrived=arrival.commit, seen=arrival.seen, is_own=arrival.is_own)
        self.journal.open(record)

    def index_lock(self, token: str) -> AbstractContextManager[None]:
        """Hold git's index lock for a transaction; entering raises `LockHeld`."""
        place = self.place
        return index_lock(place.gitdir, place.worktree, token, self.clock, self.options.lock_seconds)

    def _copies(self, order: Order, changes: Sequence[Change], applied: list[Applied]) -> tuple[str, ...]:
        """Write the conflict copies that a concurrent save made necessary."""
        late = [
            Change(c.copy, None, conflict_note(a.conflict, c.path), f"{TEMPORARY}{order.token}-c{n}", Collision.REFUSE)
            for n, (c, a) in enumerate(zip(changes, applied, strict=True))
            if a.conflict is not None
        ]
        if late:
            self._announce(order, late)
        for change in late:
            applied.append(on_disk.apply(self.files, change, self.combine))
        return tuple(change.path for change in late)

    def _commit(self, order: Order, applied: Sequence[Applied], conflicts: tuple[str, ...]) -> Outcome:
        for path in {item.path.rpartition("/")[0]: item.path for item in applied}.values():
            self.files.flush(path)
        paths = tuple(item.path for item in applied)
        if (order.hold or order.waits) and not conflicts and self.holding.hold(order, applied):
            return Outcome(paths=paths)
        made = self.commit_applied(order, applied)
        return Outcome(made[-1], made[-2] or made[0], paths, conflicts)

    def commit_applied(self, order: Order, applied: Sequence[Applied]) -> tuple[str | None, ...]:
        """Commit files that are in place, and the held notes that the order releases; or move to the order's commit.

        Returns (staged, held before a person's saves, person's saves, agent's change), each a commit id or None.
        """
        if order.arrival is not None:
            return None, None, None, self._arrive(order.token, order.subject, order.arrival)
        known, message = self.options.known, order.message
        released = [path for path in order.release if path not in {item.path for item in applied}]
        found = {item.path: item.found for item in applied}
        held = {path: note for path in (*found, *released) if (note := self.held.get(path)) is not None}
        same = {
            path
            for path, note in held.items()
            if (note.data == found[path] if path in found else self.is_unchanged(note))
        }
        taken = [note for path, note in held.items() if path in released or (path in same and self._joins(order, note))]
        taken.sort(key=lambda note: note.since)
        body = "\n\n".join(filter(None, (order.body, listed_changes(taken, order.subject))))
        work = work_in(taken)
        work = (*work, *work_of_order(order, found)) if work else ()  # else the stamp says it
        message = message or compose(order.subject, stamp_with(order.stamp, taken), body, work, known=known)
        paths = [self.place.in_git(path) for path in (*found, *released)]
        planning: type[CommitPlanner] = import_module("agent.vault.write.commit_plan").CommitPlanner
        planner = planning(
            self.git,
            self.combine,
            self.place.prefix,
            self.options.human_commits,
            lambda: person(self.git),
            known,
            self.options.language,
            lambda note: self._joins(order, note),
        )

        def counts(tip: Tip, note: HeldNote) -> bool:
            entry = tip.entry(self.place.in_git(note.path))
            return note.path in same or note.base == (entry.oid if entry is not None else "")

        def plan(tip: Tip, pack: Pack) -> CommitPlan:
            survey.check_tip(tip, paths)
            ours = {path: note for path, note in held.items() if counts(tip, note)}
            also = [Applied(path, "", ours[path].data, ours[path].data) for path in released if path in ours]
            return planner.plan([*applied, *also], message, tip, pack, ours)

        def before_ref(commit: str) -> None:
            self.journal.reached_ref(order.token, commit)

        made = self.committer.commit(paths, plan, order.token, before_ref=before_ref)
        for path in held:
            self.held.drop(path)
        return made

    def _joins(self, order: Order, note: HeldNote) -> bool:
        """True if a held note goes into the commit of an order, and not into one below it."""
        if note.path in order.release or order.stamp.tool == FORGET:
            return True
        if note.work:
            return note.stamp.talk == order.stamp.talk
        return not note.waits or is_log(note.path, self.options.home)

    def _arrive(self, token: str, subject: str, arrival: Arrival) -> str:
        """Move the branch to a commit whose files are in place; what a person saved in them since stays uncommitted."""

        def before_ref(commit: str) -> None:
            self.journal.reached_ref(token, commit, is_own=arrival.is_own)

        reason = f"{REFLOG_MARK if arrival.is_own else ARRIVAL_MARK}{subject}"
        self.committer.move_to(arrival.commit, arrival.seen, dict(arrival.entries), token, reason, before_ref)
        return arrival.commit

    def commit_held(self, notes: Sequence[HeldNote], *, apart: bool = False) -> None:
        """Commit held notes (`holding.by_commit`); text that a person added since stays uncommitted."""
        for group in by_commit(notes, apart=apart):
            last, paths = group[-1], tuple(note.path for note in group)
            message = message_of_held(group, self.options.known)
            order = Order(self.clock.new_id(), (), last.subject, last.stamp, release=paths, message=message)
            self._transact(order, (), ())

    def is_unchanged(self, note: HeldNote) -> bool:
        """True if nobody has changed a held note since it was written."""
        try:
            found = self.files.read_now(note.path)
        except (AgentError, OSError):
            return False
        return (found[1] if found is not None else None) == note.data

    def held_unchanged(self) -> frozenset[str]:
        """The paths of the held notes that nobody has changed since they were written."""
        return frozenset(note.path for note in self.held.all() if self.is_unchanged(note))

    def was_committed(self, token: str) -> bool:
        """True if the branch contains a commit that the transaction was about to move HEAD to."""
        reached = self.journal.ref_was_reached(token)
        tip = self.committer.read_tip([]) if reached else None
        return tip is not None and any(self.committer.holds(tip, commit) for commit in reached)

    def finish(self, token: str, applied: Sequence[Applied], commit: str | None) -> None:
        """Remove the temporary files and close the journal; bytes that a program wrote into them late are rescued."""
        for item in applied:
            for data in on_disk.late_saves(self.files, item):
                self.rescue(item.path, data)
            on_disk.discard(self.files, item)
        self.journal.close(token, commit)

    def rescue(self, path: str, data: bytes) -> Outcome:
        """Store bytes that a person saved and that are in no note, as a conflict copy in their name."""
        subject = f"human(notes): kept a late save of {path}"
        return self.keep_copy(path, conflict_note(data, path), subject, Stamp("human"))

    def keep_copy(self, path: str, data: bytes, subject: str, stamp: Stamp) -> Outcome:
        """Write the bytes as a conflict copy beside the path, in one commit; its path is in the outcome."""
        token = self.clock.new_id()
        copy = conflict_copy_path(path, self._copy_name(token))
        return self.perform(Order(token, (Create(copy, data),), subject, stamp))

    def _copy_name(self, token: str) -> str:
        """The unique part of a conflict copy's name: time and end of an id."""
        return f"{self.clock.now():%Y-%m-%d %H%M%S} {token[-4:].lower()}"

    def _undo(self, order: Order, changes: Sequence[Change], applied: Sequence[Applied]) -> bool:
        """Roll back the applied changes; False if that fails: the journal stays open, and `recover` tries again."""
        try:
            for item in reversed(applied):
                on_disk.roll_back(self.files, item)
            for item in applied:
                on_disk.discard(self.files, item)
            done = not any(self.files.temporaries(change.path, change.temporary) for change in changes)
        except (AgentError, OSError):
            done = False
        with suppress(OSError):
            if done:
                self.journal.close(order.token, None)
            else:
                self.journal.give_up(order.token)
        return done


def open_writer(
    place: Place,
    layout: Layout,
    git: Git,
    files: Files,
    clock: Clock,
    options: Options,
    count_notes: Callable[[], int],
) -> Writer:
    """The writer of a vault, with its journal."""
    journal = Journal(layout.journal, options.durable)
    return Writer(place, layout, git, files, clock, options, count_notes, journal)


def _half_done(error: Exception) -> Permanent:
    """The error for a change that failed and could not be rolled back either."""
    return Permanent(
        "the change failed and could not be taken back yet: {error}",
        hint="it is taken back before the next write; vault-agent status counts it as unfinished until then",
        error=error,
    )
