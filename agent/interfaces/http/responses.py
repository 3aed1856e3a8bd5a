"""Responses: results as JSON, problems as documents or, for a browser, as a page of one sentence."""

from collections.abc import Mapping

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from agent.config.masking import printable, printable_bytes
from agent.interfaces.http.plain_page import plain_page
from agent.interfaces.http.problems import CONTENT_TYPE, RequestRefused, problem_of
from agent.texts import Language, text

JSON = "application/json"
SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every response; pages have a content policy of their own."""


def encoded(result: object) -> bytes:
    """A result as JSON, or a text as it is; the secrets that must not be printed are masked, and a character that no
    text can have (of a file's name that is not UTF-8) is written as a question mark."""
    if isinstance(result, bytes):
        return printable_bytes(result)
    try:
        data = msgspec.json.encode(result, enc_hook=str)
    except UnicodeEncodeError:
        return msgspec.json.encode(_plain(msgspec.to_builtins(result, enc_hook=str)))
    if printable_bytes(data) == data:
        return data
    return msgspec.json.encode(_plain(msgspec.to_builtins(result, enc_hook=str)))


def _plain(value: object) -> object:
    if isinstance(value, str):
        return printable(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {_plain(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def json_bytes(data: bytes, status: int, headers: Mapping[str, str], content_type: str = JSON) -> Response:
    """A result that `encoded` has made, as a response."""
    return Response(data, status, {**SECURITY_HEADERS, **headers}, content_type)


def json_response(result: object) -> Response:
    """A result as JSON."""
    return json_bytes(encoded(result), 200, {})


def problem_response(error: Exception, language: Language) -> Response:
    """An error as a problem document."""
    problem = problem_of(error, language)
    headers = {**SECURITY_HEADERS, **(error.headers if isinstance(error, RequestRefused) else {})}
    return Response(encoded(problem), problem.status, headers, CONTENT_TYPE)


def refusal(refused: RequestRefused, language: Language, scope: Scope) -> Response:
    """A refused request: a page for a browser that wants one, else a problem document."""
    accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    if b"text/html" not in accepts:
        return problem_response(refused, language)
    problem = problem_of(refused, language)
    headers = {**SECURITY_HEADERS, **refused.headers}
    title = text("pages.problem", language)
    return plain_page(title, (problem.detail, problem.hint), language, headers, refused.status)
