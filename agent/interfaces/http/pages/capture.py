"""Capture: a form for an idea, a page or a picture; what other apps share with the installed page fills it.

Nothing is kept before the person presses the button: anybody can make a link to this form.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from agent.deeds.capture import Captured, capture, with_page
from agent.errors import UserError
from agent.interfaces.http.door.guard import BROWSER, KEEP, SHARE
from agent.interfaces.http.pages.frame import HEADERS, asset, problem_page
from agent.interfaces.http.pages.page import Page, PageRequest
from agent.interfaces.http.responses import json_response
from agent.interfaces.http.service import Service
from agent.runs.captured_files import CapturedFile

_FILES, _LONGEST = 10, 8 << 20
"""The most files of a form, and the bytes of one of its texts: more than the longest that is kept."""
_FIELDS = ("title", "text", "url")
_ACCEPTED = ("image/*", "audio/*", "video/*", "text/*", "application/pdf")


def show(request: PageRequest) -> Mapping[str, object]:
    """The form, filled with what was shared."""
    what = request.service.shares.find(request.browser, request.field("share"))
    shared = what or Captured("", request.field("text"), request.field("title"), request.field("url"))
    return {
        "what": shared,
        "share": request.field("share") if what and what.files else "",
        "kept": request.field("kept"),
    }


def _share_routes(service: Service) -> BaseRoute:
    async def share(request: Request) -> Response:
        async with request.form(max_files=_FILES, max_part_size=_LONGEST) as form:
            id = service.shares.add(str(request.scope.get(BROWSER, "")), await _captured(form))
        return RedirectResponse(f"/capture?share={id}", HTTPStatus.SEE_OTHER, HEADERS)

    return Route(SHARE, share, methods=["POST"], name="share")


def _keep_route(service: Service) -> BaseRoute:
    async def keep(request: Request) -> Response:
        browser = str(request.scope.get(BROWSER, ""))
        async with request.form(max_files=_FILES, max_part_size=_LONGEST) as form:
            fields = {name: value for name, value in form.items() if isinstance(value, str)}
            what = await _captured(form)
        asked = PageRequest(service, service.workspace.settings.vault.language, KEEP, {}, fields, browser)
        try:
            path = await run_in_threadpool(_keep, asked, what)
        except Exception as error:  # noqa: BLE001  # the person gets a page, whatever has failed
            return await run_in_threadpool(_refused, asked, error)
        return RedirectResponse(f"/capture?kept={quote(path, safe='')}", HTTPStatus.SEE_OTHER, HEADERS)

    return Route(KEEP, keep, methods=["POST"], name="keep")


def _keep(asked: PageRequest, what: Captured) -> str:
    """Keep what the form has, and the files that were shared; the note's path."""
    shares, id = asked.service.shares, asked.field("share")
    before = shares.find(asked.browser, id)
    if id and before is None:
        raise UserError("the files that were shared are not here any more", hint="go back, and share them again")
    files = (*(before.files if before else ()), *what.files)
    what = Captured(asked.field("words"), what.shared, what.title, what.address, files)
    if asked.field("page") and what.address:
        what = with_page(what, asked.workspace)
    captured = capture(asked.workspace, what, today=bool(asked.field("today")))
    shares.done(id)
    return captured.path


def _refused(asked: PageRequest, error: Exception) -> Response:
    values = {"navigation": (), "pages": (), "page": None, "place": None, "tabs": (), "theme": "", "part": ""}
    return problem_page(error, asked, {**values, "address": "/capture", "waiting": 0, "since": 0})


async def _captured(form: FormData) -> Captured:
    """What a form has: texts, and files with a name."""
    fields = {name: str(form.get(name) or "").strip() for name in _FIELDS}
    uploads = [each for each in form.getlist("files") if isinstance(each, UploadFile) and each.filename]
    files = [CapturedFile(each.filename or "", await each.read()) for each in uploads]
    text, address = fields["text"], fields["url"]
    if not address and text.startswith(("https://", "http://")) and " " not in text:  # as several apps share a page
        text, address = "", text
    return Captured("", text, fields["title"], address, tuple(files))


def _manifest_route(service: Service) -> BaseRoute:
    async def manifest(request: Request) -> Response:
        icon = {"src": asset("static/icon.svg"), "sizes": "any", "type": "image/svg+xml", "purpose": "any"}
        files = [{"name": "files", "accept": list(_ACCEPTED)}]
        target = {"action": SHARE, "method": "POST", "enctype": "multipart/form-data"}
        found = {
            "name": "vault-agent",
            "short_name": "vault-agent",
            "id": "/",
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "icons": [icon],
            "share_target": {**target, "params": {**{name: name for name in _FIELDS}, "files": files}},
        }
        return json_response(found)

    return Route("/manifest.webmanifest", manifest, name="manifest")


PAGE = Page("capture", "/capture", show, "c", under="notes", is_live=False, scripts=("static/capture.js",))
ROUTES: tuple[Callable[[Service], BaseRoute], ...] = (_share_routes, _keep_route, _manifest_route)
