"""Recovery after a crash: finishes or rolls back every transaction that the journal has open, judged by the files.

No person is asked, and no saved bytes of a person are removed: bytes that are neither the old nor the planned version
become a conflict copy.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import AgentError, BadPath, NoteExists
from agent.git.commit import CommitPlan, HeadMoved, Tip
from agent.git.index_lock import file_time, git_is_busy, remove_own, set_aside
from agent.git.object_ids import has_id
from agent.git.objects import Pack
from agent.git.repository import OWN_REFS, blocked, branch
from agent.git.tree_edit import changed_entries
from agent.vault.change import Applied, Arrival, Change, Collision
from agent.vault.transaction import Order
from agent.vault.worktree.files import PART
from agent.vault.worktree.paths import TEMPORARY
from agent.vault.write import apply as on_disk
from agent.vault.write.held_notes import HeldNote
from agent.vault.write.journal import PERSON, JournalRecord, Planned
from agent.vault.write.take_in import take_in
from agent.vault.write.writer import Writer


def settle_strays(writer: Writer, record: JournalRecord) -> None:
    """Remove what is left of a settled transaction anywhere in the vault; bytes of a person's in it are rescued."""
    known = {oid for plan in record.changes for oid in (plan.before, plan.after) if oid}
    names = {plan.temporary: plan.path.rpartition("/")[2] for plan in record.changes}
    for folder, name in _found(writer, record.token):
        meant = next((path for temporary, path in names.items() if f"{name}.".startswith(f"{temporary}.")), "note.md")
        beside = folder + meant
        data = writer.files.beside(beside, name)
        if data is not None and not any(has_id(data, oid) for oid in known):
            writer.rescue(beside, data)
        writer.files.discard(beside, name)


def _found(writer: Writer, token: str) -> Iterator[tuple[str, str]]:
    """The folders (empty, or ending in a slash) and names of the files that begin as those of this transaction do."""
    root = writer.place.root
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        inside = os.path.relpath(folder, root)
        for name in files:
            if name.startswith(f"{TEMPORARY}{token}"):
                yield "" if inside == "." else f"{inside}/", name


PATIENCE = 2.0
_PAUSE = 0.005


@dataclass(frozen=True, slots=True)
class _Found:
    """One planned change, as the crash left it."""

    plan: Planned
    current: bytes | None
    temporaries: dict[str, bytes]

    @property
    def wanted(self) -> bytes | None:
        """The planned bytes, if they are still under a temporary name."""
        return next((data for data in self.temporaries.values() if has_id(data, self.plan.after)), None)

    @property
    def replaced(self) -> dict[str, bytes]:
        """The temporary files with the bytes that the exchange replaced, which are the person's."""
        return {name: data for name, data in self.temporaries.items() if not has_id(data, self.plan.after)}

    @property
    def is_applied(self) -> bool:
        if self.plan.after is None:
            return self.current is None and bool(self.temporaries)
        if self.plan.before is None:
            return self.current is not None and self.wanted is None
        return bool(self.replaced) or (self.current is not None and has_id(self.current, self.plan.after))

    @property
    def can_be_applied(self) -> bool:
        """True if the planned bytes still exist: the journal has only their ids."""
        return self.wanted is not None or (self.plan.after is None and self.current is not None)

    def applied(self) -> Applied:
        """The change in the form of the result of `apply`."""
        known = [data for data in self.temporaries.values() if has_id(data, self.plan.before)]
        out = known or list(self.replaced.values())[-1:]
        found = None if self.plan.before is None else (out[0] if out else self.current)
        plan = self.plan
        return Applied(plan.path, plan.temporary, found, self.current, tuple(self.temporaries.items()), None, plan.mode)


