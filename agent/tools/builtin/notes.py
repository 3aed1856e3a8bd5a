"""The writing shared by all tools that change notes: no call is repeated.

A tool describes its change as `Draft`s; this module writes them, records the origin of the text and formats the result.
What is written in a conversation is committed with it: at its end, or where it waits for a person.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field
from typing import TypeAlias

from agent.attachments.cache import ExtractedTexts
from agent.dataclass import dataclass
from agent.errors import AgentError, ToolRetry
from agent.tools.text_origin import Lines, TextOrigin, guest_of
from agent.tools.tool import Draft, RunContext, ToolOutput
from agent.vault.change import Outcome, Stamp
from agent.vault.history.find import commit_of_call
from agent.vault.moving import NoteMove
from agent.vault.store import Vault
from agent.vault.transaction import Transaction
from agent.vault.waiting import work_of_call

_SHORT = 12
Fill: TypeAlias = Callable[[Transaction], None]
"""Adds changes to a transaction."""


@dataclass(frozen=True, slots=True)
class Notes:
    """A vault for tools, with the record of the origin of its text, and the texts of files that are no notes."""

    vault: Vault
    origin: TextOrigin
    texts: ExtractedTexts = field(default_factory=ExtractedTexts)

    def existing(self, path: str) -> bytes:
        """The note's bytes; raises `ToolRetry` if the note does not exist."""
        data = self.vault.read(path)
        if data is None:
            raise ToolRetry(f"there is no note {path}; vault_list or search_vault finds the right path")
        return data

    def origin_of(self, path: str, data: bytes, lines: Lines = None) -> str:
        """The origin of the text in these lines; empty for the owner's. A guest's words are not the owner's."""
        guest = guest_of(path, data, self.vault.home)
        return self.origin.source(path, data, lines) or (f"{path} (from {guest})" if guest else "")

    def commit(
        self,
        tool: str,
        context: RunContext,
        subject: str,
        drafts: Sequence[Draft],
        fill: Fill | None = None,
        body: str = "",
    ) -> ToolOutput:
        """Write the drafts; `fill` adds changes that are more than new content (an append, a move), `body` what the
        commit says below its subject.

        Raises what the vault raises, and then writes nothing.
        """
        before = b"\n\n".join(draft.before for draft in drafts if draft.before)  # also of a note that is only moved
        if context.taint:
            self._note_origins(drafts, before, context)
        was_whole = [draft.before is None or context.seen.is_whole(draft.path, draft.before) for draft in drafts]
        stamp = Stamp(context.actor, run=context.run, tool=tool, session=context.session, call=context.call)
        with self.vault.transaction(subject, stamp, body=body, hold=stamp.is_work) as change:
            (fill or (lambda transaction: write_drafts(transaction, drafts)))(change)
        for draft, whole in zip(drafts, was_whole, strict=True):
            if whole:
                self._note_seen(draft, context)
        written = drafts[-1].after if drafts else None
        version = "" if written is None else self.vault.content_id(written)[:_SHORT]
        return _format_outcome(change.outcome, subject, version)

    def _note_origins(self, drafts: Sequence[Draft], before: bytes, context: RunContext) -> None:
        """Record that what a tainted run adds to notes may be made of text from elsewhere."""
        for draft in drafts:
            self.origin.remember(context.run, draft.after or b"", before, context.taint.sources)
            if draft.before is None:
                self.origin.remember_name(context.run, draft.path, context.taint.sources)

    def _note_seen(self, draft: Draft, context: RunContext) -> None:
        """Record that the model knows the whole new text of a note, if that is what the note has now."""
        with suppress(AgentError, OSError):  # it is committed, even if this read fails
            if draft.after is not None and self.vault.read(draft.path) == draft.after:
                context.seen.add(draft.path, draft.after)

    def done(self, context: RunContext) -> ToolOutput | None:
        """The result of an earlier call with this run and id, written or queued; None if there was none.

        Raises `LockHeld` when another process holds the lock: work left unfinished by a crash must be settled first.
        """
        if not context.call:
            return None
        self.vault.settle()
        for order in self.vault.waiting_orders():
            if (order.stamp.run, order.stamp.call) == (context.run, context.call):
                return ToolOutput(f"asked for already, and waiting to be written: {order.subject}")
        if held := work_of_call(self.vault, context.run, context.call):
            return ToolOutput(f"done already, before the run stopped: {held[-1].subject}", is_changed=True)
        made = commit_of_call(self.vault, context.run, context.call)
        if made is None:
            return None
        commit, subject = made
        return ToolOutput(
            f"done already, before the run stopped: {subject} (commit {commit[:_SHORT]})", is_changed=True
        )


def move_drafts(move: NoteMove) -> tuple[Draft, ...]:
    """The notes that a move changes: the moved one, then those whose links follow."""
    links = (Draft(path, before, after) for path, before, after in move.edits)
    return Draft(move.path, move.before, None), Draft(move.to, None, move.after), *links


def write_drafts(change: Transaction, drafts: Sequence[Draft]) -> None:
    """Add to a transaction what makes, changes or deletes the notes of the drafts."""
    for draft in drafts:
        if draft.after is None:
            change.delete(draft.path, draft.before)
        else:
            change.write(draft.path, draft.before, draft.after)


def _format_outcome(outcome: Outcome, subject: str, version: str) -> ToolOutput:
    if outcome.queued:
        return ToolOutput(
            f"accepted, and waiting: {outcome.queued}. It will be written and committed when that is over."
        )
    if not outcome.paths:
        return ToolOutput("nothing had to change")
    if outcome.commit is None:
        return ToolOutput(f"done: {subject}{f' (version {version})' if version else ''}", is_changed=True)
    lines = [f"done: {subject} (commit {outcome.commit[:_SHORT]})"]
    if outcome.human:
        lines.append("the person had changed the same note meanwhile; both changes are in it")
    lines += [f"a person changed the same lines: theirs stayed, yours is in {path}" for path in outcome.conflicts]
    return ToolOutput("\n".join(lines), is_changed=True)
