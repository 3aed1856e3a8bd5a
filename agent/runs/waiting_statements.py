"""Conversations that wait for the fast model to read them, and what their person has stated in them, by rules."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

from agent.context.budget import estimate
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.events.runs import TaskCompleted
from agent.loop.records import Began, Closed
from agent.loop.session import Session, load_session
from agent.memory.capture.dedupe import Resolution, judge
from agent.memory.capture.facts import FINISHED, CaptureConfig, entries_of_run
from agent.memory.entry import Entry
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.recall.recaller import Remembered
from agent.memory.store import StoredEntry
from agent.records.table import Table
from agent.runs.run_course import trace_of
from agent.workspace.workspace import Workspace

SILENT = timedelta(minutes=2)
"""The time without a run after which a conversation has fallen silent."""


@dataclass(frozen=True, slots=True)
class WaitingConversation:
    """A conversation that waits: its session, its runs, when one of them ended last, and how often the model could not
    be asked."""

    session: str
    runs: tuple[str, ...]
    heard: datetime
    tries: int = 0


def begin_waiting(workspace: Workspace, event: TaskCompleted) -> None:
    """Let the conversation of a run that has ended wait."""
    known = waiting_conversation(workspace, event.session)
    runs = tuple(dict.fromkeys((*(known.runs if known else ()), event.run)))
    _save(workspace, WaitingConversation(event.session, runs, workspace.clock.now()))


def tried_once_more(workspace: Workspace, waiting: WaitingConversation) -> None:
    """Record that the model could not be asked."""
    _save(workspace, replace(waiting, tries=waiting.tries + 1))


def end_waiting(workspace: Workspace, session: str) -> None:
    """The conversation waits no longer."""
    _table(workspace).drop(_key(session))


def waiting_conversation(workspace: Workspace, session: str) -> WaitingConversation | None:
    """The conversation with this session, if it waits."""
    return _table(workspace).get(_key(session))


def waiting_conversations(workspace: Workspace) -> Sequence[WaitingConversation]:
    """The conversations that wait; one that cannot be read is skipped."""
    return _table(workspace).all()


def is_own(workspace: Workspace, session: str) -> bool:
    """True if no text in the session's note came from elsewhere without the person having looked at it."""
    return workspace.vault.own_version(session) == workspace.vault.read(session)


def silent_conversations(workspace: Workspace) -> tuple[str, ...]:
    """The sessions of the waiting conversations that have fallen silent."""
    now = workspace.clock.now()
    return tuple(each.session for each in waiting_conversations(workspace) if now - each.heard >= SILENT)


def _table(workspace: Workspace) -> Table[WaitingConversation]:
    return Table(workspace.vault.records, "waiting-conversations", WaitingConversation, is_flushed=False)


def _save(workspace: Workspace, waiting: WaitingConversation) -> None:
    _table(workspace).put(waiting, _key(waiting.session))


def _key(session: str) -> str:
    return PurePosixPath(session).stem


def rule_capture(workspace: Workspace) -> CaptureConfig:
    """The configuration of capture without a model."""
    vault, settings = workspace.vault, workspace.settings
    return CaptureConfig(
        settings.memory,
        workspace.clock,
        vault.masked,
        lambda: load_tombstones(vault).without_forgotten,
        language=settings.vault.language,
        count=estimate,
    )


def stated_in(workspace: Workspace, session: Session, runs: Sequence[str]) -> tuple[Entry, ...]:
    """The entries of what the person has stated in these runs of a session, by rules, in order."""
    config, found = rule_capture(workspace), list[Entry]()
    ended = {each.event.run: each.at for each in session.records if isinstance(each.event, Closed)}
    for run in runs:
        began = next((each for each in session.of_run(run) if isinstance(each, Began)), None)
        if began is not None and not began.job:
            event = TaskCompleted(
                run, session.path, began.task, began.speaker, FINISHED, "", (), 0.0, 0, at=ended.get(run, session.last)
            )
            found += [each for each in entries_of_run(event, trace_of(session, run), config) if each.type.is_stated]
    return tuple(found)


@dataclass(slots=True)
class WaitingStatements:
    """The statements in the conversations of a vault that wait, for recall."""

    workspace: Workspace
    _known: dict[str, tuple[tuple[object, ...], tuple[Entry, ...]]] = field(default_factory=dict)
    """The statements of each session, with what they were read from."""
    _by_path: dict[str, StoredEntry] = field(default_factory=dict)
    """The statements that hold."""

    def entries(self) -> tuple[StoredEntry, ...]:
        """The statements that hold, as the entries that they would be, with their paths in the vault."""
        known, self._known = self._known, {}
        for each in waiting_conversations(self.workspace):
            with suppress(AgentError, OSError):
                read_from = (each.runs, Path(self.workspace.vault.place.root, each.session).stat().st_mtime_ns)
                before = known.get(each.session)
                entries = before[1] if before and before[0] == read_from else self._read(each)
                self._known[each.session] = (read_from, entries)
        if self._known != known:  # to write them as notes takes a millisecond for each, and every recall asks
            found = _current([entry for _, entries in self._known.values() for entry in entries])
            placed = ((self.workspace.vault.home.at(each.path), each) for each in found)
            self._by_path = {path: replace(each, path=path) for path, each in placed}
        return tuple(self._by_path.values())

    def entry(self, path: str) -> StoredEntry | None:
        """The statement that would be the entry at this path; None if none of those found last would."""
        return self._by_path.get(path)

    def placed(self, memory: Remembered) -> Remembered:
        """The memory with the lines of the session where it stands, if it is such a statement."""
        statement = self._by_path.get(memory.path)
        if statement is None:
            return memory
        first = int(statement.entry.slots.get("line", "1"))
        return replace(memory, path=statement.entry.session_id, lines=(first, first + memory.text.count("\n")))

    def _read(self, each: WaitingConversation) -> tuple[Entry, ...]:
        if not is_own(self.workspace, each.session):
            return ()
        try:
            session = load_session(self.workspace.vault, each.session)
        except NoteGone:
            return ()
        return stated_in(self.workspace, session, each.runs)


def _current(entries: Sequence[Entry]) -> tuple[StoredEntry, ...]:
    """The entries without those that a later one repeats or replaces."""
    left: dict[str, StoredEntry] = {}
    for entry in sorted(entries, key=lambda each: each.created):
        verdict = judge(entry, tuple(left.values())[::-1])
        if verdict.resolution is Resolution.NONE:
            continue
        if verdict.other is not None:
            left.pop(verdict.other.path, None)
        left[entry.path] = StoredEntry(entry.path, entry.note(), entry)
    return tuple(left.values())
