"""All routes of the dashboard, made from the pages, in the order of the navigation, what their buttons do, and their
streams: what a module here defines. And the link that signs a browser in: once opened, it leaves a cookie and goes to
the first page.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from types import ModuleType
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from agent.dataclass import dataclass
from agent.errors import NoteGone, Unknown
from agent.escape import escape_line
from agent.interfaces.http.door.browsers import DAYS, token_file
from agent.interfaces.http.door.guard import BROWSER, OPEN
from agent.interfaces.http.door.sign_in import remove_opening
from agent.interfaces.http.pages import (
    ask,
    capture,
    graph,
    jobs,
    memory,
    metrics,
    needs,
    notes,
    profile,
    settings,
    skills,
    status,
    sync,
    today,
)
from agent.interfaces.http.pages.frame import FOLDER, HEADERS, REPORTS, page_response, problem_page
from agent.interfaces.http.pages.markdown import PICTURES
from agent.interfaces.http.pages.needs import waiting_count
from agent.interfaces.http.pages.page import Deed, Page, PageRequest
from agent.interfaces.http.pages.pairing import pairing_route
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.responses import SECURITY_HEADERS, json_response, plain_page, refusal
from agent.interfaces.http.service import Service
from agent.texts import LANGUAGES, Language, text
from agent.vault.pictures import Picture, find_picture, load_picture

_MODULES: tuple[ModuleType, ...] = (
    ask, needs, today, notes, capture, graph, jobs, memory, profile, skills, status, metrics, sync, settings,
)  # fmt: skip
PAGES = tuple(each for module in _MODULES for each in vars(module).values() if isinstance(each, Page))
DEEDS: tuple[Deed, ...] = tuple(each for module in _MODULES for each in getattr(module, "DEEDS", ()))
STREAMS: tuple[Callable[[Service], BaseRoute], ...] = (*ask.STREAMS, *graph.STREAMS, *capture.ROUTES)
"""Makes the route of each stream."""
_BY_NAME = {each.name: each for each in PAGES}
ENTRIES = tuple(each for each in PAGES if each.letter and not each.under)
"""The pages of the navigation."""


def entry_of(page: Page) -> Page:
    """The page of the navigation to which a page belongs."""
    return entry_of(_BY_NAME[page.under]) if page.under else page


def tabs_of(page: Page) -> tuple[Page, ...]:
    """The pages that stand beside a page under one entry of the navigation; none for a page of a single thing."""
    beside = tuple(each for each in PAGES if each.letter and entry_of(each) == entry_of(page))
    return beside if page.letter and len(beside) > 1 else ()


def sign_in_route(service: Service) -> Route:
    """The route of the links that `serve --open` makes. They are answered with a page that goes on by itself: a browser
    would not send a strict cookie along with a redirect from another site."""
    language, sign_in = service.workspace.settings.vault.language, service.sign_in
    folder = token_file(service.workspace).parent

    def onward() -> Response:
        return plain_page(text("pages.ask", language), (), language, SECURITY_HEADERS, onward="/")

    def open_page(request: Request) -> Response:
        _, port = request.scope["server"]
        code, name = request.path_params["code"], sign_in.cookie_name(port)
        known = sign_in.browser(request.cookies.get(name, ""), port)
        is_good = sign_in.redeem(code, port)  # also for a browser that is signed in: nobody else may use it after that
        remove_opening(folder, code)
        if not is_good and known is not None:
            return onward()
        if not is_good:
            refused = RequestRefused(
                HTTPStatus.FORBIDDEN,
                "this link does not work any more: each works once, for one minute",
                hint="vault-agent serve --open makes a new one",
            )
            return refusal(refused, language, request.scope)
        response = onward()
        response.set_cookie(
            name,
            sign_in.enter(port, request.headers.get("user-agent", ""), known),
            max_age=DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    return Route(f"{OPEN}{{code}}", open_page, methods=["GET"])


_LONGEST = 500
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class PolicyReports:
    """The reports since the start: how many, and the last one."""

    count: int = 0
    last: str = ""

    def add(self, body: bytes) -> None:
        """Take a report in; the first ones are logged."""
        self.count += 1
        self.last = escape_line(body.decode("utf-8", "replace"))[:_LONGEST]
        if self.count <= 10:
            logger.warning("a page met something that its content policy forbids: %s", self.last)


_HEADERS = {
    **SECURITY_HEADERS,
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


def find_and_load(request: PageRequest) -> Picture:
    """The picture that an address means: exactly, or as a link in the note `from` of the query would."""
    vault = request.own_vault
    return load_picture(vault, find_picture(vault, request.field("from"), request.named["path"]))


def picture_response(picture: Picture, known: str) -> Response:
    """The picture, or that it is still the one whose tag the browser sends along (`known`)."""
    tag = f'"{sha256(picture.data).hexdigest()[:32]}"'
    way = "attachment" if picture.is_drawing else "inline"
    name = quote(picture.path.rpartition("/")[2], safe="", errors="replace")
    headers = {**_HEADERS, "ETag": tag, "Content-Disposition": f"{way}; filename*=UTF-8''{name}"}
    if tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(picture.data, headers=headers, media_type=picture.media_type)


SAID = "X-Said"
"""What a deed has come to, for the next page to show."""
LOOKS = ("theme", "language")
"""The cookies with which a browser chooses how it shows the pages."""
THEMES = ("dark", "light")
_YEAR = 365 * 86_400
_FILE = re.compile(r"(static|vendor)/[\w.-]+\.(js|css|svg)")
_LARGEST_REPORT = 20_000


def page_routes(service: Service) -> tuple[BaseRoute, ...]:
    """The routes of the pages and of the files that they load."""
    reports = PolicyReports()
    return (
        sign_in_route(service),
        pairing_route(service),
        *(_page_route(service, page) for page in PAGES),
        *(_deed_route(service, deed) for deed in DEEDS),
        *(stream(service) for stream in STREAMS),
        _picture_route(service),
        Route("/assets/{digest}/{name:path}", _file),
        Route("/look", _look, methods=["POST"]),
        *_report_routes(reports),
    )


def _page_route(service: Service, page: Page) -> Route:
    async def endpoint(request: Request) -> Response:
        asked = await _page_request(service, request)
        values = _frame(service, request, page)
        try:
            answer = await run_in_threadpool(page.show, asked)
            if "waiting" not in answer:  # a page that lists what waits has counted it
                values["waiting"] = await run_in_threadpool(waiting_count, service.workspace)
            return await run_in_threadpool(page_response, f"{page.name}.html", asked, {**values, **answer})
        except Exception as error:  # noqa: BLE001  # the person gets a page, whatever has failed
            return await run_in_threadpool(_problem, error, asked, values)

    return Route(page.path, endpoint, name=f"page {page.name}")


def _deed_route(service: Service, deed: Deed) -> Route:
    async def endpoint(request: Request) -> Response:
        asked = await _page_request(service, request, await request.form(max_files=0))
        part = deed.refused if is_part(request) else ""
        values = {**_frame(service, request, None), "address": _from(request), "part": part}
        try:
            done = await run_in_threadpool(deed.do, asked)
        except Exception as error:  # noqa: BLE001
            return await run_in_threadpool(_problem, error, asked, values)
        if not is_part(request):
            return RedirectResponse(done.go or _from(request), HTTPStatus.SEE_OTHER, HEADERS)
        page_values = {**values, "is_problem": False, "sentence": done.sentence, "hint": ""}
        response = page_response("message.html", asked, page_values)
        response.headers["HX-Trigger"] = "changed"
        if done.go:
            response.headers["HX-Redirect"] = done.go
            response.headers[SAID] = quote(done.sentence)
        return response

    return Route(deed.path, endpoint, methods=["POST"], name=f"deed {deed.path}")


def _picture_route(service: Service) -> Route:
    async def endpoint(request: Request) -> Response:
        asked = await _page_request(service, request)
        try:
            picture = await run_in_threadpool(find_and_load, asked)
        except Exception as error:  # noqa: BLE001
            return await run_in_threadpool(_problem, error, asked, _frame(service, request, None))
        return picture_response(picture, request.headers.get("if-none-match", ""))

    return Route(f"{PICTURES}{{path:path}}", endpoint, name="picture")


async def missing_page(service: Service, request: Request) -> Response | None:
    """The answer to a browser for an address that is no page; None for what is not a browser's."""
    if request.url.path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
        return None
    missing = Unknown("there is no page {path}", hint="the menu has all pages", path=request.url.path)
    asked, values = await _page_request(service, request), _frame(service, request, None)
    return await run_in_threadpool(_problem, missing, asked, values)


