"""Bugs to plant into the product, so that the tests can show that they would notice.

Each takes something away that the design relies on. `put` is `setattr` in a process of its own, or a test's
`monkeypatch.setattr`.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date

from agent.git.commit import Committer, Edits, Tip
from agent.git.index_file import SharedIndex
from agent.git.runner import Git
from agent.llm.answer_text import Attempt, SpendAccount, Unmetered
from agent.llm.ledger import Ledger, LedgerEntry, LockedLedger
from agent.llm.messages import Cancelled, OnText, Reply, Request, Usage
from agent.llm.spend import Meter
from agent.llm.wire import Wire
from agent.loop.limits import Breaker
from agent.markdown.merging.notes import MergedNote
from agent.platform.linux import Linux
from agent.vault.change import Applied, Change
from agent.vault.options import Brake
from agent.vault.sync import joining, trees
from agent.vault.sync.round import SyncRound
from agent.vault.worktree import files
from agent.vault.worktree.files import Files
from agent.vault.write import apply, mass_change
from agent.vault.write.held_notes import HeldNote, HeldNotes
from agent.vault.write.journal import Journal, JournalRecord
from agent.vault.write.resolve import Combine
from agent.watch.classify import ContentChange
from agent.watch.compare import Comparison
from agent.watch.hints import Hints

Put = Callable[[object, str, object], None]


def _temporary_not_flushed(put: Put) -> None:
    stage = Files.stage

    def careless(self: Files, path: str, temporary: str, data: bytes, mode: int | None) -> None:
        stage(replace(self, durable=False), path, temporary, data, mode)

    put(Files, "stage", careless)


def _journal_not_flushed(put: Put) -> None:
    write = Journal.open

    def careless(self: Journal, record: JournalRecord) -> None:
        write(replace(self, durable=False), record)

    put(Journal, "open", careless)


def _folder_not_flushed(put: Put) -> None:
    put(Files, "flush", lambda self, path: None)


def _record_left_behind(put: Put) -> None:
    put(HeldNote, "is_orphaned", lambda self, now: False)


def _record_taken_for_an_edit(put: Put) -> None:
    put(HeldNotes, "get", lambda self, path: None)


def _journal_line_lost(put: Put) -> None:
    put(Journal, "open", lambda self, record: None)


def _no_compare_and_swap(put: Put) -> None:
    def careless(self: Committer, new: str, tip: Tip, message: str) -> bool:
        self.git.run("update-ref", "HEAD", new)
        return True

    put(Committer, "_move_head", careless)


def _branch_not_moved(put: Put) -> None:
    put(Committer, "_move_head", lambda self, new, tip, message: True)


def _ids_of_forty_digits(put: Put) -> None:
    put(Git, "width", 40)


def _shared_index_forgotten(put: Put) -> None:
    @contextmanager
    def careless(self: SharedIndex, entries: Edits, refresh: bool) -> Iterator[None]:
        yield

    put(SharedIndex, "changed", careless)


def _exchange_not_looked_at(put: Put) -> None:
    def careless(on_disk: Files, change: Change, combine: Combine) -> Applied:
        assert change.before is not None and change.after is not None
        on_disk.stage(change.path, change.temporary, change.after, change.mode)
        on_disk.trade(change.path, change.temporary)
        on_disk.discard(change.path, change.temporary)
        return Applied(change.path, change.temporary, change.before, change.after)

    put(apply, "_replace", careless)


def _links_followed(put: Put) -> None:
    put(files, "_FOLDER", files._FOLDER & ~os.O_NOFOLLOW)
    put(files, "_FILE", files._FILE & ~os.O_NOFOLLOW)
    put(Files, "_check_inside", lambda self, here, depth, path: None)


def _writers_not_asked_for(put: Put) -> None:
    put(Linux, "has_writer", lambda self, descriptor: False)
    put(apply, "late_saves", lambda on_disk, applied: [])


def _brake_off(put: Put) -> None:
    put(Brake, "check", lambda self, lost, earlier, total, who, *said: None)


def _only_empty_notes_lost(put: Put) -> None:
    put(mass_change._Damage, "is_lost", lambda self, found: len(self.gone) - len(found) == self.lines)


def _steps_not_added_up(put: Put) -> None:
    put(mass_change, "touched_by", lambda git, prefix, stamp, now: ())


def _overflow_ignored(put: Put) -> None:
    def careless(self: Hints, reason: str) -> None:
        self._paths, self._folders = set(), set()

    put(Hints, "_overflow", careless)


def _deletion_skipped(put: Put) -> None:
    def careless(self: Comparison, now: float) -> list[ContentChange]:
        self.missing.clear()
        return []

    put(Comparison, "_gone", careless)


def _reservation_not_written(put: Put) -> None:
    write = LockedLedger.write

    def careless(self: LockedLedger, day: date, entry: LedgerEntry) -> None:
        if not entry.open:
            write(self, day, entry)

    put(LockedLedger, "write", careless)


def _ledger_not_locked(put: Put) -> None:
    def careless(self: Ledger, stack: ExitStack) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    check = Meter._check

    def slow(self: Meter, page: LockedLedger, day: date, entry: LedgerEntry) -> None:
        check(self, page, day, entry)
        threading.Event().wait(0.5)  # as on a very busy machine

    put(Ledger, "_lock", careless)
    put(Meter, "_check", slow)


def _only_the_first_try_reserved(put: Put) -> None:
    chat_on = Wire.chat_on

    def careless(self: Wire, account: SpendAccount, request: Request, on_text: OnText, cancelled: Cancelled) -> Reply:
        with account.attempt(request):
            return chat_on(self, Unmetered(len), request, on_text, cancelled)

    put(Wire, "chat_on", careless)


def _failed_try_released(put: Put) -> None:
    put(Attempt, "used_after", lambda self, error, reserved: Usage(reserved.input, 0))


def _failures_forgotten(put: Put) -> None:
    put(Breaker, "failed", lambda self, tool, arguments, error: "")


def _one_side_dropped(put: Put) -> None:
    put(trees, "merged_file", lambda git, path, found, home: MergedNote(max(found.ours, found.theirs), None))


def _push_only_said(put: Put) -> None:
    def careless(self: SyncRound, head: str, theirs: str) -> bool:
        self._agree(head)
        return True

    put(SyncRound, "_push", careless)


def _rewriting_always_followed(put: Put) -> None:
    put(joining, "lost_lines", lambda vault, before, after: ())


BUGS: dict[str, Callable[[Put], None]] = {
    "the temporary file is not flushed": _temporary_not_flushed,
    "the journal is not flushed": _journal_not_flushed,
    "the folder is not flushed": _folder_not_flushed,
    "the journal line is lost": _journal_line_lost,
    "a dead run's record is left behind": _record_left_behind,
    "a record is taken for a person's edit": _record_taken_for_an_edit,
    "no compare-and-swap": _no_compare_and_swap,
    "the branch is not moved": _branch_not_moved,
    "every id has 40 digits": _ids_of_forty_digits,
    "the shared index is forgotten": _shared_index_forgotten,
    "what came out of the exchange is not looked at": _exchange_not_looked_at,
    "links are followed": _links_followed,
    "programs that still write are not waited for": _writers_not_asked_for,
    "the brake is off": _brake_off,
    "only empty notes are lost": _only_empty_notes_lost,
    "steps are not added up": _steps_not_added_up,
    "an overflow is ignored": _overflow_ignored,
    "a deletion is skipped": _deletion_skipped,
    "a reservation is not written": _reservation_not_written,
    "the ledger is not locked": _ledger_not_locked,
    "only the first try is reserved": _only_the_first_try_reserved,
    "a failed try is released": _failed_try_released,
    "failures are forgotten": _failures_forgotten,
    "one side of a merge is dropped": _one_side_dropped,
    "a push is only said": _push_only_said,
    "a rewritten remote is always followed": _rewriting_always_followed,
}


def plant(name: str, put: Put) -> None:
    """Replace the part of the product that `name` says."""
    BUGS[name](put)
