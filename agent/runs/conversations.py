"""Facts of conversations that have ended or fallen silent, found by the fast model: one call for each conversation.

When a run ends, its new facts wait for the model; only what changes something that is known, and what the person asks
to remember, is kept at once. If the model's answer is unusable, if it cannot be asked, or if the conversation is not
for it, the facts that the rules find are kept instead. A standing wish is kept whether or not the model quotes it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from datetime import timedelta

from agent.context.budget import estimate
from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.events.bus import ignore_event
from agent.events.runs import ContextCompact, MemoryFlushed, TaskCompleted
from agent.llm.messages import Assistant, Request, User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load_session
from agent.memory.capture.captured import captured, log_capture
from agent.memory.capture.conversation_facts import ConversationReading, QuotedFact, TalkLine
from agent.memory.capture.dedupe import Judgement, Resolution
from agent.memory.capture.facts import SOURCE
from agent.memory.capture.run_entries import FINISHED
from agent.memory.capture.run_trace import RunTrace
from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import Entry, EntryType
from agent.memory.store import StoredEntry, load_entries
from agent.memory.understanding.statements import is_standing_wish
from agent.runs.accounts import Accounts
from agent.runs.waiting_conversations import (
    WaitingConversation,
    begin_waiting,
    end_waiting,
    is_own,
    silent_conversations,
    tried_once_more,
    waiting_conversation,
)
from agent.runs.waiting_statements import stated_in
from agent.vault.change import CAPTURE, Stamp
from agent.workspace.workspace import Workspace

TRIES, PATIENCE = 3, timedelta(days=1)
"""How often the model is asked, and how long a conversation waits for it, before the rules decide."""
_ANSWER_TOKENS = 1_500
_KNOWN = 20
"""The most known facts that the model is shown."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Conversations:
    """The conversations of one vault that wait for the model."""

    workspace: Workspace
    keeper: EntryWriter
    accounts: Accounts
    tell: Callable[[object], object] = ignore_event
    """Publishes what was captured."""
    _here: set[str] = field(default_factory=set, init=False)
    """The sessions of this process."""

    def waits(self, event: TaskCompleted, trace: RunTrace) -> bool:
        """True for a run whose conversation the model will read; the conversation waits from now on.

        One in which others speak or a stranger's text was read is left to the rules, and so is a run that failed: its
        model may not be reachable.
        """
        speaker = event.speaker
        is_wanted = self.workspace.settings.memory.capture == "facts" and self.accounts.models.fast.model.present
        if not is_wanted or not event.session or speaker.group or speaker.sender:
            return False
        if event.outcome != FINISHED or trace.untrusted or not trace.is_whole:
            return False
        try:
            begin_waiting(self.workspace, event)
        except OSError as error:
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
            verdicts = self._write(session, *(found or (self._by_rules(session, waiting), ())))
        except (AgentError, OSError) as error:
            logger.warning("%s: what is worth keeping could not be written, and waits: %s", path, error)
            return ()
        end_waiting(self.workspace, path)
        return verdicts

    def _write(self, session: Session, entries: Sequence[Entry], known: Sequence[StoredEntry]) -> Sequence[Judgement]:
        """Write the entries, those of each run in a commit of its own: what undoes a run takes them, too."""
        clock, runs = self.workspace.clock, dict.fromkeys(each.slots.get("run", "") for each in entries)
        found: list[Judgement] = []
        for run in runs:
            began = clock.monotonic()
            of_run = [each for each in entries if each.slots.get("run", "") == run]
            subject = f"memory(facts): kept {len(of_run)} of a conversation"
            stamp = Stamp("agent", run=run, tool=CAPTURE, session=session.path)
            verdicts = self.keeper.keep(of_run, subject, stamp, known=known)
            log_capture(session.path, verdicts, clock.monotonic() - began)
            self.tell(captured(run, session.path, verdicts, estimate))
            found += verdicts
        return found

    def _by_rules(self, session: Session, waiting: WaitingConversation) -> Sequence[Entry]:
        """The entries of what the rules find, without those that were kept when the run ended."""
        stated = stated_in(self.workspace, session, waiting.runs)
        return tuple(each for each in stated if not self.keeper.is_known(each))

    def _by_model(
        self, session: Session, waiting: WaitingConversation
    ) -> tuple[Sequence[Entry], Sequence[StoredEntry]] | None:
        """The entries of what the model finds, and the known ones that they may replace; None if it may not read the
        conversation, or its answer is unusable."""
        lines = tuple(self._lines(session, frozenset(waiting.runs)))
        if session.untrusted or not self.accounts.models.fast.model.present:
            return None
        if not any(each.is_person for each in lines):
            return (), ()
        near = self._known(session, lines)
        reading = ConversationReading(
            lines,
            tuple(each for each in near if each.entry.session_id != session.path),
            tuple(each for each in near if each.entry.session_id == session.path),
            stated_in(self.workspace, session, waiting.runs),
            self.workspace.settings.vault.language,
        )
        name = f"conversation-{self.workspace.clock.new_id()}"
        prompt = fill("conversation", self.workspace.vault.own_version_of, conversation=reading.question())
        reply = self.accounts.of_run(name, "").fast.chat(Request((User(prompt),), max_output=_ANSWER_TOKENS))
        try:
            found = [self._entry(session, each) for each in reading.facts(reply.message.text)]
        except (ValueError, RecursionError) as error:
            logger.info("%s: the model's answer is not usable, the rules' facts are kept: %s", session.path, error)
            return None
        return (*found, *self._unquoted_wishes(reading.stated, found)), near

    def _unquoted_wishes(self, stated: Sequence[Entry], found: Sequence[Entry]) -> Iterator[Entry]:
        """The standing wishes that the rules find and the model has not quoted: what the person wants from now on
        does not depend on how well a model reads."""
        for each in stated:
            is_quoted = any(each.text in other.text or other.text in each.text for other in found)
            if is_standing_wish(each.text) and not is_quoted and not self.keeper.is_known(each):
                yield each

    def _lines(self, session: Session, runs: frozenset[str]) -> Iterator[TalkLine]:
        """What was said aloud in these runs of a conversation."""
        run = ""
        for record in session.records:
            match record.event:
                case Began() as began:
                    run = began.run
                case Spoken(User(text) | Assistant(text)) if run in runs and text.strip():
                    yield TalkLine(text, isinstance(record.event.message, User), record.line, record.at, run)

    def _known(self, session: Session, lines: tuple[TalkLine, ...]) -> tuple[StoredEntry, ...]:
        """The statements that are known about what is spoken of, newest first."""
        paths: dict[str, None] = {}
        for each in lines:
            if each.is_person:
                said = Entry("", self.workspace.clock.now(), each.text, EntryType.FACT, session_id=session.path)
                paths |= dict.fromkeys(self.keeper.close_to(said))
        found = load_entries(self.workspace.vault, paths)
        return tuple(each for each in found if _is_owners(each))[:_KNOWN]

    def _entry(self, session: Session, fact: QuotedFact) -> Entry:
        clock = self.workspace.clock
        slots = {"run": fact.run} if fact.run else {}
        slots |= {"kind": fact.kind} | ({"line": str(fact.line)} if fact.line else {})
        return Entry(
            clock.new_id(),
            fact.at or clock.now(),
            fact.text,
            EntryType.FACT,
            channel=session.channel,
            source=fact.source or SOURCE,
            keywords=fact.keywords,
            session_id=session.path,
            slots=slots,
            supersedes=fact.replaces.link if fact.replaces is not None and not fact.source else "",
            evidence=(f"[[{session.path.removesuffix('.md')}]]",),
        )


def _is_owners(each: StoredEntry) -> bool:
    entry = each.entry
    return entry.type.is_stated and not (each.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by)
