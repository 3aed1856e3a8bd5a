"""The daily notes of a vault: the log of finished tasks, and the summary of each day."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from agent.errors import NoteGone
from agent.events.bus import ignore_event
from agent.events.runs import DaySummarised, TaskCompleted
from agent.loop.records import Began
from agent.loop.session import Session, load_session
from agent.memory import daily
from agent.memory.blame import DAILY
from agent.memory.capture.writer import Addition
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.store import entries_on_day
from agent.memory.understanding.small_talk import is_small_talk
from agent.memory.upkeep.day_summary import day_summary
from agent.texts import Language
from agent.vault.change import Outcome, Stamp
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_STRANGERS = b"%% vault-agent: taint "
_LOOKED_BACK = 7
"""Days back that are searched for a log without a summary."""

logger = logging.getLogger(__name__)


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

        Nothing for thanks and other small talk. For a guest's task, the log says only that a guest asked. Text to be
        forgotten is left out.
        """
        if is_small_talk(event.task) and not event.tools:
            return ()
        vault, now = self.workspace.vault, event.at or self.workspace.clock.now()
        path = daily.path_of(now.date())
        if vault.read(path) is None:
            self._close_earlier(now.date())
        left = load_tombstones(vault).without_forgotten
        told = replace(event, task=vault.masked(left(event.task)), answer=vault.masked(left(event.answer)))
        session, quote = _session(vault, event.session), self.thinks and not _has_strangers(vault, event.session)
        if session is not None and not _is_owners(session, event.run):
            guest = daily.asked_by_guest(self._language)
            told = replace(told, task=guest, answer="", session="")  # the session's name contains the task
        block = daily.log_block(told, now, self._language, quote=quote)
        return [Addition(path, daily.new_note(now.date()).encode(), block.encode())]

    def summarise(self, day: date) -> Outcome:
        """Update the summary of a day; do nothing if it would be empty or a person has changed it."""
        vault = self.workspace.vault
        path = daily.path_of(day)
        before = vault.read(path)
        text = (before or b"").decode("utf-8", "surrogateescape")
        summary = day_summary(entries_on_day(vault, day), daily.log(text), self._language)
        after = daily.with_summary(text or daily.new_note(day), summary) if summary else text
        if after == text:
            return Outcome()
        data = after.encode("utf-8", "surrogateescape")
        subject = f"memory(daily): summary of {day.isoformat()}"
        with vault.transaction(subject, Stamp("agent", tool=DAILY)) as transaction:
            if before is None:
                transaction.create(path, data)
            else:
                transaction.edit(path, before, data)
        self.tell(DaySummarised(day.isoformat()))
        return transaction.outcome

    @property
    def _language(self) -> Language:
        return self.workspace.settings.vault.language

    def _close_earlier(self, today: date) -> None:
        for back in range(1, _LOOKED_BACK + 1):
            day = today - timedelta(days=back)
            text = (self.workspace.vault.read(daily.path_of(day)) or b"").decode("utf-8", "surrogateescape")
            if daily.has_log(text):
                self.summarise(day)
                return


def _has_strangers(vault: Vault, session: str) -> bool:
    """True if a stranger's text came into a session: answers in it may repeat that text."""
    return bool(session) and _STRANGERS in (vault.read(session) or b"")


def _session(vault: Vault, path: str) -> Session | None:
    """The session at this path; None if there is none."""
    try:
        return load_session(vault, path) if path else None
    except NoteGone:
        return None


def _is_owners(session: Session, run: str) -> bool:
    """True if the owner asked for a run."""
    return all(event.role == "owner" for event in session.of_run(run) if isinstance(event, Began))
