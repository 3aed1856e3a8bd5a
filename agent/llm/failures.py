"""Maps errors of a model's server to `Retryable` (temporary) and `Permanent` (a person must correct it).

A server's message is shortened to one line and the key is removed: some servers echo the request.
"""

import re
from collections.abc import Iterable, Sequence
from html import unescape

from agent.config.masking import redact
from agent.errors import AgentError, Permanent, Retryable
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Json, JsonObject, items, mapping, number, parsed, text
from agent.llm.waits import wait_in_words
from agent.markdown.title import clipped
from agent.texts import Sentence

_TOO_LONG = re.compile(
    r"context.{0,30}(length|window|size|limit)|too (many|long|large).{0,40}(token|model)|prompt.{0,20}too long"
    r"|input.{0,20}(is )?too long|request too large|maximum (model|prompt|context|input).{0,20}length"
    r"|(input|prompt).{0,40}exceed|exceed.{0,40}(token|context|maximum length)|range of input length"
    r"|reduce the length|超长|超出.{0,12}长度|tokens?.{0,40}must be <=|body too large",
    re.I | re.S,
)
_OF_ANSWER = re.compile(r"(?!.*\bcontext\b).*\bmax_(completion_|output_)?tokens\b", re.I | re.S)
"""A refusal of the longest answer, not of the request."""
_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])|(?<![\w.,])\d+(?!\w|,\d|\.\d)")
_LIMIT = re.compile(
    r"(?:maximum|max|limit|only|allowed|available|up to|cannot exceed|must be|\bmodel with|than|size|\[\d+,)"
    r"[^\d\n.;]{0,60}?[ (:=]*(\d[\d,]*)",
    re.I,
)
_BY_SIGN = re.compile(r"(?:>|<=|\(TPM\): Limit)\s*(\d[\d,]*)")
_LEAST = 256
"""The smallest number that can be a context window in tokens."""


class TooLong(Permanent):
    """The request is longer than the model's window. `window`: what it takes, `sent`: what it was sent, in the server's
    own tokens; 0 where it does not say."""

    def __init__(self, message: Sentence, *, window: int, sent: int, hint: Sentence) -> None:
        super().__init__(message, hint=hint)
        self.window = window
        self.sent = sent


def is_too_long(words: str) -> bool:
    """True if a server's refusal means the length of the request."""
    return bool(_TOO_LONG.search(words)) and not _OF_ANSWER.match(words)


def numbers_in(body: str, words: str) -> tuple[int, int]:
    """The window and the length of the request in a refusal, in tokens; 0 for what it does not say."""
    try:
        error = _error(parsed(body))
    except ValueError:
        error = {}
    others = _numbers(found[0] for found in _NUMBER.finditer(words))
    window = _first(error, "n_ctx", "max_context_length") or _window_in(words, others)
    sent = _first(error, "n_prompt_tokens") or max((each for each in others if each > window), default=0)
    return window, sent if window else 0


def _window_in(words: str, others: Sequence[int]) -> int:
    """The window that the words of a refusal with these numbers name; 0 if they name none."""
    if signed := _BY_SIGN.search(words):
        return _value(signed[1])
    if not others:
        return 0
    named = _numbers(found[1] for found in _LIMIT.finditer(words))
    # what was sent is more than what is allowed, so the largest number is no limit unless it stands alone
    smaller = [each for each in named if each < max(others)]
    return (smaller or named or (sorted(others)[:1] if len(others) > 1 else [0]))[0]


def _numbers(digits: Iterable[str]) -> list[int]:
    """The numbers that may be a count of tokens."""
    return [value for value in map(_value, digits) if value >= _LEAST]


def _first(error: JsonObject, *names: str) -> int:
    return next((value for name in names if (value := number(error.get(name)))), 0)


def _value(digits: str) -> int:
    return int(digits.replace(",", "") or 0)


def _too_long(problem: Sentence, of_model: str, body: str, words: str) -> TooLong:
    window, sent = numbers_in(body, words)
    hint = "set {of}.window to the number of tokens that this model can take"
    return TooLong(problem, window=window, sent=sent, hint=Sentence(hint, of=of_model))


MOST_SHOWN = 300
_OVERLOADED = frozenset(
    {"overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error", "rate_limit_exceeded"}
)
_NO_CREDIT = frozenset({"insufficient_quota", "billing_error"})
_OF_ACCOUNT = frozenset({401, 402, 403})
_PAGE_STATUSES = frozenset({401, 403, 407, 511})
"""Statuses with which networks and proxies send their own login pages."""
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,1000})", re.I)
NO_TOOLS = re.compile(
    r"(does not|doesn't|do not|not) support(ed)?.{0,40}\b(tool|function)|\b(tool|function).{0,40}(is|are) not supported"
    r"|(tool|function).?call(s|ing)?.{0,20}not (supported|enabled|available)|requires --jinja"
    r"|--enable-auto-tool-choice|no endpoints found that support tool",
    re.I,
)
"""What a server says whose model, or whose template, knows no tools."""
_BLANKS = b"\xef\xbb\xbf \t\r\n"


class Rejected(Permanent):
    """The server rejected the request itself (400, 413, 422, or a request with tools); `refusal` is its message,
    without the key."""

    def __init__(self, message: Sentence, *, refusal: str, hint: Sentence) -> None:
        super().__init__(message, hint=hint)
        self.refusal = refusal


def error_message(body: str, key: str) -> str:
    """The message in an error's body: one line, at most `MOST_SHOWN` characters, all printable, without the key."""
    body = body.strip()
    try:
        words = _message(parsed(body))
    except ValueError:
        words = "" if body.startswith("<") else body
    return clean_message(words, key)