def recover(writer: Writer) -> int:
    """Settle every unfinished transaction, under the writer lock and before any new write; returns their number."""
    records = writer.journal.unfinished()
    now = writer.clock.now().timestamp()
    left = [note for note in writer.held.all() if note.is_orphaned(now)]
    if not (records or left) or blocked(writer.place.gitdir):
        return 0
    settled = 0
    for record in records:
        try:
            _clear_locks(writer, record.token)
            _settle(writer, record)
            settle_strays(writer, record)
        except (AgentError, OSError):
            continue  # it stays open in the journal; `status` shows it, and the next write tries again
        settled += 1
    if any(note.waits for note in left):  # what has waited too long takes all that waits along
        left += [note for note in writer.held.all() if note.waits and note not in left]
    for talk in dict.fromkeys(map(_talk, left)):
        together = [note for note in left if _talk(note) == talk]
        with suppress(AgentError, OSError):
            # one that is held no longer is part of a transaction that was finished just now
            writer.commit_held([note for note in together if writer.held.get(note.path) is not None])
    return settled


def _talk(note: HeldNote) -> str:
    """The run with which a held note is committed; empty for what waits for the evening."""
    return "" if note.waits else note.stamp.talk


def _settle(writer: Writer, record: JournalRecord) -> None:
    if all(plan.collision == PERSON for plan in record.changes):
        _unstage(writer, record)
        writer.journal.close(record.token, None)
        return
    found = [_look(writer, plan) for plan in record.changes]
    in_head = _in_head(writer, record, found)
    if writer.was_committed(record.token) or _is_held(writer, record) or len(in_head) == len(found):
        _tidy(writer, found)
        writer.journal.close(record.token, None)
        return
    if not any(item.is_applied for item in found):
        for item in found:
            _drop_ours(writer, item)
        writer.journal.close(record.token, None)
        return
    is_dropped = writer.journal.was_abandoned(record.token)
    is_whole = all(item.is_applied for item in found) and not any(map(_is_saved_over, found))
    outlives = bool(record.arrived) and any(map(_outlives, found))
    if outlives:
        _take_back(writer, record, found)
    elif record.arrived and not is_dropped and not is_whole:
        _take_in_again(writer, record, found)
    elif is_dropped or any(map(_is_saved_over, found)) or not all(i.is_applied or i.can_be_applied for i in found):
        _take_back(writer, record, found)
    else:
        _finish(writer, record, found)


def _outlives(item: _Found) -> bool:
    """True if a person has changed a file since that was to be deleted, or moved one away that was to be changed: only
    a merge with what they did can tell where it belongs."""
    plan = item.plan
    if plan.before is not None and plan.after is not None:
        return item.current is None
    return plan.after is None and item.current is not None and not has_id(item.current, plan.before)


def _in_head(writer: Writer, record: JournalRecord, found: Sequence[_Found]) -> set[str]:
    """The files that are, as this transaction left them, in a commit that somebody has made since: such a commit is
    never undone, even where the branch has lost the one that was planned."""
    tip = writer.committer.read_tip([writer.place.in_git(item.plan.path) for item in found])
    if not _has_gone_on(writer, record, tip):
        return set()
    entries = {item.plan: tip.entry(writer.place.in_git(item.plan.path)) for item in found if item.is_applied}
    return {plan.path for plan, entry in entries.items() if (entry.oid if entry is not None else None) == plan.after}


def _has_gone_on(writer: Writer, record: JournalRecord, tip: Tip) -> bool:
    """True if HEAD is neither where the transaction found it nor where it was about to move it."""
    if record.arrived:
        return tip.commit != record.seen
    reached = writer.journal.ref_was_reached(record.token)
    return bool(reached) and not any(writer.committer.is_below(tip, commit) for commit in reached)


def _finish(writer: Writer, record: JournalRecord, found: Sequence[_Found]) -> None:
    """Apply what is missing of a transaction, and commit it."""
    for item in found:
        if not item.is_applied:
            _go_on(writer, item)
    found = [_look(writer, plan) for plan in record.changes]
    foreign = [(item.plan.path, data) for item in found for data in _foreign(item)]
    applied = [item.applied() for item in found if item.is_applied]
    arrival = _arrival(writer, record)
    order = Order(record.token, (), record.subject, record.stamp, record.body, arrival=arrival)
    try:
        with writer.index_lock(record.token):
            made = writer.commit_applied(order, applied)
    except (BadPath, HeadMoved):  # the last commit now has a submodule at this path, or is no longer the one to follow
        _take_back(writer, record, found)
        return
    for path, data in foreign:
        writer.rescue(path, data)
    writer.finish(record.token, applied, made[-1] if arrival is None or arrival.is_own else None)


