"""Runs that clients ask for: begun at once, followed as they go on, stopped, and answered when they wait."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Literal, assert_never

import msgspec

from agent.background.asked_runs import AnswerText, AskedRun, RunFailed, RunNews
from agent.background.resume import session_key
from agent.errors import Unknown
from agent.events.runs import (
    IterationStarted,
    ModelRetry,
    Speaker,
    TaskStarted,
    ToolCallFailed,
    ToolCallStarted,
    ToolCompleted,
)
from agent.interfaces.http.api.paging import NEXT, ListParams, page_of
from agent.interfaces.http.api.typed import typed
from agent.interfaces.http.following import followed
from agent.interfaces.http.operation import (
    ACTOR,
    Call,
    NoParams,
    Operation,
    Stream,
    StreamEvent,
    TypedReply,
    stream_event,
)
from agent.interfaces.http.problems import RequestRefused
from agent.loop.request import RunRequest
from agent.runs.decisions import approvals, ready
from agent.runs.named_decisions import answer_question, find_question
from agent.runs.report import RunReport
from agent.vault.folders import APPROVALS


class ByRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run by its id."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class NewRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task for the agent; with `session` it goes on in the session of this path."""

    task: Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]
    session: Annotated[str, msgspec.Meta(max_length=3_000)] = ""


class CitedLines(msgspec.Struct, frozen=True):
    """Lines of a note that the model was shown."""

    path: str
    lines: list[int]


class Spent(msgspec.Struct, frozen=True):
    """What the models cost; `money` in US dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    money: float


class RunResult(msgspec.Struct, frozen=True):
    """What came of a run. `waits_for` is the note in which its person decides or answers before it goes on; `sources`
    are the lines that the model was shown, `used` those of them that the answer used."""

    answer: str
    outcome: str
    reason: str | None
    hint: str | None
    waits_for: str | None
    queued: str | None
    refused: list[str]
    run: str
    session: str
    commits: list[str]
    sources: list[CitedLines]
    used: list[CitedLines]
    spend: Spent


class RunState(msgspec.Struct, frozen=True):
    """A run; `session` is empty until its note has a name, `result` null while it goes on, and `problem` why it failed
    without one."""

    id: str
    task: str
    began: str
    session: str
    state: Literal["running", "over", "failed"]
    result: RunResult | None
    problem: str | None


class Runs(msgspec.Struct, frozen=True):
    """The runs that go on and the last that are over, the newest first."""

    runs: list[RunState]
    next_cursor: NEXT


class RunAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For a run that waits: `text` answers its question, `yes` its approval (with a `reason`, if one is wanted)."""

    text: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    yes: bool | None = None
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class Following(msgspec.Struct, frozen=True):
    """Who goes on with a run: `run` is its id here, null if the daemon does, which tells of it in its events."""

    run: str | None
    goes_on: Literal["here", "daemon", "nobody"]


def list_runs(call: Call[ListParams, None]) -> Runs:
    """The runs of this daemon that were asked for."""
    shown, after = page_of(call.service.runs.all(), lambda each: each.id, call.params)
    return Runs([_state(each) for each in shown], after)


def start_run(call: Call[NoParams, NewRun]) -> TypedReply[RunState]:
    """Give the agent a task; the answer comes through its events or its state."""
    asked = call.body
    if not asked.task.strip():
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the task is empty")
    run = call.service.runs.ask(RunRequest(asked.task.strip(), Speaker(ACTOR)), asked.session)
    return TypedReply(_state(run), {"Location": f"/api/v1/runs/{run.id}"})


def show_run(call: Call[ByRun, None]) -> RunState:
    """One run."""
    return _state(_run(call))


def cancel_run(call: Call[ByRun, None]) -> RunState:
    """Ask a run to stop; what it has done so far stays, and undo takes it back."""
    run = _run(call)
    run.stop()
    return _state(run)


