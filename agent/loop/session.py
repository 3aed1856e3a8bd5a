"""A session: one conversation, stored in one append-only note.

New records are in memory at once, and `save` writes all of them into the note in one commit. An interrupted session is
loaded from its note and resumes at the note's end. The form of the note is left to `record_format`, its name to
`session_names`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.events.runs import Speaker
from agent.llm.messages import Assistant, Context, Json, Message, System, ToolCall, ToolResult, Usage, User, parsed
from agent.loop.outcome import RunOutcome
from agent.loop.record_format import format_records
from agent.loop.record_parse import parse_records
from agent.loop.records import (
    AtLimit,
    Began,
    Closed,
    RecordedEvent,
    SessionRecord,
    Spoken,
    StoredArgument,
    Summarised,
    Tainted,
    ToolsChosen,
    is_stored_apart,
    sources_in,
    stored_values,
)
from agent.loop.session_names import StoredTexts, digest, find_session, free_name, release_name
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.title import short_heading, short_title
from agent.markdown.yaml_write import Value
from agent.memory.forgetting.steering_notes import is_only_mark
from agent.memory.forgetting.tombstones import load_tombstones
from agent.texts import Language, Sentence
from agent.tools.text_origin import named_guest, still_strangers
from agent.vault.change import CAPTURE, Stamp, actor_of
from agent.vault.folders import SESSIONS
from agent.vault.layout import GIVEN_TEXTS
from agent.vault.store import Vault

Mask: TypeAlias = Callable[[str], str]
"""A text with `[secret]` in place of its secrets."""
_NOT_KEPT = "what stood here is not kept on this machine: call the tool again if it is still needed"
"""What a model sees in place of a long result or argument."""
_NEWEST = 30
"""The newest sessions among which a speaker's last one is looked for."""