def _problem(error: Exception, asked: PageRequest, values: Mapping[str, object]) -> Response:
    """An error as a page, whose navigation says how much waits, too, or as a part of the open page."""
    waiting = 0
    if not values["part"]:
        with suppress(Exception):  # what has failed may be just this
            waiting = waiting_count(asked.workspace)
    return problem_page(error, asked, {**values, "waiting": waiting})


async def _page_request(service: Service, request: Request, form: Mapping[str, object] | None = None) -> PageRequest:
    values = request.query_params if form is None else {name: each for name, each in form.items()}
    fields = {name: value for name, value in values.items() if isinstance(value, str)}
    address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    named = {name: str(value) for name, value in request.path_params.items()}
    browser = str(request.scope.get(BROWSER, ""))
    return PageRequest(service, language_of(service, request), address, named, fields, browser)


def language_of(service: Service, request: Request) -> Language:
    """The language that the browser has chosen, else the vault's."""
    chosen = request.cookies.get("language", "")
    return chosen if chosen in LANGUAGES else service.workspace.settings.vault.language


def _frame(service: Service, request: Request, page: Page | None) -> dict[str, object]:
    theme = request.cookies.get("theme", "")
    address = quote(request.url.path) + (f"?{request.url.query}" if request.url.query else "")
    return {
        "navigation": ENTRIES,
        "pages": [each for each in PAGES if each.letter],
        "page": page,
        "place": entry_of(page) if page is not None else None,
        "tabs": tabs_of(page) if page is not None else (),
        "address": address,
        "theme": theme if theme in THEMES else "",
        "part": "",
        "waiting": 0,
        "since": service.changes.last,  # taken before the page reads: what comes later reaches it by the stream
    }


