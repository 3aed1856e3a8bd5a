"""Ask: the first page. A field for a question, with what needs its person above and the day below; each conversation
has a page of its own, with its answer as it is written, the tools as they are used, and Stop.

The answer is sent as HTML each time it has grown, at most a few times a second; the browser changes what differs.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Route

from agent.background.asked_runs import AskedRun
from agent.dataclass import dataclass
from agent.deeds.conversations import SessionInfo, conversations, session_info
from agent.deeds.growth import learn_from_reflections, reflect_on_today
from agent.errors import NoteGone
from agent.events.runs import Speaker
from agent.interfaces.http.pages.answer import AnswerOnPage, TurnOnPage, answer_values, run_of, turns_of
from agent.interfaces.http.pages.frame import HEADERS, note_address, note_name, rendered, talk_address
from agent.interfaces.http.pages.needs import needed
from agent.interfaces.http.pages.page import Deed, Done, Page, PageRequest
from agent.interfaces.http.pages.today import happenings
from agent.interfaces.http.service import Service, followed
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.runs.configured_models import model_status
from agent.runs.job_upkeep import job_shelf
from agent.texts import ENGLISH, LANGUAGES
from agent.vault.folders import SESSIONS
from agent.workspace.schedule_switch import schedule_switch
from agent.workspace.workspace import reload_settings

CHANNEL = "http"
"""The channel of what is asked in a browser."""
_PAUSE = 0.15
"""Seconds between two versions of an answer that are sent."""
_BRIEFING = "morning-briefing"
"""The id of the job that briefs its person."""
_LISTED, _HAPPENED, _TURNS, _FOUND = 40, 6, 6, 12
"""Conversations in the list, things of the day below the field, and questions of a conversation that are not folded,
and notes that are found by their names."""


@dataclass(frozen=True, slots=True)
class TalkRow:
    """A conversation in the list; `at` is the time of what was said last."""

    address: str
    title: str
    channel: str
    at: datetime | None
    is_running: bool
    waits: bool
    is_open: bool


def show(request: PageRequest) -> Mapping[str, object]:
    """A field for a question, what needs the person, the day, and the conversations."""
    models = model_status(reload_settings(request.workspace))
    rows, waiting = needed(request)
    return {
        **_beside(request),
        "needed": rows,
        "waiting": waiting,
        "happened": happenings(request, request.now.date())[:_HAPPENED],
        "switch": schedule_switch(request.workspace),
        "model": models.names.get("main", ""),
        "troubles": (*models.misconfigured, *filter(None, [models.problem])),
    }


def _beside(request: PageRequest, path: str = "", run: str = "") -> dict[str, object]:
    """The list of conversations, in which the one at `path` or of this run is open."""
    runs = [each for each in request.service.runs.all() if each.result is None]
    found = conversations(request.workspace.vault, _LISTED)
    known, going_on = {each.path for each in found}, {each.session for each in runs}
    begun = [each for each in runs if each.session not in known]
    fresh = [TalkRow(f"/ask/{each.id}", each.task, CHANNEL, each.began, True, False, each.id == run) for each in begun]
    return {"talks": [*fresh, *(_row(each, going_on, path) for each in found)]}


def _row(info: SessionInfo, going_on: Collection[str], path: str) -> TalkRow:
    at = datetime.fromisoformat(info.last) if info.last else None
    is_running = info.path in going_on
    return TalkRow(talk_address(info.path), info.title, info.channel, at, is_running, info.waits, info.path == path)


def show_talk(request: PageRequest) -> Mapping[str, object]:
    """A conversation as its note has it, and the answer that is being written in it."""
    session = load_session(request.workspace.vault, request.named["path"])
    runs = [each for each in request.service.runs.all() if each.session == session.path and each.result is None]
    turns = list(turns_of(request, session, run_of(runs[0]) if runs else ""))
    info = session_info(session)
    return {**_talk(request, info, turns), **(_live(request, runs[0]) if runs else {"run": None})}


def show_run(request: PageRequest) -> Mapping[str, object]:
    """One question with its answer so far, below what was said before in its conversation."""
    run = _run(request)
    info, turns = None, list[TurnOnPage]()
    if run.session:
        try:
            session = load_session(request.workspace.vault, run.session)
            info, turns = session_info(session), list(turns_of(request, session, run_of(run)))
        except NoteGone:  # it has no note yet, or none any more
            pass
    return {**_talk(request, info, turns, run), **_live(request, run)}


def _talk(
    request: PageRequest, info: SessionInfo | None, turns: list[TurnOnPage], run: AskedRun | None = None
) -> dict[str, object]:
    title = info.title if info is not None else run.task if run is not None else ""
    session = info.path if info is not None else ""
    return {
        **_beside(request, session, run.id if run is not None else ""),
        "title": title,
        "info": info,
        "session": session,
        "earlier": turns[:-_TURNS],
        "turns": turns[-_TURNS:],
        "waits_for": "",
    }


def _live(request: PageRequest, run: AskedRun) -> dict[str, object]:
    page = AnswerOnPage()
    for item in run.news.after(0):
        page.take(item.event)
    return {"run": run, **answer_values(request, run, page)}


def ask(request: PageRequest) -> Done:
    """Begin a run, in a new conversation or in the one of `session`."""
    asked = RunRequest(request.needed("task"), Speaker(CHANNEL))
    run = request.service.runs.ask(asked, request.field("session"))
    return Done("", f"/ask/{run.id}")


def brief(request: PageRequest) -> Done:
    """Ask for a briefing now, in the words of the vault's own job for it, if it has one."""
    jobs = job_shelf(request.workspace).load().jobs
    words = next((each.text for each in jobs if each.id == _BRIEFING and each.text), request.text("brief_task"))
    run = request.service.runs.ask(RunRequest(words, Speaker(CHANNEL)))
    return Done("", f"/ask/{run.id}")