@dataclass(slots=True)
class Session:
    """One conversation. `parent` is `run/call` of the run that delegated to it, empty for a person's own."""

    vault: Vault
    path: str
    id: str
    channel: str
    parent: str = ""
    records: list[SessionRecord] = field(default_factory=list)
    saved: int = 0
    """The number of records in the note, including those that wait with `queued`."""
    queued: str = ""
    """The reason why the last save waits to be written; empty if it does not."""
    language: Language = "en"
    """The language of the headings in the note."""
    forgotten: list[Mask] = field(default_factory=list)
    """The functions that take out the texts that were forgotten in this conversation."""

    @property
    def system(self) -> str:
        """The present system message of the session; empty if it has none, or its text was not read again."""
        last = next((message for message in reversed(list(self._messages())) if isinstance(message, System)), None)
        return last.text if last else ""

    @property
    def history(self) -> tuple[Message, ...]:
        """The messages for the model of the last run, without the system message."""
        return self.heard_in(self.last_run)

    @property
    def last_run(self) -> Began | None:
        """The begin of the last run; None before the first."""
        return next((each.event for each in reversed(self.records) if isinstance(each.event, Began)), None)

    def heard_in(self, now: Began | None) -> tuple[Message, ...]:
        """The messages for the model of a run. Of other people's runs it has only what everybody in a group has seen,
        never what was recalled or looked up for them. A summary replaces messages only for the person in whose run it
        was made."""
        visible: list[Message] = []
        began: Began | None = None
        for record in self.records:
            own = began is None or now is None or began.sender == now.sender
            match record.event:
                case Began():
                    began = record.event
                case Spoken(message) if not isinstance(message, System):
                    if own or (began and now and now.sees(began) and _is_aloud(message)):
                        visible.append(message)
                case Summarised(text, remaining) if own:
                    visible = [Context(text, "summary"), *visible[len(visible) - remaining :]]
        return tuple(visible)

    def summarised(self, sender: str) -> datetime | None:
        """The time at which a summary last replaced messages of this person; None if never."""
        speaking, found = "", None
        for record in self.records:
            match record.event:
                case Began():
                    speaking = record.event.sender
                case Summarised() if speaking == sender:
                    found = record.at
        return found

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last answer that have no result yet."""
        answered: set[str] = set()
        for message in reversed(list(self._messages())):
            match message:
                case ToolResult(call=call):
                    answered.add(call)
                case Assistant(calls=calls):
                    return tuple(call for call in calls if call.id not in answered)
                case User():
                    return ()
        return ()

    @property
    def open_run(self) -> Began | None:
        """The last run, if it was killed, interrupted or waits for a person; None if it is finished."""
        for record in reversed(self.records):
            match record.event:
                case Closed(outcome=outcome):
                    if not RunOutcome(outcome).can_go_on:
                        return None
                case Began() as began:
                    return began
        return None

    @property
    def waits(self) -> bool:
        """True if the last run stopped for a person to decide or answer, and has not ended since."""
        runs = (record.event for record in reversed(self.records) if isinstance(record.event, Began | Closed))
        last = next(runs, None)
        return isinstance(last, Closed) and RunOutcome(last.outcome).waits

    @property
    def untrusted(self) -> tuple[str, ...]:
        """The sources of the untrusted text that was read in this session; no file that the owner has since said to be
        theirs."""
        return tuple(still_strangers(self.vault, sources_in(self.records)))

    def untrusted_for(self, role: str) -> tuple[str, ...]:
        """The sources of what is untrusted text for a run of a person in this role: for the owner's, guests' words,
        too."""
        asked = (record.event for record in self.records if isinstance(record.event, Began))
        guests = dict.fromkeys(began.sender for began in asked if began.role != "owner")
        return (*self.untrusted, named_guest(*guests)) if guests and role == "owner" else self.untrusted

    @property
    def last(self) -> datetime | None:
        """The time of the last record."""
        return self.records[-1].at if self.records else None

    def of_run(self, run: str) -> Iterator[RecordedEvent]:
        """The events of this run, without those of later runs."""
        inside = False
        for record in self.records:
            if isinstance(record.event, Began):
                inside = record.event.run == run
            if inside:
                yield record.event

    def model_messages(self, run: str) -> tuple[Assistant, ...]:
        """The messages of the model in this run, in their order."""
        messages = (event.message for event in self.of_run(run) if isinstance(event, Spoken))
        return tuple(each for each in messages if isinstance(each, Assistant))

    def usage_of(self, run: str) -> Usage:
        """The tokens of the model's answers in this run."""
        return sum((each.usage for each in self.of_run(run) if isinstance(each, Spoken) and each.usage), Usage())

    def is_stale(self, now: datetime, hours: float) -> bool:
        """True if the last record is so many hours old that the next message belongs to a new session."""
        return self.last is not None and now - self.last > timedelta(hours=hours)

    def add(self, *events: RecordedEvent) -> None:
        """Add events with the present time; secrets in them are masked, for the model too."""
        now = self.vault.clock.now().replace(microsecond=0)
        cleaned = (_clean(event, self.vault.masked) for event in events)
        self.records += [SessionRecord(now, _without(event, self.forgotten)) for event in cleaned]

    def forget(self, without: Mask | None) -> None:
        """Take a forgotten text, if there is one, out of all records and of those that follow: neither the model nor
        the note gets it again. What is in the note already is taken out where the text is forgotten."""
        if without is None:
            return
        self.forgotten.append(without)
        mark, left = "", list[SessionRecord]()
        for each in self.records:
            match each.event, event := _without(each.event, (without,)):
                case Spoken(User(before)), Spoken(User(after)):
                    mark = after if is_only_mark(after) and not is_only_mark(before) else ""
                case _, (Spoken(Assistant(text) as answer) as spoken) if mark and text:  # it says it in other words
                    event = replace(spoken, message=replace(answer, text=mark))
            left.append(replace(each, event=event))
        self.records = left

    def save(self, what: Sentence, beside: Mapping[str, bytes] = MappingProxyType({}), *, hold: bool = False) -> None:
        """Write new records, and new notes `beside` the note, in a commit with all that is held of the conversation.

        `what` is its subject. With `hold` it is made later, with the rest of the run. Raises as `transaction` does.
        """
        fresh = self.records[self.saved :]
        if not fresh:
            return
        stored_texts(self.vault).put(self.id, (text for each in fresh for text in _texts_to_store(each.event)))
        text, begun = format_records(fresh, self.language).encode(), self.saved > 0
        self.path = find_session(self.vault, self.path, self.id) if begun else self.path
        last = self.last_run
        stamp = Stamp(actor_of(last.job, last.channel), last.run) if last else Stamp("agent")
        stamp = replace(stamp, tool=CAPTURE, session=self.path)
        with self.vault.transaction(what, stamp, masked=True, hold=hold) as transaction:
            if not hold:
                transaction.release(*self.vault.held_of(self.path))
            if begun:
                transaction.append(self.path, text)
            else:
                transaction.create(self.path, self._head() + text)
            for path, data in beside.items():
                transaction.create(path, data)
        self.saved = len(self.records)
        self.queued = transaction.outcome.queued or ""
        if not begun and not self.queued:
            release_name(self.vault, self.path)

    def _messages(self) -> Iterator[Message]:
        return (record.event.message for record in self.records if isinstance(record.event, Spoken))

    def _head(self) -> bytes:
        header: dict[str, Value] = {
            "id": self.id,
            "type": "session",
            "created": self.records[0].at,
            "channel": self.channel,
        }
        if self.parent:
            header["parent"] = self.parent
        task = next((record.event.task for record in self.records if isinstance(record.event, Began)), "Session")
        title = short_heading(self.vault.masked(task)) or "Session"
        return Note.compose(header, f"# {inert_line(title)}\n\n").data


