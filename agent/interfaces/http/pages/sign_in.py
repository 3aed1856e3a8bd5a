"""The link that signs a browser in: once opened, it leaves a cookie and goes to the first page."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.interfaces.http.door.guard import OPEN
from agent.interfaces.http.door.sign_in import DAYS
from agent.interfaces.http.plain_page import plain_page
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.responses import SECURITY_HEADERS, refusal
from agent.interfaces.http.service import Service
from agent.texts import text


def sign_in_route(service: Service) -> Route:
    """The route of the links that `serve --open` makes. They are answered with a page that goes on by itself: a browser
    would not send a strict cookie along with a redirect from another site."""
    language = service.workspace.settings.vault.language

    def onward() -> Response:
        return plain_page(text("pages.needs", language), (), language, SECURITY_HEADERS, goes_on=True)

    async def open_page(request: Request) -> Response:
        cookie = request.cookies.get(service.sign_in.cookie_name, "")
        if cookie and service.sign_in.knows(cookie):
            return onward()  # signed in: an old link opens the first page, too
        if not service.sign_in.redeem(request.path_params["code"]):
            refused = RequestRefused(
                HTTPStatus.FORBIDDEN,
                "this link does not work any more: each works once, for ten minutes",
                hint="vault-agent serve --open makes a new one",
            )
            return refusal(refused, language, request.scope)
        response = onward()
        response.set_cookie(
            service.sign_in.cookie_name,
            service.sign_in.cookie(),
            max_age=DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    return Route(f"{OPEN}{{code}}", open_page, methods=["GET"])