def _take_in_again(writer: Writer, record: JournalRecord, found: Sequence[_Found]) -> None:
    """Bring the rest of a finished commit to disk, on top of what a person has saved since; its blobs are all here."""
    arrival = _arrival(writer, record)
    assert arrival is not None
    wanted = {item.plan.path for item in found if not _is_there(writer, item, arrival)}
    paths = [os.fsdecode(path).removeprefix(writer.place.prefix) for path in arrival.entries]
    stay = [path for path in paths if path not in wanted]
    try:
        take_in(writer, arrival.commit, arrival.seen, record.subject, is_own=arrival.is_own, stay=stay)
    except HeadMoved:
        _take_back(writer, record, found)
        return
    _tidy(writer, [_look(writer, plan) for plan in record.changes])
    writer.journal.close(record.token, None)


def _is_there(writer: Writer, item: _Found, arrival: Arrival) -> bool:
    """True if a new file that arrived is on disk with all its lines, whatever a person has added since."""
    entry = arrival.entries.get(writer.place.in_git(item.plan.path))
    if item.plan.before is not None or item.current is None or entry is None:
        return False
    blob = writer.git.objects([entry.oid])[0]
    return blob is not None and set(blob.data.split(b"\n")) <= set(item.current.split(b"\n"))


def _arrival(writer: Writer, record: JournalRecord) -> Arrival | None:
    """The commit that the files of this transaction are from; None if they were written here."""
    if not record.arrived:
        return None
    return Arrival(record.arrived, record.seen, changed_entries(writer.git, record.seen, record.arrived), record.is_own)


def _is_held(writer: Writer, record: JournalRecord) -> bool:
    """True if the transaction reached its end, to hold its notes; a commit of them comes later."""
    held = [(writer.held.get(plan.path), plan.after) for plan in record.changes]
    return all(note is not None and has_id(note.data, after) for note, after in held)


def _unstage(writer: Writer, record: JournalRecord) -> None:
    """Remove uncommitted entries of the transaction from the index: they would look as if a person had staged them."""
    place, commits = writer.place, writer.journal.ref_was_reached(record.token)
    files = {place.in_git(plan.path): plan.after for plan in record.changes}

    def plan(tip: Tip, _: Pack) -> CommitPlan:
        done = any(writer.committer.holds(tip, commit) for commit in commits)
        ours = [path for path, oid in files.items() if tip.staged.get(path) is None or has_id(tip.staged[path], oid)]
        return CommitPlan((), {} if done else {path: tip.entry(path) for path in ours})

    with writer.index_lock(record.token):
        writer.committer.commit(list(files), plan, record.token)


def _is_saved_over(item: _Found) -> bool:
    """True if a person saved over the written bytes: the file is then theirs, and not committed as the agent's."""
    return item.is_applied and item.current is not None and not has_id(item.current, item.plan.after)


def _look(writer: Writer, plan: Planned) -> _Found:
    temporaries = writer.files.temporaries(plan.path, plan.temporary)
    for part in [name for name in temporaries if name.endswith(PART)]:
        writer.files.discard(plan.path, part)
        del temporaries[part]
    return _Found(plan, writer.files.read(plan.path), temporaries)


def _foreign(item: _Found) -> list[bytes]:
    """The bytes that a person saved at the moment of the crash."""
    planned = (item.plan.before, item.plan.after)
    aside = (data for data in item.temporaries.values() if data != item.current)
    return [data for data in aside if not any(has_id(data, oid) for oid in planned)]