def clean_message(words: str, key: str) -> str:
    """A server's message as one line. The key is removed before shortening, which could leave half of it."""
    words = " ".join("".join(each if each.isprintable() else " " for each in words).split())
    words = redact(words, [key])
    return clipped(words, MOST_SHOWN)


def from_status(endpoint: Endpoint, status: int, body: str, *, wait: float, location: str, key: str) -> AgentError:
    """The error for an unsuccessful HTTP status. `wait`: the seconds that the server asked for."""
    if status in _PAGE_STATUSES and is_page("", body[:100].encode()):
        return from_page(endpoint, body, key)
    words, code = error_message(body, key), _code(body)
    at, of_model = endpoint.section, endpoint.model_section
    problem = Sentence("{place} answered {status}", place=endpoint.place, status=f"{status} {_phrase(status)}".strip())
    problem = Sentence("{problem}: {words}", problem=problem, words=words) if words else problem
    if status not in _OF_ACCOUNT and is_too_long(words):
        return _too_long(problem, of_model, body, words)
    if code in _NO_CREDIT or status == 402:
        spent = "the account behind {at}.api_key has no credit left, or its own limit is reached"
        return Permanent(problem, hint=Sentence(spent, at=at))
    if status == 429:
        hint = "too many requests for this account in a short time: wait a minute, then ask again"
        return Retryable(problem, delay=wait, hint=hint)
    if status >= 500 and not NO_TOOLS.search(words):
        return Retryable(problem, delay=wait, hint="the model's server is busy or out of order: try again later")
    if status in (401, 403):
        check = "check {at}.api_key: `vault-agent config get {at}.api_key` says where it comes from"
        missing = "no key was sent: vault-agent config set {at}.api_key env:NAME"
        return Permanent(problem, hint=Sentence(check if endpoint.key.reference else missing, at=at))
    if 300 <= status < 400:
        return Permanent(
            "{place} sends us on to {target}",
            hint="redirects are not followed, to keep the key here: set {at}.base_url to the server's own address",
            place=endpoint.place,
            target=clean_message(location, key) or Sentence("somewhere else"),
            at=at,
        )
    if status in (404, 405) and not NO_TOOLS.search(words):
        name = f"{of_model}.model ({endpoint.model.name})"
        check = "check {name} and {at}.base_url: it must end with the version, as in /v1"
        return Permanent(problem, hint=Sentence(check, name=name, at=at))
    hint = "the server does not accept what it was sent; {of}.model and {at}.base_url say which server and model it was"
    return Rejected(problem, refusal=words, hint=Sentence(hint, of=of_model, at=at))


def is_page(content_type: str, beginning: bytes) -> bool:
    """True for a web page: by its type, or as its first bytes begin a tag, which no answer of a model does."""
    return content_type.startswith(("text/html", "application/xhtml")) or beginning.lstrip(_BLANKS)[:1] == b"<"


def from_page(endpoint: Endpoint, page: str, key: str) -> Permanent:
    """The error for a web page in place of an answer: most are login pages of a network or a proxy."""
    title = _TITLE.search(page)
    named = clean_message(unescape(title[1]), key) if title else ""
    return Permanent(
        "{place} sent a web page instead of an answer: {title}"
        if named
        else "{place} sent a web page instead of an answer",
        hint="log in to your network or proxy in a web browser, then ask again; or check {at}.base_url and HTTPS_PROXY",
        place=endpoint.place,
        title=named,
        at=endpoint.section,
    )


def from_event(endpoint: Endpoint, error: Json, key: str) -> AgentError:
    """The error for an error event in a stream that began successfully."""
    at, of_model = endpoint.section, endpoint.model_section
    inner = _error(error)
    words = clean_message(_message(error), key)
    if is_too_long(words):
        return _too_long(Sentence("{problem}: {words}", problem=endpoint.place, words=words), of_model, "", words)
    reason = words or Sentence("no reason given")
    problem = Sentence("{place} broke off with an error: {reason}", place=endpoint.place, reason=reason)
    kind = text(inner.get("type")) or text(inner.get("code"))
    status = inner.get("code", inner.get("status"))
    passing = kind in _OVERLOADED or (isinstance(status, int) and (status == 429 or status >= 500))
    if passing:
        busy = "the model's server is busy or out of order: try again later"
        return Retryable(problem, delay=wait_in_words(words), hint=busy)
    check = "check {of}.model and {at}.base_url, and what the server's own log says"
    return Permanent(problem, hint=Sentence(check, of=of_model, at=at))


def _message(value: Json) -> str:
    """The message in the shapes that servers use: {"error": {"message"}}, {"error"}, {"message"}, {"detail"}."""
    if isinstance(value, str):
        return value
    if rows := items(value):
        return _message(rows[0])
    found = mapping(value)
    raw = mapping(found.get("metadata")).get("raw")  # a router's words of the server behind it
    if raw and (words := _raw_message(raw)):
        return words
    for name in ("error", "message", "detail", "msg"):
        if found.get(name):
            inner = found[name]
            return _message(inner) or str(inner)
    return ""


def _raw_message(raw: Json) -> str:
    try:
        return _message(parsed(raw) if isinstance(raw, str) else raw)
    except ValueError:
        return str(raw)


def _code(body: str) -> str:
    try:
        error = _error(parsed(body))
    except ValueError:
        return ""
    return text(error.get("code")) or text(error.get("type"))


def _error(value: Json) -> JsonObject:
    """The error in a body; some servers send a list of one."""
    rows = items(value)
    inner = mapping(rows[0] if rows else value)
    return mapping(inner.get("error")) or inner


def _phrase(status: int) -> str:
    from http import HTTPStatus  # 12 ms, as above

    return HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else ""