def begin_session(vault: Vault, channel: str, task: str, parent: str = "", id: str = "") -> Session:
    """A new session. `save` creates its note, named after the task without secrets and forgotten words, since other
    notes link to it. `id` is a new one of the vault's clock; empty: made here."""
    now, id = vault.clock.now(), id or vault.clock.new_id()
    title = short_title(vault.masked(load_tombstones(vault).without_forgotten(task)))
    path = free_name(vault, vault.home.at(f"{SESSIONS}{now:%Y/%m}/"), f"{now:%Y-%m-%d} {title}".rstrip())
    return Session(vault, path, id, channel, parent)


def load_session(vault: Vault, path: str, id: str = "") -> Session:
    """The session in the note at `path`, also if that has got another name since; raises `NoteGone`. `id` is the
    session's, if it is known."""
    path = find_session(vault, path, id)
    data = vault.read(path)
    note = Note.parse(data or b"")
    if data is None or note.type != "session" or not vault.home.holds(path, SESSIONS):
        raise NoteGone(
            "{path} is not a session",
            hint="sessions are the notes in {sessions}",
            path=path,
            sessions=vault.home.at(SESSIONS),
        )
    parts = (note.id or "", note.string("channel") or "cli", note.string("parent") or "")
    texts = stored_texts(vault).of(parts[0])
    records = [_with_text(each, texts) for each in parse_records(note.body, note.body_line)]
    return Session(vault, path, *parts, records, len(records))


def sessions(vault: Vault) -> list[str]:
    """The paths of all sessions, the newest day first."""
    # Of the agent's own folder, a tolerant file system may have another spelling, for which git is not asked.
    paths = vault.note_paths("" if vault.home.path else SESSIONS)
    return sorted((path for path in paths if vault.home.holds(path, SESSIONS)), reverse=True)


def latest_session(vault: Vault, speaker: Speaker, among: Sequence[str]) -> Session | None:
    """The session with the latest record that this speaker began through the same channel (in a group: that anybody in
    it began), of those at the paths `among`, else of the newest; None without one."""
    found: list[Session] = []
    for path in among or sessions(vault)[:_NEWEST]:
        try:
            session = load_session(vault, path)
        except NoteGone:
            continue
        if session.channel == speaker.channel and not session.parent and _is_of(session, speaker):
            found.append(session)
    return max(found, key=lambda session: (session.records[-1].at, session.id), default=None)


