"""Runs that clients ask for: begun at once, followed as they go on, stopped, and answered when they wait. And sessions:
what was said in each conversation, from its note.
"""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Literal, assert_never

import msgspec

from agent.background.asked_runs import AskedRun, ModelText, RunFailed, RunNews
from agent.background.resume import session_key
from agent.deeds.conversations import SessionInfo, find_session_info, session_info
from agent.deeds.result import ResultValue
from agent.deeds.runs import RunResult, run_result
from agent.errors import Unknown
from agent.events.runs import (
    IterationStarted,
    ModelRetry,
    PlanChanged,
    Speaker,
    TaskStarted,
    ToolCallFailed,
    ToolCallStarted,
    ToolCompleted,
)
from agent.interfaces.http.operation import (
    ACTOR,
    NEXT,
    PATH_FORM,
    LastEvent,
    ListPage,
    Routes,
    StreamEvent,
    TypedReply,
    page_of,
    stream_event,
)
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service, followed, next_items
from agent.llm.messages import Assistant, Context, Message, ToolResult, User
from agent.loop.records import RunRequest, Spoken
from agent.loop.session import load_session
from agent.loop.session import sessions as session_paths
from agent.runs.decisions import also_asked, approvals, ready_after
from agent.runs.named_decisions import answer_question, find_question
from agent.runs.report import RunReport
from agent.vault.folders import APPROVALS
from agent.workspace.workspace import Workspace

ROUTES = Routes("/api/v1/runs")
RunTaskText = Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]
SessionPath = Annotated[str, msgspec.Meta(max_length=3_000)]
RunAnswerText = Annotated[str, msgspec.Meta(max_length=20_000)]
RunReason = Annotated[str, msgspec.Meta(max_length=500)]
RunId = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


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


class Following(msgspec.Struct, frozen=True):
    """Who goes on with a run: `run` is its id here, null if the daemon does, which tells of it in its events."""

    run: str | None
    goes_on: Literal["here", "daemon", "nobody"]


@ROUTES.get("", "The runs that were asked for")
def list_runs(service: Service, page: ListPage) -> Runs:
    """The runs of this daemon that were asked for."""
    runs, after = page_of(service.runs.all(), lambda each: each.id, page)
    return Runs([_state(each) for each in runs], after)


@ROUTES.post("", "Give the agent a task", 404, status=201)
def start_run(service: Service, task: RunTaskText, session: SessionPath = "") -> TypedReply[RunState]:
    """Give the agent a task, in the `session` of a path or in a new one; the answer comes through its events or its
    state."""
    if not task.strip():
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "the task is empty")
    run = service.runs.ask(RunRequest(task.strip(), Speaker(ACTOR)), session)
    return TypedReply(_state(run), {"Location": f"/api/v1/runs/{run.id}"})


@ROUTES.get("/{id}", "One run", 404)
def show_run(service: Service, id: RunId) -> RunState:
    """One run."""
    return _state(_run(service, id))


@ROUTES.post("/{id}/cancel", "Stop a run", 404)
def cancel_run(service: Service, id: RunId) -> RunState:
    """Ask a run to stop; what it has done so far stays, and undo takes it back."""
    run = _run(service, id)
    run.stop()
    return _state(run)


@ROUTES.post("/{id}/answer", "Answer what a run waits for", 404, 409)
def answer_run(
    service: Service, id: RunId, text: RunAnswerText = "", yes: bool | None = None, reason: RunReason = ""
) -> Following:
    """Answer the question that a run waits for (`text`), or decide about its approval (`yes`); it goes on at once."""
    run, workspace = _run(service, id), service.workspace
    path = run.result.ended.waits_for if isinstance(run.result, RunReport) else ""
    asked = approvals(workspace).find(path) if path else None
    if asked is not None and asked.status != "pending":  # several calls of one reply, of which this one is decided
        path = next((each.path for each in also_asked(workspace, path)), path)
    if not path:
        raise RequestRefused(HTTPStatus.CONFLICT, "the run waits for nothing")
    is_approval = workspace.vault.home.holds(path, APPROVALS)
    if is_approval != (yes is not None) or is_approval == bool(text.strip()):
        needed = "yes: true or false" if is_approval else "text"
        raise RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, "this run waits for `{needed}`", needed=needed)
    if yes is not None:
        if also_asked(workspace, path):  # the client may have shown another of them
            raise RequestRefused(
                HTTPStatus.CONFLICT,
                "the run waits for several decisions, and this does not say which one is meant",
                hint="decide about each by its name: GET /api/v1/approvals lists them",
            )
        approvals(workspace).decide(path, yes, reason)
    else:
        answer_question(workspace, find_question(workspace, path), text)
    mark = ready_after(workspace, path)
    if mark is None:
        return Following(None, "nobody")
    if service.pool.has(session_key(mark.session)):
        return Following(None, "daemon")
    return Following(service.runs.resume(mark.session).id, "here")


