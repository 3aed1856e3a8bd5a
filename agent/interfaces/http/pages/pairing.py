"""The address at which an app, such as the plugin for Obsidian, changes a pairing code for a token of its own, and at
which it signs itself out."""

from http import HTTPStatus
from typing import Annotated

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.interfaces.http.door.guard import BROWSER, PAIR
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.responses import json_response, problem_response
from agent.interfaces.http.service import Service
from agent.vault.folders import INBOX


class PairingRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pairing code as a person has typed it, and the name under which the app is listed."""

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=60, pattern=r"^[\w ().,-]+$")]


class Paired(msgspec.Struct, frozen=True):
    """The token of the app; the name of the vault's folder, by which an app sees if it is in the same vault, and the
    folder for requests in it."""

    token: str
    vault: str
    inbox: str


def pairing_route(service: Service) -> Route:
    """The route of pairing."""
    workspace = service.workspace

    def pair(body: bytes) -> Response:
        asked = msgspec.json.decode(body, type=PairingRequest)
        token = service.sign_in.pair(asked.code, asked.name)
        if token is None:
            raise RequestRefused(
                HTTPStatus.FORBIDDEN,
                "this code does not count: each counts once, for five minutes, and for five tries",
                hint="vault-agent obsidian pair makes a new one",
            )
        vault = workspace.vault
        return json_response(Paired(token, vault.place.root.name, vault.home.at(INBOX)))

    async def endpoint(request: Request) -> Response:
        try:
            if request.method == "POST":
                return await run_in_threadpool(pair, await request.body())
            if (app := request.scope.get(BROWSER)) is None:
                raise RequestRefused(
                    HTTPStatus.FORBIDDEN,
                    "this is the token of the whole machine, and no app has signed in with it",
                    hint="vault-agent serve browsers lists who is signed in, and ends it",
                )
            service.sign_in.browsers.end([app])
            return json_response({"ended": app})
        except (RequestRefused, msgspec.MsgspecError) as error:
            return problem_response(error, workspace.settings.vault.language)

    return Route(PAIR, endpoint, methods=["POST", "DELETE"])
