"""Facts of conversations that have ended or fallen silent, found by the fast model: one call for each conversation.

The rules have kept what they find when a run ended; the model adds what they miss, and says what it replaces. Which
conversations wait for it is this machine's private state. One in which a stranger's text was read, or others speak, is
left to the rules.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from agent.config import private
from agent.context.prompt import fill
from agent.context.tokens import estimate
from agent.errors import AgentError, NoteGone
from agent.events.bus import ignore_event
from agent.events.runs import TaskCompleted
from agent.llm.messages import Assistant, Request, User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load_session
from agent.memory.capture.captured import captured, log_capture
from agent.memory.capture.conversation_facts import QuotedFact, TalkLine, question, quoted_facts
from agent.memory.capture.facts import SOURCE
from agent.memory.capture.run_entries import is_captured
from agent.memory.capture.writer import EntryWriter
from agent.memory.entry import Entry, EntryType
from agent.memory.store import StoredEntry, load_entries
from agent.runs.accounts import Accounts
from agent.vault.change import CAPTURE, Stamp
from agent.workspace.workspace import Workspace

SILENT = timedelta(minutes=2)
"""The time without a run after which a conversation has fallen silent."""
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

    def heard(self, event: TaskCompleted) -> None:
        """A run has ended: its conversation waits, if the settings and the model let it."""
        speaker = event.speaker
        is_wanted = self.workspace.settings.memory.capture == "facts" and self.accounts.models.fast.model.present
        if not is_wanted or not event.session or not is_captured(event) or speaker.group or speaker.sender:
            return
        folder = _folder(self.workspace)
        file = folder / f"{Path(event.session).stem}.txt"
        private.make_folder(folder)
        seen = file.read_text("utf-8").splitlines()[2:] if file.exists() else []
        now = self.workspace.clock.now().isoformat()
        private.replace(file, "\n".join([event.session, now, *seen, event.run]))
        self._here.add(event.session)

    def keep_ended(self) -> None:
        """Keep the facts of the conversations that have fallen silent, and, as it ends, of those of this process."""
        for path in dict.fromkeys((*self._here, *silent_conversations(self.workspace))):
            self.keep(path)
        self._here.clear()

    def keep(self, path: str) -> None:
        """Keep the facts of one waiting conversation; it waits on if the model cannot be asked now."""
        runs = next((runs for session, runs, _ in _waiting(self.workspace) if session == path), None)
        if runs is None:
            return
        try:
            self._keep(load_session(self.workspace.vault, path), runs)
        except NoteGone:
            pass
        except (AgentError, OSError) as error:
            logger.warning("%s: the model was not asked what is worth keeping: %s", path, error)
            return
        (_folder(self.workspace) / f"{Path(path).stem}.txt").unlink(missing_ok=True)

    def _keep(self, session: Session, runs: frozenset[str]) -> None:
        lines = tuple(self._lines(session, runs))
        if session.untrusted or not any(each.is_person for each in lines):
            return
        known = self._known(session, lines)
        name = f"conversation-{self.workspace.clock.new_id()}"
        prompt = fill("conversation", self.workspace.vault.own_version, conversation=question(lines, known))
        reply = self.accounts.of_run(name, "").fast.chat(Request((User(prompt),), max_output=_ANSWER_TOKENS))
        try:
            facts = quoted_facts(reply.message.text, lines, known, self.workspace.settings.vault.language)
        except (ValueError, RecursionError) as error:
            logger.info("%s: the model's answer is not usable, the rules' facts stay: %s", session.path, error)
            return
        if entries := [self._entry(session, each) for each in facts]:
            stamp = Stamp("agent", tool=CAPTURE, session=session.path)
            clock = self.workspace.clock
            began = clock.monotonic()
            subject = f"memory(facts): {len(entries)} of a conversation"
            verdicts = self.keeper.keep(entries, subject, stamp, known=known)
            log_capture(session.path, verdicts, clock.monotonic() - began)
            self.tell(captured("", session.path, verdicts, estimate))

    def _lines(self, session: Session, runs: frozenset[str]) -> Iterator[TalkLine]:
        """What was said aloud in these runs of a conversation."""
        note = (self.workspace.vault.read(session.path) or b"").decode("utf-8", "replace")
        is_ours, at = False, 0
        for record in session.records:
            match record.event:
                case Began() as began:
                    is_ours = began.run in runs
                case Spoken(User(text) | Assistant(text)) if is_ours and text.strip():
                    found = note.find(text.strip().splitlines()[0], at)
                    at = max(found, at)
                    line = note.count("\n", 0, found) + 1 if found >= 0 else 0
                    yield TalkLine(text, isinstance(record.event.message, User), line)

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
        slots = {"kind": fact.kind} | ({"line": str(fact.line)} if fact.line else {})
        return Entry(
            clock.new_id(),
            clock.now(),
            fact.text,
            EntryType.FACT,
            channel=session.channel,
            source=fact.source or SOURCE,
            session_id=session.path,
            slots=slots,
            supersedes=fact.replaces.link if fact.replaces is not None and not fact.source else "",
            evidence=(f"[[{session.path.removesuffix('.md')}]]",),
        )


def silent_conversations(workspace: Workspace) -> tuple[str, ...]:
    """The sessions of the waiting conversations that have fallen silent."""
    now = workspace.clock.now()
    return tuple(path for path, _, heard in _waiting(workspace) if now - heard >= SILENT)


def _folder(workspace: Workspace) -> Path:
    return workspace.vault.private_folder / "conversations"


def _waiting(workspace: Workspace) -> list[tuple[str, frozenset[str], datetime]]:
    """Each waiting conversation: its session, its runs, and the time at which it was last heard of."""
    folder = _folder(workspace)
    found: list[tuple[str, frozenset[str], datetime]] = []
    for file in sorted(folder.glob("*.txt")) if folder.is_dir() else ():
        with suppress(OSError, UnicodeDecodeError, ValueError):
            path, heard, *runs = file.read_text("utf-8").splitlines()
            found.append((path, frozenset(runs), datetime.fromisoformat(heard)))
    return found


def _is_owners(each: StoredEntry) -> bool:
    entry = each.entry
    return entry.type.is_stated and not (each.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by)
