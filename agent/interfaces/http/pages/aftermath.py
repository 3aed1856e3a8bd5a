"""What became of a run that waited for its person: nobody followed the part after the yes, so its note tells."""

from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.llm.messages import Message
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import Closed, Spoken
from agent.loop.session import Session, load_session
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.runs.decisions import is_ready
from agent.runs.registry import run_registry
from agent.vault.history.find import commits
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The messages since a run first waited, the note that it waits for now (empty: for none), whether it has ended,
    and all commits of it."""

    said: tuple[Message, ...]
    waits_for: str
    is_over: bool
    commits: tuple[str, ...]


def aftermath(workspace: Workspace, ended: Ended) -> Aftermath | None:
    """What became of a run that ended so; None for one that did not wait, waits still, or whose note is gone."""
    if not ended.outcome.waits:
        return None
    try:
        session = load_session(workspace.vault, ended.session)
    except NoteGone:
        return None
    events = [*session.of_run(ended.run)]
    ends = [at for at, event in enumerate(events) if isinstance(event, Closed)]
    waits_for = _waits_for(workspace, session)
    if not ends or (len(ends) == 1 and waits_for):
        return None
    last = events[ends[-1]]
    is_over = len(ends) > 1 and isinstance(last, Closed) and not RunOutcome(last.outcome).waits
    said = tuple(event.message for event in events[ends[0] :] if isinstance(event, Spoken))
    made = [each.id for each in commits(workspace.vault, run=ended.run) if each.tool not in AFTER_RUN_TOOLS]
    return Aftermath(said, waits_for, is_over, tuple(reversed(made)))


def _waits_for(workspace: Workspace, session: Session) -> str:
    """The note in which the person still has to decide; empty if they have, and the run goes on or is over."""
    marks = run_registry(workspace.vault)
    mark = marks.get(session.id)
    if mark is None or not mark.waits_for or marks.is_held(session.id) or is_ready(workspace, mark):
        return ""
    return mark.waits_for
