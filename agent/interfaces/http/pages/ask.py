"""Ask: a question to the agent, its answer as it is written, the tools as they are used, and Stop.

The answer is sent as HTML each time it has grown, at most a few times a second; the browser changes what differs.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import field

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Route

from agent.background.asked_runs import AskedRun, ModelText, RunFailed, RunNews
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.events.runs import ModelRetry, Speaker, TaskStarted, ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.interfaces.http.following import followed
from agent.interfaces.http.pages.aftermath import aftermath
from agent.interfaces.http.pages.frame import HEADERS, rendered
from agent.interfaces.http.pages.markdown import html_of
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.interfaces.http.service import Service
from agent.llm.messages import Assistant, Message, ToolResult
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.runs.report import RunReport
from agent.vault.folders import QUESTIONS

CHANNEL = "http"
"""The channel of what is asked in a browser."""
_PAUSE = 0.15
"""Seconds between two versions of an answer that are sent."""


@dataclass(slots=True)
class _Step:
    """A piece of the answer, or a tool that is or was used: `state` is text, running, done or failed."""

    state: str
    text: str
    call: str = ""
    subject: str = ""
    html: Markup = Markup()


@dataclass(slots=True)
class _Shown:
    """What is shown of a run, from its news."""

    steps: list[_Step] = field(default_factory=list)
    retry: str = ""
    result: RunReport | RunFailed | None = None

    def take(self, news: RunNews) -> None:
        """Add one piece of news."""
        self.retry = ""
        match news:
            case ModelText(piece):
                if not self.steps or self.steps[-1].state != "text":
                    self.steps.append(_Step("text", ""))
                self.steps[-1].text += piece
            case ToolCallStarted():
                self.steps.append(_Step("running", news.tool, news.call, " ".join(news.subject.split())[:120]))
            case ToolCompleted():
                self._end(news.call, news.tool, "done", "")
            case ToolCallFailed():
                self._end(news.call, news.tool, "failed", news.error[:300])
            case ModelRetry():
                self.retry = news.reason
            case RunReport() | RunFailed():
                self.result = news
            case TaskStarted():
                pass

    def hear(self, message: Message) -> None:
        """Add what was said in a part of the run that nobody followed."""
        match message:
            case Assistant(said, calls):
                if said.strip():
                    self.steps.append(_Step("text", said))
                self.steps += [_Step("running", call.name, call.id) for call in calls]
            case ToolResult():
                self._end(message.call, message.name, "failed" if message.failed else "done", "")
            case _:
                pass

    def _end(self, call: str, tool: str, state: str, why: str) -> None:
        found = next((each for each in self.steps if each.call == call), None)
        if found is None:
            found = _Step(state, tool, call)
            self.steps.append(found)
        found.state, found.subject = state, why or found.subject


def show(request: PageRequest) -> Mapping[str, object]:
    """A field for a question, and what was asked since the start."""
    return {"runs": request.service.runs.all()[:20], "has_model": bool(request.workspace.settings.llm.wire)}


def show_run(request: PageRequest) -> Mapping[str, object]:
    """One question with its answer so far."""
    run = _run(request)
    shown = _Shown()
    for item in run.news.after(0):
        shown.take(item.event)
    return {"run": run, "earlier": _earlier(request, run), **_values(request, run, shown)}


def _earlier(request: PageRequest, run: AskedRun) -> list[tuple[AskedRun, Markup]]:
    """What was asked in the same conversation before, with its answers, the oldest first."""
    asked = [each for each in request.service.runs.all() if each.session == run.session and each.began < run.began]
    told = [(each, each.result) for each in reversed(asked) if run.session]
    return [
        (each, html_of(request, run.session, result.ended.answer if isinstance(result, RunReport) else ""))
        for each, result in told
    ]


def ask(request: PageRequest) -> Done:
    """Begin a run, in a new conversation or in the one of `session`."""
    asked = RunRequest(request.needed("task"), Speaker(CHANNEL))
    run = request.service.runs.ask(asked, request.field("session"))
    return Done("", f"/ask/{run.id}")


def stop(request: PageRequest) -> Done:
    """Ask a run to stop; what it has done stays."""
    _run(request).stop()
    return Done(request.text("stopping"))


def stream_route(service: Service) -> BaseRoute:
    """The route of a run's answer as it is written."""

    async def endpoint(request: Request) -> StreamingResponse:
        run = service.runs.get(request.path_params["run"])
        language = request.query_params.get("language", "")
        asked = PageRequest(
            service, "zh" if language == "zh" else "en", request.url.path, {"run": run.id if run else ""}
        )
        pieces = _pieces(asked, run) if run is not None else _nothing()
        return StreamingResponse(pieces, 200, {**HEADERS, "X-Accel-Buffering": "no"}, "text/event-stream")

    return Route("/ask/{run}/stream", endpoint, name="stream of a run")


