"""Problem documents (RFC 9457): each error of the program with its HTTP status, in the language of the client.

Only this module maps errors to statuses.
"""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

import msgspec

from agent.errors import (
    AgentError,
    BadPath,
    Conflict,
    LockHeld,
    MassChange,
    NoteExists,
    NoteGone,
    Permanent,
    Retryable,
    SecretFound,
    StopRun,
    UserError,
)
from agent.texts import Language, Sentence, translated

CONTENT_TYPE = "application/problem+json"
EVERY_OPERATION = (400, 401, 403, 413, 421, 422, 429, 500, 503)
"""The statuses that any operation may answer instead of its own."""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong and what to do. `type` is the error's name; `paths` are the notes that it is about."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = ""
    paths: tuple[str, ...] = ()


class Refused(Exception):
    """A request that no error of the program describes: a wrong header, a body that is too large.

    `hint` says what to do; `headers` go into the response.
    """

    def __init__(
        self,
        status: HTTPStatus,
        sentence: str,
        /,
        *,
        hint: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
        **values: object,
    ) -> None:
        self.detail = Sentence(sentence, **values)
        self.hint = Sentence(hint, **values)
        super().__init__(self.detail)
        self.status, self.headers = status, headers


def problem_of(error: Exception, language: Language) -> Problem:
    """The document of an error; for an error that was not raised on purpose it names only its type."""
    status = status_of(error)

    def said(sentence: str) -> str:
        return translated(sentence, language)

    match error:
        case Refused():
            return Problem(status.phrase, status.phrase, status, said(error.detail), said(error.hint))
        case AgentError():
            paths = getattr(error, "paths", ())
            return Problem(type(error).__name__, status.phrase, status, said(error.message), said(error.hint), paths)
        case msgspec.ValidationError() | msgspec.DecodeError():
            return Problem("ValidationError", status.phrase, status, str(error), said("see /openapi.json for the form"))
        case _:
            hint = said("this is a bug, please report it; the server's log has the details")
            return Problem(type(error).__name__, status.phrase, status, said("the server failed"), hint)


def status_of(error: Exception) -> HTTPStatus:
    """The HTTP status of an error."""
    match error:
        case Refused():
            return error.status
        case NoteGone():
            return HTTPStatus.NOT_FOUND
        case NoteExists() | Conflict() | MassChange():
            return HTTPStatus.CONFLICT
        case BadPath():
            return HTTPStatus.BAD_REQUEST
        case SecretFound() | UserError() | StopRun():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        case LockHeld() | Retryable():
            return HTTPStatus.SERVICE_UNAVAILABLE
        case Permanent() | AgentError():
            return HTTPStatus.INTERNAL_SERVER_ERROR
        case msgspec.ValidationError():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        case msgspec.DecodeError():
            return HTTPStatus.BAD_REQUEST
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR
