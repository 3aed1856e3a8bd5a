"""The link that signs a browser in: once opened, it leaves a cookie and goes to the first page."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.interfaces.http.door.browsers import DAYS
from agent.interfaces.http.door.guard import OPEN
from agent.interfaces.http.door.opening import remove_opening
from agent.interfaces.http.door.token import token_file
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.responses import SECURITY_HEADERS, plain_page, refusal
from agent.interfaces.http.service import Service
from agent.texts import text


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