def _tidy(writer: Writer, found: Sequence[_Found]) -> None:
    """Remove the temporary files of a change that is settled; a person's bytes in them are rescued."""
    for item in found:
        for data in _foreign(item):
            writer.rescue(item.plan.path, data)
        for name in item.temporaries:
            writer.files.discard(item.plan.path, name)


def _drop_ours(writer: Writer, item: _Found) -> None:
    for name, data in item.temporaries.items():
        if not has_id(data, item.plan.before) and not has_id(data, item.plan.after):
            writer.rescue(item.plan.path, data)
        if item.plan.after is None and item.current is None:
            writer.files.publish(item.plan.path, name)
        else:
            writer.files.discard(item.plan.path, name)


def _take_back(writer: Writer, record: JournalRecord, found: Sequence[_Found]) -> None:
    """Roll back the changes that reached the disk; what a person has saved over them, or has committed, stays."""
    in_head = _in_head(writer, record, found)
    for item in found:
        ours = item.current is not None and has_id(item.current, item.plan.after)
        if item.is_applied and item.plan.path not in in_head and (ours or item.plan.after is None):
            try:
                on_disk.roll_back(writer.files, item.applied())
            except NoteExists:  # a person has created a new note at the path of a removed one
                for data in item.temporaries.values():
                    writer.rescue(item.plan.path, data)
    _tidy(writer, [_look(writer, plan) for plan in record.changes])
    _unstage(writer, record)
    writer.journal.close(record.token, None)


def _go_on(writer: Writer, item: _Found) -> None:
    """Apply a change that the crash prevented."""
    plan, wanted = item.plan, item.wanted
    unchanged = item.current is not None and has_id(item.current, plan.before)
    if plan.after is None:
        if unchanged:
            change = Change(plan.path, item.current, None, plan.temporary, Collision.REFUSE, plan.mode)
            on_disk.apply(writer.files, change, writer.combine)
        return
    if wanted is None:
        return
    name = next(name for name, data in item.temporaries.items() if data == wanted)
    if plan.before is None:
        try:
            writer.files.publish(plan.path, name)
        except NoteExists:
            writer.rescue(plan.path, wanted)
            writer.files.discard(plan.path, name)
    elif unchanged:
        writer.files.discard(plan.path, name)
        change = Change(plan.path, item.current, wanted, f"{plan.temporary}.r", Collision.MERGE, plan.mode, plan.copy)
        on_disk.apply(writer.files, change, writer.combine)
    else:
        writer.rescue(plan.path, wanted)
        writer.files.discard(plan.path, name)


def _clear_locks(writer: Writer, token: str) -> None:
    """Remove this program's private files in the repository, and its locks on refs if HEAD was being moved."""
    gitdir = writer.place.gitdir
    private = ("index.{}", "index.{}.lock", "index-before.{}", "index-after.{}", "lock.{}")
    for name in private:
        (gitdir / f"vault-agent-{name.format(token)}").unlink(missing_ok=True)
    remove_own(gitdir / "index.lock", token)
    if not writer.journal.ref_was_reached(token):
        return
    deadline = writer.clock.monotonic() + PATIENCE
    while git_is_busy(gitdir, writer.place.worktree):  # perhaps a git process of this program that outlived the crash
        if writer.clock.monotonic() > deadline:
            return
        writer.clock.sleep(_PAUSE)
    names = ["HEAD.lock", "packed-refs.lock", f"{branch(gitdir)}.lock"]
    for lock in (*(gitdir / name for name in names), *gitdir.glob(f"{OWN_REFS}**/*.lock")):
        if _stays(writer, lock):
            set_aside(lock, gitdir)


def _stays(writer: Writer, lock: Path) -> bool:
    """True if a lock on a ref is two seconds old: then no git process that is invisible from here holds it."""
    deadline = writer.clock.monotonic() + PATIENCE
    while lock.exists():
        age = file_time(writer.place.gitdir, writer.clock) - lock.stat().st_mtime
        if age >= PATIENCE or writer.clock.monotonic() > deadline:
            return True
        writer.clock.sleep(_PAUSE)
    return False
