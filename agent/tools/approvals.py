"""A person's approval of one exact call: requested in a note, given by a ticked box or a command, used up before the
call runs.

An approval is valid for one tool, one run and identical arguments, while the notes are unchanged since the question,
until it expires. It is marked as used, in its note and in the private record, before the effect: after a crash in
between, the call is asked about again and not carried out twice. The text of the note is left to `approval_note`, the
law of answers to `asking.answers`, and the reasons for approvals to `taint` and the policy.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from agent.asking.answers import answer_in, free_path
from agent.asking.note import shows
from agent.asking.proposal import Proposal
from agent.asking.records import drop, proposals_of, records_of, save
from agent.clock import Clock, in_clock_zone
from agent.config.durable import holder, process_lock
from agent.dataclass import dataclass
from agent.errors import BadNote, NeedsApproval, ToolFailed, UserError
from agent.events.bus import ignore_event
from agent.lazy import later
from agent.llm.messages import JsonObject
from agent.markdown import checkbox_decision
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.markdown.yaml_write import Value
from agent.records.table import Table
from agent.texts import Language, text
from agent.tools import approval_note
from agent.tools.arguments import canonical
from agent.tools.policy import Permission, Policies
from agent.tools.taint import reason_to_ask
from agent.vault.change import Stamp
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.tools.tool import Draft, RunContext, Tool, ToolOutput
else:
    ToolOutput = later("agent.tools.tool", "ToolOutput")

KEPT = timedelta(days=30)
"""The time for which the record of a settled question is kept; its note is kept forever."""
_PATIENCE = 10.0
_WITH_SECRET = "this call needs a person's yes, and has a key in its arguments that must not be kept; leave the key out"
_Change: TypeAlias = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class AgreedTool:
    """A tool whose first call a person has approved, and when."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Approvals:
    """The approvals of one vault on this machine. A question stays open for `hours`; `language` is that of its note.
    `agreed` is told what an approved call has written."""

    vault: Vault
    clock: Clock
    hours: float
    language: Language
    agreed: Callable[["Sequence[Draft]"], object] = ignore_event

    def guard(self, tool: "Tool", policies: Policies) -> "Tool":
        """The tool, with a person's approval required before each call that needs one."""

        def perform(arguments: JsonObject, context: "RunContext") -> "ToolOutput":
            why = reason_to_ask(tool, arguments, context, self.vault.home, self.language)
            if not why and (tool.dangerous or policies.permission(tool, context) is Permission.ASK):
                why = text("approval.each", self.language, tool=tool.name)
            is_first = bool(not why and tool.asks_first and not self._agreed_tools.has(tool.asks_first))
            if is_first:
                why = text("approval.first", self.language, tool=tool.name)
            if not why and self._known(fingerprint(tool.name, context.run, arguments)) is not None:
                why = text("approval.again", self.language)
            if not why:
                return ToolOutput("") if context.asks_only else tool.perform(arguments, context)
            drafts = tool.effect.plan(arguments, context) if tool.effect else ()
            if context.asks_only:
                return ToolOutput(self.ask_ahead(tool.name, arguments, context, why, drafts))
            self.require(tool.name, arguments, context, why, drafts)
            if is_first:  # a yes for another reason said nothing of later uses
                self._agreed_tools.put(AgreedTool(tool.name, self.clock.now()), tool.asks_first)
            output = tool.perform(arguments, context)
            self.agreed(drafts)
            return output

        return replace(tool, perform=perform)

    @property
    def _agreed_tools(self) -> Table[AgreedTool]:
        return Table(self.vault.records, "agreed-tools", AgreedTool)

    def ask_ahead(
        self, tool: str, arguments: JsonObject, context: "RunContext", why: str, drafts: "Sequence[Draft]"
    ) -> str:
        """The path of the note that asks about a call which comes later in the run; written if there is none yet, and
        empty if it is answered already."""
        with self._locked():
            asked = self._current(self._known(fingerprint(tool, context.run, arguments)))
            if asked is None or asked.status in {"used", "expired", "outdated"}:
                asked = self._ask(tool, arguments, context, why, drafts)
        return asked.path if asked.status == "pending" else ""

    def require(
        self, tool: str, arguments: JsonObject, context: "RunContext", why: str, drafts: "Sequence[Draft]" = ()
    ) -> None:
        """Use up the person's approval of exactly this call.

        Raises `NeedsApproval` with the note's path while the question is unanswered, `ToolFailed` after a refusal.
        """
        key = fingerprint(tool, context.run, arguments)
        with self._locked():
            known = self._known(key)
            asked = self._current(known)
            approved = asked is not None and asked.status == "approved"
            if asked is not None and approved:
                approved = dict(asked.bases) == self._bases(drafts)
                asked = replace(asked, status="used" if approved else "outdated")
            if asked is not None and known is not None and asked.status not in {"pending", known.status}:
                self._settle(asked, context.actor, hold=bool(context.session))
            if asked is None or (asked.status in {"used", "expired", "outdated"} and not approved):
                asked = self._ask(tool, arguments, context, why, drafts)
        if asked.status == "rejected":
            raise ToolFailed(f"the person said no{f': {asked.reason}' if asked.reason else ''}")
        if not approved:
            waits = text("approval.waits", self.language, question=asked.question, path=asked.path, why=why)
            raise NeedsApproval(waits, path=asked.path, hint=text("approval.hint", self.language))
        for draft in drafts:  # the person has seen the current text and the change
            if draft.before is not None:
                context.seen.add(draft.path, draft.before)

    def find(self, name: str) -> Proposal | None:
        """The question with this id, note or fingerprint, in its current state; None if there is none."""
        found = [asked for asked in self._all() if name in {asked.id, asked.path, asked.key}]
        return self._current(found[-1]) if found else None

    def pending(self) -> tuple[Proposal, ...]:
        """The unanswered questions, oldest first."""
        return tuple(asked for asked in map(self._current, self._all()) if asked and asked.status == "pending")

    def expire(self) -> tuple[str, ...]:
        """Close the expired questions, also in their notes; returns the paths of these notes.

        Records older than `KEPT` are deleted.
        """
        closed: list[str] = []
        with self._locked():
            for known in self._all():
                asked = self._current(known)
                if asked is not None and asked.status == "expired" != known.status:
                    self._settle(asked)
                    closed.append(asked.path)
                elif known.expires is not None and self.clock.now() >= known.expires + KEPT:
                    drop(self.vault, known)
        return tuple(closed)

    @property
    def is_deciding(self) -> bool:
        """True while a decision, or a question, is being written: its note may be ahead of its record."""
        return holder(self._lock) is not None

    def decide(self, name: str, yes: bool, reason: str = "") -> Proposal:
        """Answer a question (by its note's path or its id) in the person's name; ticks the box in the note.

        Raises `UserError` for one that was not asked on this machine, or is not open any more.
        """
        with self._locked():
            asked = self.find(name)
            if asked is None:
                raise UserError("no question {name} was asked here", hint="vault-agent needs lists them", name=name)
            if asked.status != "pending":
                raise UserError(
                    "{path} is {status} already",
                    hint="vault-agent needs lists them",
                    path=asked.path,
                    status=asked.status,
                )
            why = self.vault.masked(" ".join(reason.split()))[:500]
            decided = replace(asked, status="approved" if yes else "rejected", reason=why)

            def ticked(data: bytes) -> bytes:
                return self._with_result(decided, checkbox_decision.with_decision(data, yes, why))

            self._write(decided, ticked, Stamp("human"))
            return save(self.vault, decided)

    def _bases(self, drafts: "Iterable[Draft]") -> dict[str, str]:
        """The content hashes of the notes that a call would change, by path; empty for one that it would create."""
        return {draft.path: "" if draft.before is None else self.vault.content_id(draft.before) for draft in drafts}

    def _all(self) -> tuple[Proposal, ...]:
        """Every question of this machine, oldest first."""
        return proposals_of(self.vault, "call")

    def _known(self, key: str) -> Proposal | None:
        return records_of(self.vault, "call").get(key)

    @property
    def _lock(self) -> Path:
        return self.vault.private_folder / "approvals.lock"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with process_lock(self._lock, self.clock, _PATIENCE, "another vault-agent is deciding on an approval"):
            yield

    def _ask(
        self, tool: str, arguments: JsonObject, context: "RunContext", why: str, drafts: "Sequence[Draft]"
    ) -> Proposal:
        """Write the note that asks; two saves of the record distinguish a crash from a deleted note."""
        now = self.clock.now().replace(microsecond=0)
        key, number = fingerprint(tool, context.run, arguments), self.clock.new_id()
        title = approval_note.title(tool, drafts, self.language)
        name = tool.replace(".", "-") if self.language == "en" else _as_name(title, drafts)
        path = free_path(self.vault, f"{now:%Y-%m-%d}-{name}", {each.path for each in self._all()})
        call_text, expires = (
            approval_note.format_call(tool, arguments),
            in_clock_zone(now + timedelta(hours=self.hours), now),
        )
        if self.vault.masked(call_text) != call_text:  # it would be masked in the session, and then be another call
            raise ToolFailed(_WITH_SECRET)
        asked = Proposal(
            "call",
            tool,
            path,
            number,
            now,
            title,
            key,
            key,
            call_text,
            bases=self._bases(drafts),
            why=approval_note.why_asked(why, self.language),
            change=self.vault.masked(approval_note.diff(drafts, self.language)),
            actor=context.actor,
            run=context.run,
            session=context.session,
            call=context.call,
            expires=expires,
        )
        save(self.vault, asked)
        note = approval_note.compose(_header(asked, context), asked, self.language)
        is_run = bool(context.session)
        stamp = Stamp(context.actor, context.run if is_run else "", "approval", context.session)
        with self.vault.transaction(f"approval(ask): {asked.question}", stamp, masked=True, hold=is_run) as change:
            change.create(path, note)
        return save(self.vault, replace(asked, status="pending"))

    def _current(self, asked: Proposal | None) -> Proposal | None:
        """The question with the answer in its note; None if a crash happened before the note was written."""
        if asked is None or asked.status not in {"asking", "pending", "approved"}:
            return asked
        data = self.vault.own_version(asked.path)  # a tick from a pull does not count
        if asked.status == "asking":
            if data is None or Note.parse(data).id != asked.id:
                return None
            asked = replace(asked, status="pending")
        if data is not None and Note.parse(data).string("status") == "used":
            return replace(asked, status="used")  # a crash happened between note and record
        if asked.expires is not None and self.clock.now() >= asked.expires:
            return replace(asked, status="expired")
        if asked.status == "approved":
            return asked
        if data is not None:
            return _answered(asked, data)
        waits = self.vault.queued > 0  # otherwise the person has deleted the question
        return asked if waits else replace(asked, status="rejected", reason=text("approval.removed", self.language))

    def _settle(self, asked: Proposal, actor: str = "agent", *, hold: bool = False) -> None:
        """Close a question: first in its note, then in the private record; `hold`: the run goes on, and commits it."""
        stamp = Stamp(actor, asked.run if hold else "", "approval", asked.session)
        self._write(asked, lambda data: self._with_result(asked, data), stamp, hold=hold)
        save(self.vault, asked)

    def _with_result(self, asked: Proposal, data: bytes) -> bytes:
        """The question's note with a line below the boxes: what came of the answer. A yes has one once it is used."""
        if asked.status in {"asking", "pending", "approved"}:
            return data
        where = f"[[{asked.session.removesuffix('.md')}]]" if asked.session else f"`{asked.run}`"
        values = {"at": self.clock.now(), "until": asked.expires, "where": where}
        return checkbox_decision.with_result(data, text(f"approval.result_{asked.status}", self.language, **values))

    def _write(self, asked: Proposal, change: _Change, stamp: Stamp, *, hold: bool = False) -> None:
        """Change the question's note and set its status; a missing or unreadable one is skipped: the record counts."""
        data = self.vault.read(asked.path)
        if data is None:
            return
        try:
            after = Note.parse(change(data)).with_key("status", asked.status).data
        except BadNote:
            return
        name = self.vault.masked(asked.question or asked.name)
        with self.vault.transaction(f"approval({asked.status}): {name}", stamp, hold=hold) as transaction:
            transaction.edit(asked.path, data, after)


