"""The day's log and summary, the daily upkeep of memory, and the import of memories.

The time of the last upkeep is stored on this machine only: the upkeep finds its work in the notes, so an extra one, or
one on another machine, does no harm.
"""

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from agent.config import private
from agent.errors import AgentError, NoteGone
from agent.events.runs import TaskCompleted
from agent.loop.records import Began
from agent.loop.session import Session, load_session
from agent.memory import daily
from agent.memory.blame import DAILY
from agent.memory.capture.importing import ImportedFile, ImportResult, load_folder
from agent.memory.capture.writer import Addition
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.store import ARCHIVED, entries_on_day, load_entries
from agent.memory.understanding.rules import RULES
from agent.memory.understanding.seam import Understanding
from agent.memory.upkeep.day_summary import day_summary
from agent.memory.upkeep.lifecycle import UpkeepPlan, plan, run
from agent.texts import Language
from agent.vault.change import Outcome, Stamp
from agent.vault.folders import ENTRIES
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_STRANGERS = b"%% vault-agent: taint "
_LOOKED_BACK = 7
"""Days back that are searched for a log without a summary."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Diary:
    """Writes the daily notes of one vault."""

    workspace: Workspace

    def additions(self, event: TaskCompleted) -> Sequence[Addition]:
        """The text that a finished task adds to the day's log; a day's first task also summarises the last logged day.

        For a guest's task, the log says only that a guest asked. Text to be forgotten is left out.
        """
        vault, now = self.workspace.vault, event.at or self.workspace.clock.now()
        path = daily.path_of(now.date())
        if vault.read(path) is None:
            self._close_earlier(now.date())
        left = load_tombstones(vault).without_forgotten
        told = replace(event, task=vault.masked(left(event.task)), answer=vault.masked(left(event.answer)))
        session, quote = _session(vault, event.session), not _has_strangers(vault, event.session)
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


@dataclass(frozen=True, slots=True)
class Upkeeper:
    """Runs the upkeep of memory when it is due: at the first activity of a day, or after many entries in a day."""

    workspace: Workspace
    understanding: Understanding = RULES

    @property
    def last(self) -> Path:
        """The file that records the last upkeep on this machine."""
        return self.workspace.vault.private_folder / "upkeep.json"

    def is_due(self, now: datetime) -> bool:
        """True if the upkeep should run now; reads one small file and the names in one folder."""
        settings = self.workspace.settings.memory
        if not (settings.lifecycle or settings.long_term):
            return False
        day, entries = self._done()
        if day != now.date().isoformat():
            return True
        return self._today(now.date()) - entries >= settings.lifecycle_entries

    def plan(self) -> UpkeepPlan:
        """The upkeep that is needed now; writes nothing."""
        settings = self.workspace.settings
        return plan(
            self.workspace.vault,
            settings.memory,
            settings.vault.language,
            self.workspace.clock.now(),
            self.understanding,
        )

    def run(self) -> tuple[UpkeepPlan, Outcome]:
        """Do the upkeep that is needed now, in one commit, and record its time."""
        upkeep = self.plan()
        outcome = run(self.workspace.vault, upkeep) if upkeep.requests else Outcome()
        today = self.workspace.clock.now().date()
        with suppress(OSError):
            private.replace(self.last, json.dumps({"day": today.isoformat(), "entries": self._today(today)}))
        return upkeep, outcome

    def run_when_due(self) -> UpkeepPlan | None:
        """Run the upkeep if it is due; returns None if it is not due, or failed and has to wait."""
        if not self.is_due(self.workspace.clock.now()):
            return None
        try:
            return self.run()[0]
        except AgentError as error:
            logger.warning("the upkeep of memory has to wait: %s", error.message)
            return None

    def _done(self) -> tuple[str, int]:
        try:
            said = json.loads(self.last.read_text("utf-8"))
            return str(said["day"]), int(said["entries"])
        except (OSError, ValueError, KeyError, TypeError):
            return "", 0

    def _today(self, day: date) -> int:
        folder = Path(self.workspace.vault.place.root, ENTRIES, f"{day:%Y/%m}")
        return sum(1 for _ in folder.glob(f"{day:%Y-%m-%d}*.md")) if folder.is_dir() else 0


def import_entries(
    workspace: Workspace, folder: Path, *, dry_run: bool = False
) -> tuple[tuple[ImportedFile, ...], Outcome]:
    """Import the memories in a folder of an older layout as entries, in one commit."""
    vault = workspace.vault
    known = load_entries(vault, (path for path in vault.note_paths() if path.startswith((ENTRIES, ARCHIVED))))
    found = load_folder(folder, known, load_tombstones(vault), workspace.clock)
    entries = [each.entry for each in found if each.result is ImportResult.TAKEN and each.entry is not None]
    if dry_run or not entries:
        return found, Outcome()
    subject = f"memory(import): take in {len(entries)} memories of an older layout"
    with vault.transaction(subject, Stamp("agent", tool="import")) as transaction:
        for entry in entries:
            transaction.create(entry.path, entry.note())
    return found, transaction.outcome


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