@ROUTES.get("/{id}/events", "A run as it goes on", 404)
async def run_events(
    service: Service, id: RunId, last_event: LastEvent, once: bool = False
) -> AsyncIterator[StreamEvent]:
    """The run from its beginning, or after `Last-Event-ID`, until it is over. `once`: the response ends with the events
    that are there, or after some seconds without any; for a client that reads only whole responses."""
    run = _run(service, id)
    async for item in (next_items if once else followed)(run.news, last_event or "0"):
        yield _event(item.event, str(item.number))


def _event(news: RunNews, number: str) -> StreamEvent:
    match news:
        case ModelText():
            return stream_event("text", {"text": news.text}, number)
        case TaskStarted():
            return stream_event("started", {"run": news.run, "session": news.session}, number)
        case IterationStarted():
            return stream_event("step", {"number": news.number}, number)
        case PlanChanged():
            plan = {"done": list(news.done), "now": news.now, "left": list(news.left)}
            return stream_event("plan", plan, number)
        case ToolCallStarted() | ToolCompleted() | ToolCallFailed():
            return _tool_event(news, number)
        case ModelRetry():
            return stream_event("retry", {"seconds": news.seconds, "reason": str(news.reason)}, number)
        case RunReport():
            return stream_event("end", run_result(news), number)
        case RunFailed():
            return stream_event("failed", {"reason": str(news.reason)}, number)
        case _:
            assert_never(news)


def _tool_event(news: ToolCallStarted | ToolCompleted | ToolCallFailed, number: str) -> StreamEvent:
    match news:
        case ToolCallStarted():
            return stream_event("tool", {"call": news.call, "tool": news.tool, "subject": news.subject}, number)
        case ToolCompleted():
            done = {"call": news.call, "tool": news.tool, "seconds": news.seconds}
            return stream_event("tool_done", done, number)
        case ToolCallFailed():
            failed = {"call": news.call, "tool": news.tool, "error": news.error, "denied": news.denied}
            return stream_event("tool_failed", failed, number)
        case _:
            assert_never(news)


def _run(service: Service, id: str) -> AskedRun:
    run = service.runs.get(id)
    if run is None:
        hint = "GET /api/v1/runs lists those of this daemon; GET /api/v1/sessions has all that was said"
        raise Unknown("there is no run {id}", hint=hint, id=id)
    return run


def _state(run: AskedRun) -> RunState:
    began, result = run.began.isoformat(), run.result
    match result:
        case RunReport():
            found = run_result(result)
            return RunState(run.id, run.task, began, run.session, "over", found, None)
        case RunFailed():
            return RunState(run.id, run.task, began, run.session, "failed", None, str(result.reason))
        case None:
            return RunState(run.id, run.task, began, run.session, "running", None, None)


SESSIONS = Routes("/api/v1/sessions")
Path = Annotated[str, msgspec.Meta(min_length=1, max_length=3_000, extra_json_schema=dict(PATH_FORM))]


class Sessions(msgspec.Struct, frozen=True):
    """The sessions, the newest day first."""

    sessions: list[SessionInfo]
    next_cursor: NEXT


class MessageView(ResultValue, frozen=True):
    """A message. `role` is user, assistant, tool or context; `tools` those that it calls, or the tool of its result."""

    at: str
    role: str
    text: str
    sender: str
    tools: list[str]


class WholeSession(SessionInfo, frozen=True, kw_only=True):
    """A session with its messages, the oldest first."""

    messages: list[MessageView]


@SESSIONS.get("", "The conversations")
def list_sessions(workspace: Workspace, page: ListPage) -> Sessions:
    """The sessions of the vault."""
    vault = workspace.vault
    paths, after = page_of(session_paths(vault), str, page)
    return Sessions([found for path in paths if (found := find_session_info(vault, path)) is not None], after)


@SESSIONS.get("/{path:path}", "What was said in one", 404)
def show_session(workspace: Workspace, path: Path) -> WholeSession:
    """What was said in a session."""
    session = load_session(workspace.vault, path)
    spoken = [(each.at.isoformat(), each.event.message) for each in session.records if isinstance(each.event, Spoken)]
    messages = [view for at, message in spoken if (view := _message_view(at, message)) is not None]
    return WholeSession.of(session_info(session), messages=messages)


def _message_view(at: str, message: Message) -> MessageView | None:
    match message:
        case User(text, sender):
            return MessageView(at, "user", text, sender, [])
        case Context(text):
            return MessageView(at, "context", text, "", [])
        case Assistant(text, calls):
            return MessageView(at, "assistant", text, "", [call.name for call in calls])
        case ToolResult(_, name, text):
            return MessageView(at, "tool", text, "", [name])
        case _:
            return None