async def _nothing() -> AsyncIterator[bytes]:
    yield _event("", "ended")


async def _pieces(request: PageRequest, run: AskedRun) -> AsyncIterator[bytes]:
    """The HTML of the run each time it has changed, then the event `ended`."""
    shown, changed = _Shown(), asyncio.Event()

    async def follow() -> None:
        async for item in followed(run.news, "0"):
            shown.take(item.event)
            changed.set()

    following = asyncio.create_task(follow())
    try:
        while shown.result is None:
            await changed.wait()
            changed.clear()
            yield _event(await run_in_threadpool(_part, request, run, shown))
            await asyncio.sleep(_PAUSE)
        yield _event(await run_in_threadpool(_part, request, run, shown))
        yield _event("", "ended")
    finally:
        following.cancel()


def _event(html: str, name: str = "") -> bytes:
    lines = "".join(f"data: {line}\n" for line in (html.splitlines() or [""]))
    return (f"event: {name}\n" if name else "").encode() + lines.encode() + b"\n"


def _part(request: PageRequest, run: AskedRun, shown: _Shown) -> str:
    return rendered("run_part.html", request, {"run": run, **_values(request, run, shown)})


def _values(request: PageRequest, run: AskedRun, shown: _Shown) -> dict[str, object]:
    result = shown.result
    ended = result.ended if isinstance(result, RunReport) else None
    since = aftermath(request.workspace, ended) if ended else None
    steps = list(shown.steps)
    if ended and ended.answer:
        if steps and steps[-1].state == "text":  # the whole answer, also of a run with more news than are kept
            steps.pop()
        steps.append(_Step("text", ended.remarked))
    whole = _Shown(steps)
    for message in since.said if since else ():
        whole.hear(message)
    for step in whole.steps:
        if step.state == "text":
            step.html = html_of(request, run.session, step.text)
    home = request.workspace.vault.home
    waits_for = since.waits_for if since else ended.waits_for if ended else ""
    used, looked = _sources(ended, " ".join(each.text for each in whole.steps)) if ended else ((), ())
    return {
        "steps": whole.steps,
        "retry": shown.retry,
        "result": result,
        "ended": ended,
        "reason": result.reason if isinstance(result, RunFailed) else ended.reason if ended else "",
        "sources": used,
        "looked": looked,
        "waits_for": waits_for,
        "is_question": bool(waits_for and home.holds(waits_for, QUESTIONS)),
        "is_resumed": since is not None and not since.is_over and not since.waits_for,
        "goes_on": bool(ended and ended.outcome.waits and not (since and since.is_over)),
        "is_over": bool(ended and (since.is_over if since else not ended.outcome.waits)),
        "commits": since.commits if since else result.commits if isinstance(result, RunReport) else (),
    }


def _sources(ended: Ended, said: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The notes that the answer rests on: those that it used, names, or had read; and the others that were looked at.

    Each is named once.
    """
    cited = [each.path for each in (*ended.used, *ended.sources, *ended.given) if each.path.endswith(".md")]
    found, used = dict.fromkeys(cited), {each.path for each in ended.used}
    best = tuple(path for path in found if path in used or f"[[{path.removesuffix('.md')}" in said)
    return best, tuple(path for path in found if path not in best)


def _run(request: PageRequest) -> AskedRun:
    run = request.service.runs.get(request.named["run"])
    if run is None:
        raise NoteGone("this run is not known any more", hint="its conversation is one of the notes of sessions")
    return run


PAGE = Page("ask", "/ask", show, "a")
RUN = Page("run", "/ask/{run}", show_run, is_live=False)
DEEDS = (Deed("/ask", ask), Deed("/ask/{run}/stop", stop))
STREAMS = (stream_route,)
