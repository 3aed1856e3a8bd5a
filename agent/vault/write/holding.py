"""What it takes to hold a written note in place of a commit, and which held notes become one commit."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from agent.clock import Clock
from agent.config import private
from agent.dataclass import dataclass
from agent.git.commit import Committer, Tip
from agent.git.repository import Place
from agent.git.runner import Git
from agent.vault.change import Applied, Change, ToolWork
from agent.vault.folders import AgentFolder, is_log
from agent.vault.obsidian import has_auto_committer
from agent.vault.transaction import Order
from agent.vault.write.held_notes import HeldNote, HeldNotes, stamp_with


@dataclass(frozen=True, slots=True)
class Holding:
    """Holds notes of one vault; under the writer lock only."""

    held: HeldNotes
    committer: Committer
    git: Git
    place: Place
    clock: Clock
    home: AgentFolder

    def hold(self, order: Order, applied: Sequence[Applied]) -> bool:
        """Hold written notes for a later commit; False if one has uncommitted text that was not held, or is held for
        another commit, or if it would be committed by itself before."""
        if (order.waits or order.stamp.is_work) and has_auto_committer(self.place.root):
            return False
        tip = self.committer.read_tip([self.place.in_git(item.path) for item in applied], read_staged=True)
        notes, before = [], {item.path: self.held.get(item.path) for item in applied}
        for item in applied:
            known = before[item.path]
            base = self._base(tip, item, known)
            is_held = item.after is not None or (order.stamp.is_work and known is None)  # else only history has it
            if base is None or not is_held or (known is not None and self._is_apart(order, known)):
                return False
            notes.append(self._held_note(order, HeldNote(item.path, base, item.after, "", order.stamp, ""), known))
        for path in order.release if order.waits else ():  # what was held of a run that nobody has asked for
            if path not in before and (known := self.held.get(path)) is not None:
                before[path] = known
                notes.append(self._held_note(order, replace(known, stamp=stamp_with(order.stamp, [known])), None))
        try:
            for note in notes:
                self.held.put(note)
        except OSError:
            with suppress(OSError):
                for path, known in before.items():
                    self.held.drop(path) if known is None else self.held.put(known)
            raise
        return True

    def saved(self, changes: Sequence[Change]) -> list[Change]:
        """What a person has saved of these notes, as changes that leave it: not what they have staged, and no note that
        is held."""
        free = [each for each in changes if each.before is not None and not self.held.get(each.path)]
        paths = [self.place.in_git(each.path) for each in free]
        tip = self.committer.read_tip(paths, read_staged=True) if free else None
        saved = []
        for each, path in zip(free, paths, strict=True):
            if tip and self._id(each.before) != _committed(tip, path) and not self._is_staged(tip, path):
                saved.append(replace(each, after=each.before))
        return saved

    def _is_apart(self, order: Order, known: HeldNote) -> bool:
        """True if what is held goes into another commit than this order: the work of another conversation, and for
        the work of this one, what nobody has asked for."""
        if known.work:
            return known.stamp.talk != order.stamp.talk
        return known.waits and order.stamp.is_work and not is_log(known.path, self.home)

    def _held_note(self, order: Order, note: HeldNote, known: HeldNote | None) -> HeldNote:
        """The note as an order holds it. One that a run holds already goes with that run; its commit says so."""
        before = known.changes if known is not None else ()
        texts = (order.subject, order.body) if order.waits or order.stamp.is_work or order.body else ()
        changes = tuple(dict.fromkeys((*note.changes, *before, *filter(None, texts))))
        if order.waits and known is not None and not known.waits:
            return replace(known, base=note.base, data=note.data, changes=changes)
        since = known.since if known is not None and known.waits else self.clock.now().timestamp()
        by, subject = str(private.current()), order.subject
        work = (*note.work, *(known.work if known is not None else ()), *work_of_order(order, [note.path]))
        return replace(note, subject=subject, by=by, changes=changes, waits=order.waits, since=since, work=work)

    def _base(self, tip: Tip, item: Applied, known: HeldNote | None) -> str | None:
        """The blob id of the committed note on which the held one is based, empty if there was none.

        None if something was on disk or staged before the change that is neither committed nor held.
        """
        path = self.place.in_git(item.path)
        committed = _committed(tip, path)
        if known is not None:
            if known.data != item.found:
                return None
            return committed if committed == self._id(known.data) else known.base
        return None if self._id(item.found) != committed or self._is_staged(tip, path) else committed

    def _is_staged(self, tip: Tip, path: bytes) -> bool:
        return path in tip.staged and _committed(tip, path) != self._id(tip.staged[path])

    def _id(self, data: bytes | None) -> str:
        return "" if data is None else self.git.blob_id(data)

    def let_wait(self, notes: Iterable[HeldNote]) -> None:
        """Let held notes wait for the evening."""
        now = self.clock.now().timestamp()
        for note in notes:
            if not note.waits:
                changes = tuple(dict.fromkeys((*note.changes, note.subject)))
                self.held.put(replace(note, waits=True, changes=changes, since=now))


def _committed(tip: Tip, path: bytes) -> str:
    entry = tip.entry(path)
    return entry.oid if entry is not None else ""


def work_of_order(order: Order, paths: Iterable[str]) -> tuple[ToolWork, ...]:
    """What the call of a tool has changed for which an order is: these notes."""
    stamp = order.stamp
    return tuple(ToolWork(path, stamp.tool, stamp.call) for path in paths) if stamp.is_work else ()


def by_commit(notes: Iterable[HeldNote], *, apart: bool) -> list[list[HeldNote]]:
    """The notes by the commit that they become, each by time: what waits for the evening is one commit, and the rest of
    a conversation; with `apart` there is one for each time that something was written, but for records of runs."""
    groups = dict[object, list[HeldNote]]()
    for note in sorted(notes, key=lambda each: each.since):
        is_described = note.waits or bool(note.work)
        written = (note.subject, note.stamp) if is_described and apart else "" if note.waits else note.stamp.talk
        groups.setdefault((note.waits, written), []).append(note)
    return list(groups.values())