def _answered(asked: Proposal, data: bytes) -> Proposal:
    """The open question with the answer in its note; a note that shows another call approves nothing."""
    answer = answer_in(data)
    if answer is None:
        return asked
    note = Note.parse(data)
    is_genuine = note.id == asked.id and note.string("arguments_hash") == asked.subject
    if answer and not (is_genuine and shows(data, asked)):
        return replace(asked, status="outdated")
    return replace(asked, status="approved" if answer else "rejected", reason=checkbox_decision.parse_reason(data))


def _as_name(title: str, drafts: "Sequence[Draft]") -> str:
    """The question as the name of its note, in place of a tool's name, which is English."""
    for each in drafts:
        title = title.replace(each.path, PurePosixPath(each.path).stem)
    return short_title(title)


def fingerprint(tool: str, run: str, arguments: JsonObject) -> str:
    """The SHA-256 of tool, run and exact arguments: an approval is valid only for these."""
    return sha256(canonical({"tool": tool, "run": run, "arguments": arguments}).encode("ascii")).hexdigest()


def _header(asked: Proposal, context: "RunContext") -> dict[str, Value]:
    header: dict[str, Value] = {
        "id": asked.id,
        "type": "approval",
        "created": asked.created,
        "status": "pending",
        "run": asked.run,
        "session": f"[[{asked.session.removesuffix('.md')}]]" if asked.session else "",
        "call": asked.call,
        "tool": asked.name,
        "arguments_hash": asked.subject,
        "expires": asked.expires,
    }
    if context.taint:
        header["untrusted"] = [" ".join(source.split())[:200] for source in context.taint.sources]
    return header