def answer_run(call: Call[ByRun, RunAnswer]) -> Following:
    """Decide or answer what a run waits for; it goes on at once."""
    run, given, workspace = _run(call), call.body, call.service.workspace
    path = run.result.ended.waits_for if isinstance(run.result, RunReport) else ""
    if not path:
        raise RequestRefused(HTTPStatus.CONFLICT, "the run waits for nothing")
    is_approval = workspace.vault.home.holds(path, APPROVALS)
    if is_approval != (given.yes is not None) or is_approval == bool(given.text.strip()):
        needed = "yes: true or false" if is_approval else "text"
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "this run waits for `{needed}`", needed=needed)
    if given.yes is not None:
        approvals(workspace).decide(path, given.yes, given.reason)
    else:
        answer_question(workspace, find_question(workspace, path), given.text)
    mark = next((each for each in ready(workspace) if each.waits_for == path), None)
    if mark is None:
        return Following(None, "nobody")
    if call.service.pool.has(session_key(mark.session)):
        return Following(None, "daemon")
    return Following(call.service.runs.resume(mark.session).id, "here")


async def run_events(call: Call[ByRun, None]) -> AsyncIterator[StreamEvent]:
    """The run from its beginning, or after `Last-Event-ID`, until it is over."""
    run = _run(call)
    async for item in followed(run.news, call.last_event or "0"):
        yield _event(item.event, str(item.number))


def _event(news: RunNews, number: str) -> StreamEvent:
    match news:
        case AnswerText():
            return stream_event("text", {"text": news.text}, number)
        case TaskStarted():
            return stream_event("started", {"run": news.run, "session": news.session}, number)
        case IterationStarted():
            return stream_event("step", {"number": news.number}, number)
        case ToolCallStarted():
            return stream_event("tool", {"call": news.call, "tool": news.tool, "subject": news.subject}, number)
        case ToolCompleted():
            done = {"call": news.call, "tool": news.tool, "seconds": news.seconds}
            return stream_event("tool_done", done, number)
        case ToolCallFailed():
            failed = {"call": news.call, "tool": news.tool, "error": news.error, "denied": news.denied}
            return stream_event("tool_failed", failed, number)
        case ModelRetry():
            return stream_event("retry", {"seconds": news.seconds, "reason": str(news.reason)}, number)
        case RunReport():
            return stream_event("end", typed(news.as_document(), RunResult), number)
        case RunFailed():
            return stream_event("failed", {"reason": str(news.reason)}, number)
        case _:
            assert_never(news)


def _run(call: Call[ByRun, object]) -> AskedRun:
    run = call.service.runs.get(call.params.id)
    if run is None:
        hint = "GET /api/v1/runs lists those of this daemon; GET /api/v1/sessions has all that was said"
        raise Unknown("there is no run {id}", hint=hint, id=call.params.id)
    return run


def _state(run: AskedRun) -> RunState:
    began, result = run.began.isoformat(), run.result
    match result:
        case RunReport():
            found = typed(result.as_document(), RunResult)
            return RunState(run.id, run.task, began, run.session, "over", found, None)
        case RunFailed():
            return RunState(run.id, run.task, began, run.session, "failed", None, str(result.reason))
        case None:
            return RunState(run.id, run.task, began, run.session, "running", None, None)


OPERATIONS = (
    Operation("GET", "/api/v1/runs", "list_runs", "The runs that were asked for", list_runs, Runs, ListParams),
    Operation("POST", "/api/v1/runs", "start_run", "Give the agent a task", start_run, RunState, NoParams, NewRun, 201,
              (404,)),
    Operation("GET", "/api/v1/runs/{id}", "show_run", "One run", show_run, RunState, ByRun, problems=(404,)),
    Operation("POST", "/api/v1/runs/{id}/cancel", "cancel_run", "Stop a run", cancel_run, RunState, ByRun,
              problems=(404,)),
    Operation("POST", "/api/v1/runs/{id}/answer", "answer_run", "Answer what a run waits for", answer_run, Following,
              ByRun, RunAnswer, 200, (404, 409)),
)  # fmt: skip
STREAMS = (Stream("/api/v1/runs/{id}/events", "run_events", "A run as it goes on", run_events, ByRun, problems=(404,)),)
