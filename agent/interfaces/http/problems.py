"""Problem documents (RFC 9457): each error of the program with its HTTP status, in the language of the client.

Only this module maps errors to statuses.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

import msgspec

from agent.config.masking import printable
from agent.errors import (
    AgentError,
    BadPath,
    Conflict,
    LockHeld,
    MassChange,
    NeedsApproval,
    NoteExists,
    NoteGone,
    Permanent,
    QuestionAsked,
    Retryable,
    SecretFound,
    StopRun,
    ToolFailed,
    ToolRetry,
    Unknown,
    UserError,
)
from agent.texts import Language, Sentence, translated

logger = logging.getLogger(__name__)
_FORM = "see /openapi.json for the form"
CONTENT_TYPE = "application/problem+json"
EVERY_OPERATION = (400, 401, 403, 413, 421, 422, 424, 429, 500, 503)
"""The statuses that any operation may answer instead of its own."""


class StaleNote(msgspec.Struct, frozen=True):
    """Both versions of a note that was to be changed as it was once: `etag` and `current` are of now, null if the note
    is gone; `sent` is the text that came with the request."""

    path: str
    etag: str | None
    current: str | None
    sent: str


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What went wrong and what to do. `type` is the error's name; `paths` are the notes that it is about, such as the
    one in which a yes is asked for. `stale` comes with the status 412."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = ""
    paths: tuple[str, ...] = ()
    stale: StaleNote | None = None


class RequestRefused(Exception):
    """A request that no error of the program describes: a wrong header, a body that is too large.

    `hint` says what to do; `headers` go into the response, and `stale` into its document.
    """

    def __init__(
        self,
        status: HTTPStatus,
        sentence: str,
        /,
        *,
        hint: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
        stale: StaleNote | None = None,
        **values: object,
    ) -> None:
        self.detail = Sentence(sentence, **values)
        self.hint = Sentence(hint, **values)
        super().__init__(self.detail)
        self.status, self.headers, self.stale = status, headers, stale


def problem_of(error: Exception, language: Language) -> Problem:
    """The document of an error, with a hint and without secrets; for an error that was not raised on purpose it names
    only its type."""
    found = _problem(error, language)
    hint = found.hint or translated(_FORM, language)
    return msgspec.structs.replace(found, detail=printable(found.detail), hint=printable(hint))


def _problem(error: Exception, language: Language) -> Problem:
    status = status_of(error)

    match error:
        case RequestRefused():
            hint = translated(error.hint, language)
            return Problem(
                status.phrase, status.phrase, status, translated(error.detail, language), hint, stale=error.stale
            )
        case NeedsApproval() | QuestionAsked():
            hint = translated("say yes there or through /api/v1/approvals, then send the same request again", language)
            name = type(error).__name__
            return Problem(name, status.phrase, status, translated(error.message, language), hint, (error.path,))
        case AgentError():
            paths = getattr(error, "paths", ())
            return Problem(
                type(error).__name__,
                status.phrase,
                status,
                translated(error.message, language),
                translated(error.hint, language),
                paths,
            )
        case msgspec.ValidationError() | msgspec.DecodeError():
            return Problem("ValidationError", status.phrase, status, str(error), translated(_FORM, language))
        case _:
            logger.error("a request failed", exc_info=error)
            hint = translated("this is a bug, please report it; the server's log has the details", language)
            return Problem(type(error).__name__, status.phrase, status, translated("the server failed", language), hint)


_STATUSES: tuple[tuple[HTTPStatus, tuple[type[Exception], ...]], ...] = (
    (HTTPStatus.NOT_FOUND, (NoteGone, Unknown)),
    (HTTPStatus.CONFLICT, (NoteExists, Conflict, MassChange)),
    (HTTPStatus.BAD_REQUEST, (BadPath,)),
    (HTTPStatus.FORBIDDEN, (NeedsApproval, QuestionAsked, ToolFailed)),
    (HTTPStatus.UNPROCESSABLE_ENTITY, (SecretFound, UserError, StopRun, ToolRetry, msgspec.ValidationError)),
    (HTTPStatus.SERVICE_UNAVAILABLE, (LockHeld, Retryable)),
    (HTTPStatus.BAD_REQUEST, (msgspec.DecodeError,)),
    (HTTPStatus.FAILED_DEPENDENCY, (Permanent,)),  # a model's server that refuses, or answers nothing
)
"""The status of each error; the first row that fits counts. All others are failures of the server."""


def status_of(error: Exception) -> HTTPStatus:
    """The HTTP status of an error."""
    if isinstance(error, RequestRefused):
        return error.status
    return next((status for status, kinds in _STATUSES if isinstance(error, kinds)), HTTPStatus.INTERNAL_SERVER_ERROR)
