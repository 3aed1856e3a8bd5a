"""Responses: results as JSON, problems as documents or, for a browser, as a page of one sentence."""

from collections.abc import Mapping
from html import escape

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from agent.interfaces.http.problems import CONTENT_TYPE, Refused, problem_of
from agent.texts import Language

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


def json_response(result: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A result as JSON."""
    sent = {**SECURITY_HEADERS, **(headers or {})}
    return Response(msgspec.json.encode(result), status, sent, "application/json")


def problem_response(error: Exception, language: Language) -> Response:
    """An error as a problem document."""
    problem = problem_of(error, language)
    headers = {**SECURITY_HEADERS, **(error.headers if isinstance(error, Refused) else {})}
    return Response(msgspec.json.encode(problem), problem.status, headers, CONTENT_TYPE)


def refusal(refused: Refused, language: Language, scope: Scope) -> Response:
    """A refused request: a page for a browser that wants one, else a problem document."""
    accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    if b"text/html" not in accepts:
        return problem_response(refused, language)
    problem = problem_of(refused, language)
    words = " ".join(f"<p>{escape(each)}</p>" for each in (problem.detail, problem.hint) if each)
    page = f'<!doctype html><html lang="{language}"><title>vault-agent</title>{words}</html>'
    headers = {**SECURITY_HEADERS, **refused.headers}
    return Response(page, refused.status, headers, "text/html; charset=utf-8")
