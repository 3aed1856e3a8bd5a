"""The daily notes of a vault: the log of finished tasks, and the summary of each day."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from agent.channel_names import IN_NOTES
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.events.bus import ignore_event
from agent.events.runs import DaySummarised, TaskCompleted
from agent.loop.records import Began
from agent.loop.session import Session, load_session
from agent.markdown.session_marks import untrusted_sources
from agent.memory import daily
from agent.memory.blame import DAILY
from agent.memory.capture.writer import Addition
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.store import entries_on_day
from agent.memory.understanding.statements import claims, is_question, is_small_talk, sentences_in, without_phrases
from agent.memory.upkeep.day_summary import day_summary
from agent.runs.request_note import words_of
from agent.texts import Language, Sentence
from agent.vault.change import Outcome, Stamp
from agent.vault.day_section import with_marks
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_LOOKED_BACK = 7
"""Days back that are searched for a log without a summary."""


@dataclass(frozen=True, slots=True)
class Diary:
    """Writes the daily notes of one vault. `thinks`: answers come from a model; others only quote notes, and are left
    out of the log."""

    workspace: Workspace
    thinks: bool = True
    tell: Callable[[object], object] = ignore_event
    """Publishes each summary that was written."""

    def additions(self, event: TaskCompleted) -> Sequence[Addition]:
        """The text that a finished task adds to the day's log; a day's first task also summarises the last logged day.

        Nothing for small talk, nor for words in a conversation that is logged already, if they ask for nothing; but all
        that used a tool or is not done. For a guest's task, the log says only that a guest asked. Text to be forgotten
        is left out. Nothing in a day's note that the person keeps from the agent.
        """
        vault, now = self.workspace.vault, event.at or self.workspace.clock.now()
        path = vault.home.day_note(now.date())
        if vault.private_notes.have(path):
            return ()
        before = vault.read(path)
        is_needless = is_small_talk(event.task) or (
            daily.is_logged(before or b"", event.session) and not _asks(event.task)
        )
        if is_needless and not event.tools and event.outcome == "finished":
            return ()
        if before is None:
            self._close_earlier(now.date())
        left = load_tombstones(vault).without_forgotten
        masked = replace(event, task=vault.masked(left(words_of(event.task))), answer=vault.masked(left(event.answer)))
        session, quote = _session(vault, event.session), self.thinks and not _has_strangers(vault, event.session)
        if session is not None and not _is_owners(session, event.run):
            guest = daily.asked_by_guest(self._language)
            masked = replace(masked, task=guest, answer="", session="")  # the session's name contains the task
        block = daily.log_block(masked, now, self._language, quote=quote)
        kind: daily.DayPart = "answers" if event.speaker.channel == IN_NOTES else "conversations"
        section = daily.section(kind, self._language).encode()
        return [Addition(path, daily.beginning(vault, now.date()), block.encode(), section)]

    def summarise(self, day: date, words: str = "") -> Outcome:
        """Update the summary of a day: a model's words, or what was stated; what was asked stands in the log above it.
        Do nothing if it would be empty, if a person wrote it, or without words if a model did."""
        vault = self.workspace.vault
        path = vault.home.day_note(day)
        if vault.private_notes.have(path):
            return Outcome()
        before = vault.read(path)
        text = (before or b"").decode("utf-8", "surrogateescape")
        if daily.is_of_model(text) and not words:
            return Outcome()
        summary = words or day_summary(entries_on_day(vault, day), (), self._language)
        begun = text or daily.beginning(vault, day).decode("utf-8", "surrogateescape")
        if vault.home.days is not None and daily.summary_of(text) is None:
            begun = with_marks(begun.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        after = daily.with_summary(begun, summary, of_model=bool(words)) if summary else text
        if after == text:
            return Outcome()
        data = after.encode("utf-8", "surrogateescape")
        subject = Sentence("memory(daily): summary of {day}", day=day.isoformat())
        with vault.unasked.transaction(subject, Stamp("agent", tool=DAILY)) as transaction:
            transaction.write(path, before, data)
        self.tell(DaySummarised(day.isoformat()))
        return transaction.outcome

    @property
    def _language(self) -> Language:
        return self.workspace.settings.vault.language

    def _close_earlier(self, today: date) -> None:
        for back in range(1, _LOOKED_BACK + 1):
            day = today - timedelta(days=back)
            vault = self.workspace.vault
            text = (vault.read(vault.home.day_note(day)) or b"").decode("utf-8", "surrogateescape")
            if daily.has_log(text):
                self.summarise(day)
                return


def _asks(task: str) -> bool:
    """True for a task with a question or a request."""
    rest = without_phrases(task)
    return is_question(task) or len(claims(rest).splitlines()) < len(list(sentences_in(rest)))


def _has_strangers(vault: Vault, session: str) -> bool:
    """True if a stranger's text came into a session: answers in it may repeat that text."""
    data = vault.read(session) if session else None
    return data is not None and bool(untrusted_sources(data.decode("utf-8", "replace")))


def _session(vault: Vault, path: str) -> Session | None:
    """The session at this path; None if there is none."""
    try:
        return load_session(vault, path) if path else None
    except NoteGone:
        return None


def _is_owners(session: Session, run: str) -> bool:
    """True if the owner asked for a run."""
    return all(event.role == "owner" for event in session.of_run(run) if isinstance(event, Began))
