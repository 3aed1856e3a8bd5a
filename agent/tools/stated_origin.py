"""Finds the origin stated in a file itself: a web clipper's header, a mail, a saved page.

Such a statement is trusted only if it names another origin, never as proof of the owner's text. The origin in the git
history is left to `vault.provenance`.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from agent.markdown.note import Note
from agent.markdown.session_marks import untrusted_sources
from agent.markdown.values import Header, Value, is_list
from agent.vault.folders import SESSIONS

_TYPED = (".md", ".markdown", ".txt", ".canvas", ".base")
"""Files that people write in an editor; any other file was made or saved by a program."""
_ORIGINS = frozenset(
    {"source", "sources", "url", "urls", "uri", "link", "permalink", "href"}
    | {"original", "origin", "canonical", "web", "via", "feed", "clipped"}
)
"""Words in a header key that names the origin of a text, such as `source_url`."""
_SENDERS = frozenset({"from", "sender", "message-id", "messageid"})
_ADDRESS = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}:)?//[\w.\[]|\bwww\.\w", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*")
_WORDS = re.compile(r"[\s_./-]+")
_FIRST_LINE = re.compile(r"[\W_]{0,8}(?:source|url|link|来源|出处|原文|链接)[\W_]{0,4}[:：](.*)", re.IGNORECASE)
_HEADER_LINE = re.compile(r"([^\s:#][^:\n]{0,60}):(.*)")
_FIRST_LINES = 4
_HEADER = 64 * 1024
_LONGEST = 160


def stated_origin(path: str, data: bytes) -> str:
    """The origin that a file states, in its own words; empty if it states none.

    If the header cannot be parsed, its lines are searched, because an untrusted title may have broken it.
    """
    if not path.casefold().endswith(_TYPED):
        return "a saved file"
    if f"/{SESSIONS}" in f"/{path}" and (found := untrusted_sources(data.decode("utf-8", "replace"))):
        return found[0][:_LONGEST]
    note = Note.parse(data)
    header = _rough_header(data) if note.problem is not None else note.header
    return (_of_header(header) or _of_first_lines(note.body))[:_LONGEST]


def _of_header(header: Header) -> str:
    for key, value in header.items():
        if key.casefold() == "untrusted" and value is not False:
            return ", ".join(_texts(value)) or "a stranger"
        words = {key.casefold(), *_WORDS.split(key.casefold())}
        texts = list(_texts(value))
        if words & _ORIGINS and (stated := next(filter(_ADDRESS.search, texts), "")):
            return stated
        if words & _SENDERS and (stated := next(filter(_MAIL.search, texts), "")):
            return stated
        if "clipped" in words and value not in (None, False, ""):
            return "a web clipper"
    return ""


def _of_first_lines(body: str) -> str:
    """An address after `Source:` or a similar word in the first lines that are not blank; else empty."""
    rows = (row for row in body[:_HEADER].split("\n") if row.strip())
    found = (_FIRST_LINE.fullmatch(row.strip()) for row in islice(rows, _FIRST_LINES))
    return next((each[1].strip() for each in found if each and _ADDRESS.search(each[1])), "")


def _texts(value: Value) -> Iterator[str]:
    """Yield every text in a header's value, at any depth."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif is_list(value):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value)


def _rough_header(data: bytes) -> Header:
    rows = data[:_HEADER].decode("utf-8", "replace").split("\n")
    found = (_HEADER_LINE.fullmatch(row.rstrip("\r")) for row in rows)
    return {each[1].strip(): each[2].strip() for each in found if each}
