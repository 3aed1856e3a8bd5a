"""Loads workflow traces: the entries in which memory records the tools of a finished run, in order.

Only the owner's own runs count; runs for other people are ignored. Finding common sequences is left to `sequences`.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.vault.folders import ENTRIES
from agent.vault.store import Vault

TYPE = "workflow_trace"
MOST = 500
"""The most traces loaded, newest first: habits change."""
STEPS = 40
"""The most steps loaded per trace."""
_SUCCESS = "finished"
_TASK = re.compile(r"\A(?:Task:|任务：)[ \t]*([^\n]*)")
_STEP = re.compile(r"^([0-9]{1,4})\. ([A-Za-z0-9_.-]{1,64})(?:: ([^\n]*?))?( \(failed\)|（失败）)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One use of a tool; `about` is its subject in a few words, empty if unknown."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowTrace:
    """The steps of one run for one `task`. `path` is that of its entry; `seconds` is 0 if unknown."""

    run: str
    task: str
    steps: tuple[TraceStep, ...]
    succeeded: bool = True
    seconds: float = 0.0
    path: str = ""
    session: str = ""
    created: datetime | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the successful steps, in order; repeated uses of a tool in a row count once."""
        worked = [step.tool for step in self.steps if not step.failed]
        return tuple(tool for number, tool in enumerate(worked) if number == 0 or tool != worked[number - 1])


def load_traces(vault: Vault) -> tuple[WorkflowTrace, ...]:
    """The newest traces of a vault, oldest first, one per run."""
    found: dict[str, WorkflowTrace] = {}
    for path in reversed([path for path in vault.note_paths() if vault.home.holds(path, ENTRIES)]):
        data = vault.read(path) or b""
        trace = parse_trace(path, data) if TYPE.encode() in data else None
        if trace is not None:
            found.setdefault(trace.run, trace)
        if len(found) >= MOST:
            break
    return tuple(
        sorted(reversed(found.values()), key=lambda trace: trace.created.timestamp() if trace.created else 0.0)
    )


def parse_trace(path: str, data: bytes) -> WorkflowTrace | None:
    """The trace in an entry; None for any other note, and for a run for another person."""
    note = Note.parse(data)
    if note.type != TYPE or note.string("chat_id") or note.string("sender_id"):
        return None
    nested = note.header.get("slots")  # as older traces have them
    said = {str(key): str(value) for key, value in (nested if isinstance(nested, Mapping) else note.header).items()}
    names = [name for raw in said.get("tools", "").split(",") if (name := raw.strip())][:STEPS]
    run = said.get("run") or note.id or ""
    if not names or not run:
        return None
    created = note.header.get("created")
    task = _TASK.match(note.body.strip())
    return WorkflowTrace(
        run,
        task[1].strip() if task else "",
        tuple(_steps(names, note.body)),
        said.get("outcome") == _SUCCESS,
        _number(said.get("seconds", "")),
        path,
        note.string("session_id") or "",
        created if isinstance(created, datetime) else None,
    )


def _steps(names: list[str], body: str) -> Iterable[TraceStep]:
    """The steps, each with the details from the entry's text if its line names the same tool."""
    told = {int(found[1]): found for found in _STEP.finditer(body)}
    for number, name in enumerate(names, 1):
        found = told.get(number)
        if found is not None and found[2] == name:
            yield TraceStep(name, (found[3] or "").strip(), bool(found[4]))
        else:
            yield TraceStep(name)


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) else 0.0