def is_part(request: Request) -> bool:
    """True if htmx asks, which shows a message in the open page."""
    return request.headers.get("hx-request") == "true"


def _from(request: Request) -> str:
    """The page on which the form was, as an address of this server; the browser may have left it out."""
    page = urlsplit(request.headers.get("referer", ""))
    return "/" + page.path.lstrip("/\\") + (f"?{page.query}" if page.query else "")


async def _file(request: Request) -> Response:
    name = request.path_params["name"]
    if not _FILE.fullmatch(name) or not (FOLDER / name).is_file():
        raise NoteGone("there is no file {name} here", hint="load the page again", name=name)
    headers = {**SECURITY_HEADERS, "Cache-Control": "private, max-age=31536000, immutable"}
    return FileResponse(FOLDER / name, headers=headers)


async def _look(request: Request) -> Response:
    """Choose light or dark, and the language; empty is what the system or the vault says."""
    form = await request.form(max_files=0)
    response = RedirectResponse(_from(request), HTTPStatus.SEE_OTHER, HEADERS)
    for name in LOOKS:
        value = form.get(name)
        if isinstance(value, str) and value in (*THEMES, *LANGUAGES, ""):
            response.set_cookie(name, value, max_age=_YEAR if value else 0, samesite="strict", httponly=True)
    return response


def _report_routes(reports: PolicyReports) -> Iterator[Route]:
    async def take(request: Request) -> Response:
        body = await request.body()
        reports.add(body[:_LARGEST_REPORT])
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=SECURITY_HEADERS)

    async def show(request: Request) -> Response:
        return json_response({"count": reports.count, "last": reports.last})

    yield Route(REPORTS, take, methods=["POST"])
    yield Route(REPORTS, show)