def reflect(request: PageRequest) -> Done:
    """Look back at the runs of today."""
    found = reflect_on_today(request.workspace)
    if not found.is_written:
        return Done(request.text("learned_nothing"))
    return Done(request.text("reflected"), note_address(found.reflection.path))


def learn(request: PageRequest) -> Done:
    """Learn now from what the reflections say."""
    with request.service.index.held() as index:
        rows = learn_from_reflections(request.workspace, index)
    return Done(request.text("learned" if rows else "learned_nothing", what="; ".join(each.words for each in rows)))


def show_found(request: PageRequest) -> Mapping[str, object]:
    """The notes whose names have the words that are typed, for the list of all that one can go to."""
    words = request.field("q").casefold().split()
    paths = request.workspace.vault.note_paths() if words else ()
    found = [path for path in paths if all(word in path.casefold() for word in words)]
    found.sort(key=lambda path: (not note_name(path).casefold().startswith(words[0]), len(path)))
    home = request.workspace.vault.home
    return {"found": [(each, home.holds(each, SESSIONS)) for each in found[:_FOUND]]}


def stop(request: PageRequest) -> Done:
    """Ask a run to stop; what it has done stays."""
    _run(request).stop()
    return Done(request.text("stopping"))


def stream_route(service: Service) -> BaseRoute:
    """The route of a run's answer as it is written."""

    async def endpoint(request: Request) -> StreamingResponse:
        run = service.runs.get(request.path_params["run"])
        language = request.query_params.get("language", "")
        spoken = language if language in LANGUAGES else ENGLISH
        asked = PageRequest(service, spoken, request.url.path, {"run": run.id if run else ""})
        pieces = _pieces(asked, run) if run is not None else _nothing()
        return StreamingResponse(pieces, 200, {**HEADERS, "X-Accel-Buffering": "no"}, "text/event-stream")

    return Route("/ask/{run}/stream", endpoint, name="stream of a run")


async def _nothing() -> AsyncIterator[bytes]:
    yield _event("", "ended")


async def _pieces(request: PageRequest, run: AskedRun) -> AsyncIterator[bytes]:
    """The HTML of the run each time it has changed, then the event `ended`."""
    page, changed = AnswerOnPage(), asyncio.Event()

    async def follow() -> None:
        async for item in followed(run.news, "0"):
            page.take(item.event)
            changed.set()

    following = asyncio.create_task(follow())
    try:
        while page.result is None:
            await changed.wait()
            changed.clear()
            yield _event(await run_in_threadpool(_part, request, run, page))
            await asyncio.sleep(_PAUSE)
        yield _event(await run_in_threadpool(_part, request, run, page))
        yield _event("", "ended")
    finally:
        following.cancel()


def _event(html: str, name: str = "") -> bytes:
    lines = "".join(f"data: {line}\n" for line in (html.splitlines() or [""]))
    return (f"event: {name}\n" if name else "").encode() + lines.encode() + b"\n"


def _part(request: PageRequest, run: AskedRun, page: AnswerOnPage) -> str:
    return rendered("answer.html", request, {"run": run, **answer_values(request, run, page)})


def _run(request: PageRequest) -> AskedRun:
    run = request.service.runs.get(request.named["run"])
    if run is None:
        raise NoteGone("this run is not known any more", hint="its conversation is one of the notes of sessions")
    return run


PAGE = Page("ask", "/", show, "a")
RUN = Page("run", "/ask/{run}", show_run, under="ask", is_live=False)
TALK = Page("talk", "/talk/{path:path}", show_talk, under="ask")
FIND = Page("find", "/find", show_found, under="ask", is_live=False)
QUICK = (Deed("/now/brief", brief), Deed("/now/reflect", reflect), Deed("/now/learn", learn))
"""What the agent otherwise does at its time, at once."""
DEEDS = (Deed("/ask", ask), Deed("/ask/{run}/stop", stop), *QUICK)
STREAMS = (stream_route,)
