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
from agent.vault.change import Applied
from agent.vault.obsidian import has_auto_committer
from agent.vault.transaction import Order
from agent.vault.write.held_notes import HeldNote, HeldNotes


@dataclass(frozen=True, slots=True)
class Holding:
    """Holds notes of one vault; under the writer lock only."""

    held: HeldNotes
    committer: Committer
    git: Git
    place: Place
    clock: Clock

    def hold(self, order: Order, applied: Sequence[Applied]) -> bool:
        """Hold written notes for a later commit; False if one has uncommitted text that was not held, or if it would
        be committed by itself before."""
        if order.waits and has_auto_committer(self.place.root):
            return False
        tip = self.committer.read_tip([self.place.in_git(item.path) for item in applied], read_staged=True)
        notes, before = [], {item.path: self.held.get(item.path) for item in applied}
        for item in applied:
            known = before[item.path]
            base = self._base(tip, item, known)
            if base is None or item.after is None:
                return False
            notes.append(self._held_note(order, HeldNote(item.path, base, item.after, "", order.stamp, ""), known))
        for path in order.release if order.waits else ():  # what was held of a run that nobody has asked for
            if path not in before and (known := self.held.get(path)) is not None:
                before[path] = known
                notes.append(self._held_note(order, replace(known, stamp=order.stamp), None))
        try:
            for note in notes:
                self.held.put(note)
        except OSError:
            with suppress(OSError):
                for path, known in before.items():
                    self.held.drop(path) if known is None else self.held.put(known)
            raise
        return True

    def _held_note(self, order: Order, note: HeldNote, known: HeldNote | None) -> HeldNote:
        """The note as an order holds it. One that a run holds already goes with that run; its commit says so."""
        before = known.unasked if known is not None else ()
        unasked = tuple(dict.fromkeys((*note.unasked, *before, *((order.subject,) if order.waits else ()))))
        if order.waits and known is not None and not known.waits:
            return replace(known, base=note.base, data=note.data, unasked=unasked)
        since = known.since if known is not None and known.waits else self.clock.now().timestamp()
        by = str(private.current())
        return replace(note, subject=order.subject, by=by, unasked=unasked, waits=order.waits, since=since)

    def _base(self, tip: Tip, item: Applied, known: HeldNote | None) -> str | None:
        """The blob id of the committed note on which the held one is based, empty if there was none.

        None if something was on disk or staged before the change that is neither committed nor held.
        """
        path = self.place.in_git(item.path)
        entry, staged = tip.entry(path), tip.staged.get(path)
        committed = entry.oid if entry is not None else ""
        if known is not None:
            if known.data != item.found:
                return None
            return committed if committed == self.git.blob_id(known.data) else known.base
        found = "" if item.found is None else self.git.blob_id(item.found)
        is_staged = path in tip.staged and committed != ("" if staged is None else self.git.blob_id(staged))
        return None if found != committed or is_staged else committed

    def let_wait(self, notes: Iterable[HeldNote]) -> None:
        """Let held notes wait for the evening."""
        now = self.clock.now().timestamp()
        for note in notes:
            if not note.waits:
                unasked = tuple(dict.fromkeys((*note.unasked, note.subject)))
                self.held.put(replace(note, waits=True, unasked=unasked, since=now))


def by_commit(notes: Iterable[HeldNote], *, apart: bool) -> list[list[HeldNote]]:
    """The notes by the commit that they become, each by time: what waits for the evening is one commit, or with `apart`
    one for each time that something was written; the rest is one."""
    groups = dict[object, list[HeldNote]]()
    for note in sorted(notes, key=lambda each: each.since):
        written = (note.subject, note.stamp) if note.waits and apart else None
        groups.setdefault((note.waits, written), []).append(note)
    return list(groups.values())
