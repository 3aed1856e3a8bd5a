"""The course of a run, as its session's note has it: what was asked, each step with its duration and its tokens, what
came of it, and which text in it is not the person's. The steps of sub-runs come last.

What was said and done in a run, read from its session's note: its steps, its person's messages, and their lines.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import TypeVar

from agent.clock import clock_zone
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.llm.messages import Assistant, ToolCall, ToolResult, User
from agent.loop.mailbox import answer_of
from agent.loop.outcome import RunOutcome
from agent.loop.records import Began, Closed, SessionRecord, Spoken
from agent.loop.session import Session, load_session, sessions
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.memory.capture.facts import RunTrace, ToolUse, Utterance
from agent.runs.status import is_of_growth
from agent.tools.text_origin import text_origin_of
from agent.tools.tool_names import resolved
from agent.vault.folders import SESSIONS
from agent.vault.store import Vault

E = TypeVar("E")

_ABOUT = ("path", "query", "url", "task", "text", "question", "argv")
"""Arguments that show the subject of a call, the most informative first."""


def run_trace(vault: Vault, path: str, run: str) -> RunTrace:
    """The trace of a run from its session's note: its calls in order, and the sources of untrusted text."""
    try:
        session = load_session(vault, path)
    except NoteGone:
        return RunTrace(is_whole=False)
    return trace_of(session, run)


def trace_of(session: Session, run: str) -> RunTrace:
    """The trace of a run in a session that was read from its note."""
    messages = [event.message for event in session.of_run(run) if isinstance(event, Spoken)]
    failed = {each.call for each in messages if isinstance(each, ToolResult) and each.failed}
    calls = [resolved(call) for each in messages if isinstance(each, Assistant) for call in each.calls]
    steps = tuple(ToolUse(call.name, _about(call.arguments), call.id in failed) for call in calls)
    return RunTrace(steps, session.untrusted, utterances=_utterances(session, run))


def latest_findings(vault: Vault, path: str, run: str, most: int) -> str:
    """The latest findings and thoughts of a run: the results of its tools and the model's own words, oldest first, at
    most `most` characters of their end."""
    try:
        session = load_session(vault, path)
    except NoteGone:
        return ""
    messages = (event.message for event in session.of_run(run) if isinstance(event, Spoken))
    return "\n".join(each.text for each in messages if isinstance(each, Assistant | ToolResult))[-most:]


def _utterances(session: Session, run: str) -> tuple[Utterance, ...]:
    """The messages of the person of a run, in it and in their runs before it: tasks, interruptions, answers."""
    ours = next((each for each in session.of_run(run) if isinstance(each, Began)), None)
    if ours is None or ours.job:
        return ()
    found: list[Utterance] = []
    began: Began | None = None
    for record in session.records:
        match record.event:
            case Began() as began:
                pass
            case _ if began is not None and began.job:  # no person has said anything in it
                pass
            case Spoken(ToolResult() as result) if began and (answer := answer_of(result)):
                found.append(Utterance(answer, is_earlier=began.run != run))
            case Spoken(User(text)) if began and began.sender == ours.sender and text.strip():
                is_ours = began.run == run
                found.append(Utterance(text, record.line if is_ours else 0, not is_ours))
    return tuple(found)


def _about(arguments: object) -> str:
    values = arguments if isinstance(arguments, dict) else {}
    return next((str(values[key]) for key in _ABOUT if values.get(key)), "")


REFUSED = "the person said no"
"""The beginning of the result of a call that the person has refused."""
DELEGATE = "delegate"
MAIN = "agent"
_ARGUMENTS, _RESULT, _ERROR, _TEXT = 160, 240, 500, 400
"""The most characters of a call's arguments, of a result, of an error, and of a text of the model."""
_NOTES = 5
"""The most notes that are named as evidence."""
_GOES_ON = frozenset(each.value for each in RunOutcome if each.can_go_on)
_PLANNED = "task/"
"""The beginning of the job of the agent's own tasks, as `procedures` names it."""