def _is_of(session: Session, speaker: Speaker) -> bool:
    """True if this speaker, or in a group anybody in it, began the session."""
    began = next((record.event for record in session.records if isinstance(record.event, Began)), None)
    return began is not None and began.group == speaker.group and (speaker.group or began.sender == speaker.sender)


def _is_aloud(message: Message) -> bool:
    """True for messages that everybody in a group has seen: those of people, and answers."""
    return isinstance(message, User) or (isinstance(message, Assistant) and not message.calls)


def stored_texts(vault: Vault) -> StoredTexts:
    """The texts that models were given in the sessions of a vault."""
    return StoredTexts(vault.private_folder / GIVEN_TEXTS)


def _texts_to_store(event: RecordedEvent) -> Iterator[str]:
    """The texts that the note has only a hash of."""
    if isinstance(event, Spoken):
        yield from (event.message.text,) if event.digest else ()
        yield from (text for _, text in stored_values(event.message)) if event.arguments else ()


def _with_text(record: SessionRecord, texts: Mapping[str, str]) -> SessionRecord:
    """The record with its texts, as far as they are kept on this machine. A result that is not says so, and a call
    without its arguments cannot be carried out."""
    spoken = record.event
    if not isinstance(spoken, Spoken):
        return record
    message = spoken.message
    if spoken.digest and (spoken.digest in texts or isinstance(message, ToolResult)):
        message = replace(message, text=texts.get(spoken.digest, _NOT_KEPT))
    if spoken.arguments and isinstance(message, Assistant):
        message = replace(message, calls=tuple(_whole(each, spoken.arguments, texts) for each in message.calls))
    return replace(record, event=replace(spoken, message=message)) if message is not spoken.message else record


def _whole(call: ToolCall, stored: Sequence[StoredArgument], texts: Mapping[str, str]) -> ToolCall:
    """The call with its long arguments."""
    own = {each.name: each.digest for each in stored if each.call == call.id}
    if any(mark not in texts for mark in own.values()):
        return replace(call, problem=call.problem or _NOT_KEPT)
    return replace(call, arguments={**call.arguments, **{name: parsed(texts[mark]) for name, mark in own.items()}})


def _without(event: RecordedEvent, masks: Sequence[Mask]) -> RecordedEvent:
    """The event without forgotten texts, also in what a tool was called with."""
    for mask in masks:
        event = _clean(event, mask)
        if isinstance(event, Spoken) and isinstance(event.message, Assistant) and event.message.calls:
            calls = tuple(replace(each, arguments=_masked(each.arguments, mask)) for each in event.message.calls)
            message = replace(event.message, calls=calls)
            longer = tuple(each for each, _ in stored_values(message))
            event = replace(event, message=message, arguments=longer, line=mask(event.line))
        elif isinstance(event, Spoken) and event.line:
            event = replace(event, line=mask(event.line))
    return event


def _masked(value: Json, mask: Mask) -> Any:
    match value:
        case str():
            return mask(value)
        case list() | tuple():
            return [_masked(each, mask) for each in value]
        case Mapping():
            return {key: _masked(each, mask) for key, each in value.items()}
    return value


def _clean(event: RecordedEvent, mask: Mask) -> RecordedEvent:
    def plain(text: str) -> str:
        return mask(text.encode("utf-8", "replace").decode())

    match event:
        case Spoken(message):
            message = replace(message, text=plain(message.text))
            pinned = tuple(replace(each, path=plain(each.path)) for each in event.pinned)
            text_digest = digest(message.text) if event.digest or is_stored_apart(message) else ""
            changed = replace(event, message=message, remark=plain(event.remark), pinned=pinned, digest=text_digest)
            return replace(changed, arguments=tuple(each for each, _ in stored_values(message)))
        case Began():
            return replace(event, task=plain(event.task))
        case Summarised():
            return replace(event, text=plain(event.text))
        case Closed() | AtLimit():
            return replace(event, reason=plain(event.reason))
        case ToolsChosen() | Tainted():
            return event
