"""Workflow traces, read from the notes of sessions: the tools of each of the owner's own runs that used several.

Runs of jobs and of other people, and delegated ones, teach nothing. If a session has read untrusted text, only the
names of the tools count. Finding what recurs is left to `agent.skills.learning`.
"""

from collections.abc import Iterator
from dataclasses import field
from datetime import datetime
from hashlib import blake2b

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.loop.records import Began, Closed
from agent.loop.session import Session, load_session, sessions
from agent.memory.capture.facts import ASKED, FINISHED, smart_truncate
from agent.runs.run_course import trace_of
from agent.skills.learning.sequences import TraceStep, WorkflowTrace
from agent.vault.store import Vault

MOST = 500
"""The most traces loaded, newest first: habits change."""
STEPS = 40
"""The most steps loaded per trace."""
_SESSIONS = 600
"""The most sessions that are read, newest first."""
_OVER = frozenset((FINISHED, "failed", "limit"))
_ABOUT = 80


@dataclass(slots=True)
class SessionTraces:
    """The workflow traces of one vault. They are loaded after every run that used several tools, so a session is parsed
    again only when its note has changed."""

    vault: Vault
    _known: dict[str, tuple[bytes, tuple[WorkflowTrace, ...]]] = field(default_factory=dict)
    """By a session's path: the hash of its note, and its traces."""

    def load(self) -> tuple[WorkflowTrace, ...]:
        """The newest traces, oldest first; none of sessions that others may have written."""
        known, self._known = self._known, {}
        found: list[WorkflowTrace] = []
        for path in sessions(self.vault)[:_SESSIONS]:
            data = self.vault.read(path) or b""
            digest = blake2b(data).digest()
            before = known.get(path)
            traces = before[1] if before is not None and before[0] == digest else self._read(path, data)
            self._known[path] = (digest, traces)
            found += reversed(traces)
            if len(found) >= MOST:
                break
        return tuple(sorted(found[:MOST], key=lambda trace: trace.created.timestamp() if trace.created else 0.0))

    def _read(self, path: str, data: bytes) -> tuple[WorkflowTrace, ...]:
        try:
            is_strange = not data or bool(self.vault.provenance.strangers(path, data))
            return () if is_strange else tuple(traces_of(load_session(self.vault, path)))
        except (AgentError, OSError, ValueError):
            return ()


def traces_of(session: Session) -> Iterator[WorkflowTrace]:
    """The traces of the runs in a session that have ended, in order."""
    begins = dict[str, tuple[datetime, Began]]()
    for record in session.records if not session.parent else ():
        match record.event:
            case Began() as began:
                begins.setdefault(began.run, (record.at, began))
            case Closed(run, outcome) if outcome in _OVER and run in begins:
                at, began = begins[run]
                steps = () if began.job or began.sender or began.group else _steps(session, run)
                if len({each.tool for each in steps}) > 1:
                    task = smart_truncate(" ".join(began.task.split()), ASKED)
                    took = (record.at - at).total_seconds()
                    yield WorkflowTrace(run, task, steps, outcome == FINISHED, took, session.path, record.at)


def _steps(session: Session, run: str) -> tuple[TraceStep, ...]:
    trace = trace_of(session, run)
    return tuple(
        TraceStep(each.tool, "" if trace.untrusted else " ".join(each.about.split())[:_ABOUT], each.failed)
        for each in trace.steps[:STEPS]
    )
