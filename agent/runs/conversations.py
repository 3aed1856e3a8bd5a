"""Facts of conversations that have ended or fallen silent, found by the fast model: one call for each conversation.

When a run ends, its facts wait for the model; only what the person asks to remember is kept at once. The model is shown
what is known and what was written meanwhile, and says what to add, what replaces a known fact, and what has ended. If
its answer is unusable, if it cannot be asked, or if the conversation is not for it, the facts that the rules find are
kept instead. A standing wish is kept whether or not the model quotes it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from agent.config.resources import pattern
from agent.context.budget import Count, estimate
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.events.bus import ignore_event
from agent.events.runs import ContextCompact, MemoryFlushed, TaskCompleted
from agent.llm.messages import Assistant, Message, Request, ToolCall, ToolResult, User
from agent.loop.mailbox import answer_of
from agent.loop.records import ASKS_A_PERSON, Began, Spoken
from agent.loop.session import Session, load_session
from agent.memory.capture.conversation_facts import (
    ConversationReading,
    EndedFact,
    ReadFact,
    TalkLine,
    WrittenText,
)
from agent.memory.capture.dedupe import Judgement, Resolution, captured, ended_note, log_capture
from agent.memory.capture.facts import FINISHED, HALF, SOURCE, RunTrace, shared
from agent.memory.capture.writer import EntryWriter, Near
from agent.memory.entry import QUOTE, Entry, EntryType
from agent.memory.store import StoredEntry, entry_paths_on, load_entries
from agent.memory.understanding.statements import (
    is_lasting_wish,
    is_one_word,
    is_question,
    is_small_talk,
    sentences_in,
    tells_nothing,
)
from agent.runs.accounts import Accounts
from agent.runs.owner import fill_profile, notes_about_owner
from agent.runs.waiting_statements import (
    WaitingConversation,
    begin_waiting,
    end_waiting,
    is_own,
    silent_conversations,
    stated_in,
    tried_once_more,
    waiting_conversation,
)
from agent.texts import Sentence, joined
from agent.tools.tool_names import resolved
from agent.vault.change import CAPTURE, Stamp
from agent.workspace.workspace import Workspace

TRIES, PATIENCE = 3, timedelta(days=1)
"""How often the model is asked, and how long a conversation waits for it, before the rules decide."""
_ANSWER_TOKENS = 1_500
_KNOWN = 40
"""The most known facts that the model is shown."""
_BEFORE = 4
"""The messages before those that wait, which the model is shown so that it understands them."""
_OWNER_TOKENS = 600
_WRITTEN_IN: Mapping[str, Sequence[str]] = {
    "vault_write": ("content",),
    "vault_append": ("text",),
    "vault_edit": ("new",),
    "jobs.add": ("title", "text", "when"),
}
"""The arguments of tools in which stands what they write into notes."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Conversations:
    """The conversations of one vault that wait for the model."""

    workspace: Workspace
    writer: EntryWriter
    accounts: Accounts
    tell: Callable[[object], object] = ignore_event
    """Publishes what was captured."""
    owner: Callable[[int], str] = lambda room: ""
    """The block about the owner in so many tokens, as every run is given it."""
    _here: set[str] = field(default_factory=set, init=False)
    """The sessions of this process."""

    def waits(self, event: TaskCompleted, trace: RunTrace) -> bool:
        """True for a run whose conversation the model will read; the conversation waits from now on.

        One in which others speak is left to the rules, and so is a run that failed: its model may not be reachable.
        """
        speaker = event.speaker
        is_wanted = self.workspace.settings.memory.capture == "facts" and self.accounts.models.fast.model.present
        if not is_wanted or not event.session or speaker.group or speaker.sender:
            return False
        if event.outcome != FINISHED or not trace.is_whole:
            return False
        try:
            begin_waiting(self.workspace, event)
        except AgentError as error:
            logger.warning("%s: the rules decide what is worth keeping: %s", event.session, error)
            return False
        self._here.add(event.session)
        return True

    def keep_ended(self) -> None:
        """Keep the facts of the conversations that have fallen silent, and, as it ends, of those of this process."""
        for path in dict.fromkeys((*self._here, *silent_conversations(self.workspace))):
            self.keep(path)
        self._here.clear()

    def flush(self, event: ContextCompact) -> None:
        """Keep the facts of what has been said so far in a conversation of which the model will see a summary only."""
        if waiting_conversation(self.workspace, event.session) is not None:
            fates = Counter(each.resolution for each in self.keep(event.session))
            known = fates.pop(Resolution.AGAIN, 0) + fates.pop(Resolution.NONE, 0)
            self.tell(MemoryFlushed(event.run, event.session, fates.total(), known))

    def keep(self, path: str) -> Sequence[Judgement]:
        """Keep the facts of one waiting conversation: those that the model finds, or the rules' if it cannot say.

        If the model cannot be asked now, the conversation waits on, for a day and for `TRIES` at most. With text from
        elsewhere in its session it waits until the person has looked at it.
        """
        waiting = waiting_conversation(self.workspace, path)
        if waiting is None or not is_own(self.workspace, path):
            return ()
        try:
            session = load_session(self.workspace.vault, path)
            found = self._by_model(session, waiting)
        except NoteGone:
            end_waiting(self.workspace, path)
            return ()
        except (AgentError, OSError) as error:
            logger.info("%s: the model was not asked what is worth keeping: %s", path, error)
            is_over = self.workspace.clock.now() - waiting.heard >= PATIENCE
            if waiting.tries + 1 < TRIES and not is_over:
                tried_once_more(self.workspace, waiting)
                return ()
            found = None
        try:
            verdicts = self._write(session, found or _Found(stated_in(self.workspace, session, waiting.runs)))
        except (AgentError, OSError) as error:
            logger.warning("%s: what is worth keeping could not be written, and waits: %s", path, error)
            return ()
        end_waiting(self.workspace, path)
        return verdicts

    def _write(self, session: Session, found: "_Found") -> Sequence[Judgement]:
        """Write what was found in one commit, which names no run: to undo what the agent did in one takes nothing of
        what the person has said."""
        clock = self.workspace.clock
        began = clock.monotonic()
        if not (found.entries or found.ended):
            return ()
        old = ((each.known, ended_note(each.known, session.path, each.quote)) for each in found.ended)
        ended = {known.path: (known.data, after) for known, after in old}
        new = Sentence("kept {count}", count=len(found.entries))
        counts = [*([new] if found.entries else []), *([Sentence("ended {count}", count=len(ended))] if ended else [])]
        subject = Sentence("memory(facts): {counts} of a conversation", counts=joined(counts, ", "))
        stamp = Stamp("agent", tool=CAPTURE, session=session.path)
        verdicts = self.writer.keep(found.entries, subject, stamp, known=found.known, edits=ended)
        log_capture(session.path, verdicts, clock.monotonic() - began)
        self.tell(captured(_last_run(found), session.path, verdicts, estimate))
        if ended or any(each.resolution is Resolution.SUPERSEDES for each in verdicts):
            fill_profile(self.workspace)  # what it quotes has changed
        return verdicts

    def _by_model(self, session: Session, waiting: WaitingConversation) -> "_Found | None":
        """The facts that the model finds; None if there is none, or its answer is unusable.

        Where strangers' text was read, it may stand again in all that the assistant said and wrote: the model is
        shown the person's own lines alone.
        """
        runs = frozenset(waiting.runs)
        whole = [each for each in self._lines(session) if each.is_person or not session.untrusted]
        lines = tuple(each for each in whole if each.run in runs)
        before = [each for each in whole if each.run not in runs and each.line < lines[0].line] if lines else []
        if not self.accounts.models.fast.model.present:
            return None
        if not _may_tell(lines, before):
            return _Found()
        known = self._known(session, lines)
        written = () if session.untrusted else self._written(session, runs)
        reading = ConversationReading(lines, known, (*written, *self._about_owner()), before[-_BEFORE:])
        name = f"conversation-{self.workspace.clock.new_id()}"
        prompt = fill("conversation", self.workspace.vault.own_version_of, conversation=reading.question())
        reply = self.accounts.of_run(name, "").fast.chat(Request((User(prompt),), max_output=_ANSWER_TOKENS))
        try:
            facts, ended = reading.result(reply.message.text)
        except (ValueError, RecursionError) as error:
            logger.info("%s: the model's answer is not usable, the rules' facts are kept: %s", session.path, error)
            return None
        found = [self._entry(session, each) for each in facts]
        wishes = self._unquoted_wishes(stated_in(self.workspace, session, waiting.runs), reading, facts)
        return _Found((*found, *wishes), known, ended)

    def _unquoted_wishes(
        self, stated: Sequence[Entry], reading: ConversationReading, found: Sequence[ReadFact]
    ) -> Iterator[Entry]:
        """The standing wishes that the rules find, and of which nothing that the model has found, was shown as known
        or has written says half: what the person wants from now on does not depend on how well a model reads."""
        known_texts = [text for each in found for text in (each.text, each.quote)]
        known_texts += [text for each in reading.known for text in (each.entry.text, each.entry.slots.get(QUOTE, ""))]
        known_texts += [row for each in reading.written for row in each.text.splitlines()]
        for each in stated:
            is_known = any(shared(text, each.text) >= HALF for text in known_texts)
            if is_lasting_wish(each.text) and not is_known and not self.writer.is_known(each):
                yield each

    def _lines(self, session: Session) -> Iterator[TalkLine]:
        """The messages of a conversation, and the answers of the person when they were asked."""
        for run, spoken, line, at in _spoken(session):
            match spoken:
                case User(text) if text.strip():
                    yield TalkLine(text, True, line, at, run)
                case Assistant(text, calls):
                    asked = (str(call.arguments.get("question", "")) for call in calls if call.name == ASKS_A_PERSON)
                    for spoken_text in filter(str.strip, (text, *asked)):
                        yield TalkLine(spoken_text, False, line, at, run)
                case ToolResult() as result if answer := answer_of(result):
                    yield TalkLine(answer, True, line, at, run)

    def _written(self, session: Session, runs: frozenset[str]) -> Iterator[WrittenText]:
        """The texts that tools have written into notes in these runs."""
        calls = dict[str, ToolCall]()
        for run, spoken, _, _ in _spoken(session):
            if run not in runs:
                continue
            match spoken:
                case Assistant(_, made):
                    calls |= {call.id: resolved(call) for call in made}
                case ToolResult(call=id, failed=False) if (call := calls.get(id)) and call.name in _WRITTEN_IN:
                    values = (call.arguments.get(name) for name in _WRITTEN_IN[call.name])
                    text = "\n".join(each for each in values if isinstance(each, str))
                    yield WrittenText(str(call.arguments.get("path", call.name)), text)

    def _about_owner(self) -> Iterator[WrittenText]:
        try:
            yield WrittenText("the notes about the person", self.owner(_OWNER_TOKENS))
        except (AgentError, OSError) as error:
            logger.info("the notes about the person could not be read: %s", error)

    def _known(self, session: Session, lines: tuple[TalkLine, ...]) -> tuple[StoredEntry, ...]:
        """The statements that were kept of this conversation, and those that are known about what is spoken of, newest
        first."""
        days = {each.at.date() for each in lines if each.at} | {self.workspace.clock.now().date()}
        of_days = (path for day in days for path in entry_paths_on(self.workspace.vault, day))
        of_session = [
            each for each in load_entries(self.workspace.vault, of_days) if each.entry.session_id == session.path
        ]
        paths: dict[str, None] = {}
        for each in lines:
            if each.is_person:
                statement = Entry("", self.workspace.clock.now(), each.text, EntryType.FACT, session_id=session.path)
                paths |= dict.fromkeys(self.writer.close_to(statement))
        found = {each.path: each for each in (*of_session, *load_entries(self.workspace.vault, paths))}
        return tuple(each for each in found.values() if _is_owners(each))[:_KNOWN]

    def _entry(self, session: Session, fact: ReadFact) -> Entry:
        clock = self.workspace.clock
        slots = {"run": fact.run} if fact.run else {}
        slots |= {"kind": fact.kind} | ({"line": str(fact.line)} if fact.line else {})
        slots |= {QUOTE: fact.quote} if fact.quote != fact.text else {}
        return Entry(
            clock.new_id(),
            fact.at or clock.now(),
            fact.text,
            EntryType.FACT,
            channel=session.channel,
            source=SOURCE,
            keywords=fact.keywords,
            session_id=session.path,
            slots=slots,
            supersedes=fact.replaces.link if fact.replaces is not None else "",
            evidence=(f"[[{session.path.removesuffix('.md')}]]",),
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """The changes to memory after a conversation: the entries, the known ones that they may replace, and those that
    ended."""

    entries: Sequence[Entry] = ()
    known: Sequence[StoredEntry] = ()
    ended: Sequence[EndedFact] = ()


def _may_tell(lines: Sequence[TalkLine], before: Sequence[TalkLine]) -> bool:
    """True if the person may have stated something: a line of theirs is more than questions, small talk and one word,
    or is one that answers what the assistant has asked, as "yes, please" does."""
    return any(
        each.is_person and (not tells_nothing(each.text) or (_is_short(each.text) and _asks(last)))
        for last, each in zip((before[-1] if before else None, *lines), lines, strict=False)
    )


def _is_short(text: str) -> bool:
    return is_small_talk(text) or is_one_word(text)


def _asks(line: TalkLine | None) -> bool:
    """True for a line in which the assistant asks something, other than what it can do for the person."""
    if line is None or line.is_person:
        return False
    asked = filter(is_question, sentences_in(line.text))
    return any(pattern("offers_help").search(each) is None for each in asked)


def _last_run(found: _Found) -> str:
    """The run in which the last of the entries was said; empty without one."""
    return next((run for each in reversed(found.entries) if (run := each.slots.get("run", ""))), "")


def _spoken(session: Session) -> Iterator[tuple[str, Message, int, datetime]]:
    """The messages of a conversation, each with its run, its line in the note and its time."""
    run = ""
    for record in session.records:
        match record.event:
            case Began() as began:
                run = began.run
            case Spoken(message):
                yield run, message, record.line, record.at


def _is_owners(each: StoredEntry) -> bool:
    entry = each.entry
    return entry.type.is_stated and not (each.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by)


def conversations_of(
    workspace: Workspace, near: Near, accounts: Accounts, tell: Callable[[object], object], count: Count = estimate
) -> Conversations:
    """The conversations of a vault, with what writes their facts and says who their owner is."""
    writer = EntryWriter(workspace.vault, near, workspace.settings.vault.language)
    return Conversations(workspace, writer, accounts, tell, notes_about_owner(workspace.vault, count))