@dataclass(frozen=True, slots=True)
class CourseStep:
    """One step: an answer of the model (`tool` is empty), or one call of a tool with what came of it.

    `agent` is the run itself or its sub-run, `tokens` are those of the answer, None for a call; `seconds` is the
    duration of a call, None if it is not known.
    """

    agent: str
    tool: str = ""
    text: str = ""
    result: str = ""
    seconds: float | None = None
    tokens: int | None = None
    failed: bool = False

    @property
    def is_refused(self) -> bool:
        """True for a call that the person has refused."""
        return self.failed and self.result.startswith(REFUSED)


@dataclass(frozen=True, slots=True)
class RunCourse:
    """One run that is over. `seconds` is the time in which it worked, without that in which it waited for its person;
    `began` and `ended` are local times. `strangers` are the sources of text in it that is not the person's. `sessions`
    are its own session and those of its sub-runs, `notes` those that it read or wrote. `began_as` has who asked."""

    run: str
    sessions: tuple[str, ...]
    task: str
    answer: str
    outcome: str
    reason: str
    began: datetime
    ended: datetime
    seconds: float
    steps: tuple[CourseStep, ...]
    strangers: tuple[str, ...]
    began_as: Began
    notes: tuple[str, ...] = ()

    @property
    def session(self) -> str:
        return self.sessions[0]

    @property
    def calls(self) -> tuple[CourseStep, ...]:
        return tuple(each for each in self.steps if each.tool)

    @property
    def failures(self) -> tuple[CourseStep, ...]:
        return tuple(each for each in self.calls if each.failed)

    @property
    def tokens(self) -> int:
        return sum(each.tokens or 0 for each in self.steps)

    @property
    def has_failed(self) -> bool:
        return self.outcome in (RunOutcome.FAILED, RunOutcome.LIMIT)

    @property
    def is_guests(self) -> bool:
        """True if somebody else than the vault's owner asked, or others read along."""
        return self.began_as.role != "owner" or self.began_as.group


def is_own_work(began: Began) -> bool:
    """True for a run of the agent about itself (a look back, a task of its own, a part of growth): nothing is reflected
    on it, nor on a sub-run, which belongs to its run."""
    return bool(began.purpose) or is_of_growth(began.job) or began.job.startswith(_PLANNED) or "." in began.run


def courses_in(vault: Vault, session: Session) -> Iterator[RunCourse]:
    """The runs in a session that are over, oldest first, without the agent's own work."""
    if session.parent:
        return
    began = dict.fromkeys(each.event.run for each in session.records if isinstance(each.event, Began))
    for run in began:
        found = course_of(vault, session, run)
        if found is not None and not is_own_work(found.began_as):
            yield found


def _first_event(records: Iterable[SessionRecord], kind: type[E]) -> E | None:
    return next((each.event for each in records if isinstance(each.event, kind)), None)


def _last_answer(records: Sequence[SessionRecord]) -> str:
    spoken = (each.event.message for each in reversed(records) if isinstance(each.event, Spoken))
    return next((each.text for each in spoken if isinstance(each, Assistant) and each.text), "")


def course_of(vault: Vault, session: Session, run: str) -> RunCourse | None:
    """The course of a run; None if it is not in the session, or not over."""
    records = list(_records_of(session, run))
    began, closed = _first_event(records, Began), _first_event(reversed(records), Closed)
    if began is None or closed is None or closed.outcome in _GOES_ON:
        return None
    steps = list(_steps(records, MAIN))
    calls = [call for record in records for call in _calls(record)]
    subs = tuple(_sub_sessions(vault, run, calls, records[0].at.date()))
    for number, sub in enumerate(subs, 1):
        steps += _steps(sub.records, f"sub-run {number}")
    zone = clock_zone(vault.clock.now())
    return RunCourse(
        run,
        (session.path, *(each.path for each in subs)),
        began.task,
        _last_answer(records),
        closed.outcome,
        closed.reason,
        records[0].at.astimezone(zone),
        records[-1].at.astimezone(zone),
        _worked(records),
        tuple(steps),
        strangers_in(vault, session, began, subs),
        began,
        tuple(_notes(vault, calls)),
    )


