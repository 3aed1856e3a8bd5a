"""Responses: results as JSON, problems as documents or, for a browser, as a page of one sentence.

A page of a few sentences that loads no file: for a browser that is not signed in, which gets no file of ours.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape

import msgspec
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from agent.config.masking import printable, printable_bytes
from agent.interfaces.http.problems import CONTENT_TYPE, RequestRefused, problem_of
from agent.texts import Language, text

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1.25rem;overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;line-height:1.25}"
)
_POLICY = (
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
)
"""What the page may do: be drawn in this one style."""


def plain_page(
    title: str,
    sentences: Iterable[str],
    language: Language,
    headers: Mapping[str, str],
    status: int = 200,
    *,
    onward: str = "",
) -> HTMLResponse:
    """The page as a response; with `onward` the browser goes on to that address, by a link if not by itself."""
    page = page_text(title, sentences, language, onward=onward)
    return HTMLResponse(page, status, {**headers, "Content-Security-Policy": _POLICY})


def page_text(title: str, sentences: Iterable[str], language: Language, *, onward: str = "") -> str:
    """The page as HTML."""
    refresh = f'<meta http-equiv="refresh" content="0; url={escape(onward)}">' if onward else ""
    heading = f'<a href="{escape(onward)}">{escape(title)}</a>' if onward else escape(title)
    words = "".join(f"<p>{escape(each)}</p>" for each in sentences if each)
    return (
        f'<!doctype html><html lang="{text("language.tag", language)}"><head><meta charset="utf-8">{refresh}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)} · vault-agent</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{heading}</h1>{words}</main></body></html>"
    )


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
        return msgspec.json.encode(_masked(msgspec.to_builtins(result, enc_hook=str)))
    if printable_bytes(data) == data:
        return data
    return msgspec.json.encode(_masked(msgspec.to_builtins(result, enc_hook=str)))


def _masked(value: object) -> object:
    if isinstance(value, str):
        return printable(value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {_masked(name): _masked(each) for name, each in value.items()}
    return [_masked(each) for each in value] if isinstance(value, list | tuple) else value


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


def refusal(refused: RequestRefused, language: Language, scope: Scope, *, onward: str = "") -> Response:
    """A refused request: a page for a browser that wants one, which goes `onward`, else a problem document."""
    accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    if b"text/html" not in accepts:
        return problem_response(refused, language)
    problem = problem_of(refused, language)
    headers = {**SECURITY_HEADERS, **refused.headers}
    title = text("pages.problem", language)
    return plain_page(title, (problem.detail, problem.hint), language, headers, refused.status, onward=onward)
