"""Past tasks of the person's own finished runs, with all that is needed to do them again.

Only a task that began its conversation is taken: what was said before it is no part of its note. Runs of jobs, of
guests, in groups and below other runs are left out, and so are those that have read text by others: nothing that a
stranger wrote judges a change.
"""

from collections.abc import Iterator
from datetime import datetime

from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.events.receipt import MEMORIES
from agent.growth.gate.change import ProposedChange
from agent.llm.messages import Assistant, Context, ToolCall, ToolResult
from agent.loop.calls import results_with_calls
from agent.loop.outcome import RunOutcome
from agent.loop.records import Began, Closed, PinnedLines, Spoken
from agent.loop.session import Session, load_session, sessions
from agent.skills.history.stats import is_ineffective
from agent.skills.history.usage import load_uses, merge_opinions
from agent.vault.folders import SKILL_HISTORY
from agent.vault.history.pins import read_pinned
from agent.vault.store import Vault

MOST_READ = 400
"""The newest sessions that are searched."""


@dataclass(frozen=True, slots=True)
class PastTask:
    """One task as it was asked `at` a time, in a session's note.

    `calls` are the calls of its run in their order, each with its result as the model saw it. `memories` is the text of
    the notes that it was given unasked. `answer` is what the person got; empty for a run that failed.
    """

    run: str
    session: str
    at: datetime
    task: str
    calls: tuple[tuple[ToolCall, ToolResult], ...]
    memories: str
    answer: str


def held_out_tasks(vault: Vault, change: ProposedChange, most: int) -> list[PastTask]:
    """The newest tasks that a change was not made from and that it may concern, at most `most`.

    Runs of which the person has said or shown that they were of no use are left out: their answers are no measure.
    """
    unwelcome = _unwelcome_runs(vault) if most > 0 else frozenset()
    found: list[PastTask] = []
    for path in sessions(vault)[:MOST_READ]:
        if len(found) >= most and (not found or _day(path) != _day(found[-1].session)):
            break
        task = _past_task(vault, path)
        if task is not None and task.run not in unwelcome and change.concerns(task.run, task.task):
            found.append(task)
    return sorted(found, key=lambda each: each.at, reverse=True)[:most]


def _day(path: str) -> str:
    """The day in the name of a session's note; the order of names within a day is not that of time."""
    return path.rpartition("/")[2][:10]


def _past_task(vault: Vault, path: str) -> PastTask | None:
    """The first task in a session, if it can be done again."""
    try:
        session = load_session(vault, path)
    except NoteGone:
        return None
    began = next((each.event for each in session.records if isinstance(each.event, Began)), None)
    if began is None or session.parent or session.untrusted or not _is_persons(began):
        return None
    if vault.own_version(session.path) != vault.read(session.path):
        return None  # a part of it arrived from elsewhere
    events = list(session.of_run(began.run))
    closed = next((each for each in reversed(events) if isinstance(each, Closed)), None)
    if closed is None or RunOutcome(closed.outcome).can_go_on:
        return None
    said = [each.message for each in events if isinstance(each, Spoken) and isinstance(each.message, Assistant)]
    answer = said[-1].text if said and closed.outcome == RunOutcome.FINISHED else ""
    calls = tuple(results_with_calls(events))
    at = session.records[0].at
    memories = "\n\n".join(_memories(vault, session, began.run))
    return PastTask(began.run, session.path, at, began.task, calls, memories, answer)


def _is_persons(began: Began) -> bool:
    return began.role == "owner" and not (began.job or began.group or began.purpose) and bool(began.task.strip())


def _memories(vault: Vault, session: Session, run: str) -> Iterator[str]:
    """The lines that a run was given from notes, as they were then; what cannot be read again is left out."""
    given: dict[PinnedLines, None] = {}
    for event in session.of_run(run):
        match event:
            case Spoken(message=Context(source=source), given=lines) if source == MEMORIES:
                given |= dict.fromkeys(lines)
    contents = read_pinned(vault, [(each.path, each.pin) for each in given])
    for each in given:
        data = contents.get((each.path, each.pin))
        if data is not None:
            rows = data.decode("utf-8", "replace").split("\n")[each.lines[0] - 1 : each.lines[1]]
            yield "\n".join([f"[[{each.path.removesuffix('.md')}]]", *rows])


def _unwelcome_runs(vault: Vault) -> frozenset[str]:
    """The runs that the person has corrected, or called of no use by one of their skills."""
    names = (path.rpartition("/")[2].removesuffix(".md") for path in vault.note_paths(vault.home.at(SKILL_HISTORY)))
    uses = (use for name in names for use in merge_opinions(load_uses(vault, name)))
    return frozenset(use.run for use in uses if use.feedback and is_ineffective(use))