def strangers_in(vault: Vault, session: Session, began: Began, subs: Sequence[Session]) -> tuple[str, ...]:
    """The sources of text in a run that is not the owner's: what its session has read, a guest who asked, and a note of
    the session that this machine has not written."""
    found = dict.fromkeys(source for each in (session, *subs) for source in each.untrusted)
    if began.role != "owner" or began.group:
        found[f"{began.channel}: {began.sender or 'a group'}"] = None
    origin = text_origin_of(vault)
    for each in (session, *subs):
        source = origin.source(each.path, vault.read(each.path) or b"")
        found |= {source: None} if source else {}
    return tuple(found)


def title_of(course: RunCourse) -> str:
    """The task in one line."""
    return " ".join(course.task.split())


def _records_of(session: Session, run: str) -> Iterator[SessionRecord]:
    inside = False
    for record in session.records:
        if isinstance(record.event, Began):
            inside = record.event.run == run
        if inside:
            yield record


def _worked(records: Sequence[SessionRecord]) -> float:
    """The seconds between the records, without those after a pause of the run began."""
    seconds = 0.0
    for before, after in zip(records, records[1:], strict=False):
        if not isinstance(before.event, Closed):
            seconds += max((after.at - before.at).total_seconds(), 0.0)
    return seconds


def _calls(record: SessionRecord) -> tuple[ToolCall, ...]:
    event = record.event
    return event.message.calls if isinstance(event, Spoken) and isinstance(event.message, Assistant) else ()


def _steps(records: Sequence[SessionRecord], agent: str) -> Iterator[CourseStep]:
    """The answers and calls, each call with its result; a call without one was not carried out."""
    results = {
        each.event.message.call: each.event
        for each in records
        if isinstance(each.event, Spoken) and isinstance(each.event.message, ToolResult)
    }
    first = True
    for record in records:
        match record.event:
            case Spoken(Assistant(text, calls), usage):
                tokens = usage.input + usage.output if usage else 0
                yield CourseStep(agent, text=_flat(text, _TEXT), tokens=tokens)
                yield from (_step(agent, call, results.get(call.id)) for call in calls)
            case Spoken(User(text)) if not first:
                yield CourseStep(agent, text=f"(the person: {_flat(text, _TEXT)})")
            case Spoken(User()):
                first = False


def _step(agent: str, call: ToolCall, spoken: Spoken | None) -> CourseStep:
    call = resolved(call)
    arguments = _flat(json.dumps(dict(call.arguments), ensure_ascii=False), _ARGUMENTS)
    if spoken is None or not isinstance(spoken.message, ToolResult):
        return CourseStep(agent, call.name, arguments, "not carried out", failed=True)
    result = spoken.message
    result_text = _flat(result.text, _ERROR if result.failed else _RESULT)
    return CourseStep(agent, call.name, arguments, result_text, spoken.seconds, failed=result.failed)


def _sub_sessions(vault: Vault, run: str, calls: Sequence[ToolCall], day: date) -> Iterator[Session]:
    """The sessions of the sub-runs that a run has begun."""
    parents = [f"{run}/{call.id}" for call in calls if call.name == DELEGATE]
    if not parents:
        return
    found: dict[str, Session] = {}
    for path in sessions(vault):
        if PurePosixPath(path).name[:10] < day.isoformat():
            break
        if Note.parse(vault.read(path) or b"").string("parent") in parents:
            with suppress(NoteGone):
                session = load_session(vault, path)
                found[session.parent] = session
    yield from (found[parent] for parent in parents if parent in found)


def _notes(vault: Vault, calls: Sequence[ToolCall]) -> Iterator[str]:
    """The notes that calls have read or written, but records of the agent."""
    named = (call.arguments.get("path") for call in calls)
    paths = dict.fromkeys(each for each in named if isinstance(each, str) and each.endswith(".md"))
    there = [path for path in paths if not vault.home.holds(path, SESSIONS) and _is_there(vault, path)]
    yield from there[:_NOTES]


def _is_there(vault: Vault, path: str) -> bool:
    try:  # a model chose the path
        return vault.read(path) is not None
    except AgentError:
        return False


def _flat(text: str, most: int) -> str:
    return clipped(" ".join(text.split()), most)
