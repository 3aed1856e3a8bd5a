"""The parts of a text or a note that are not known to do nothing when an editor shows them.

A part is given as text that is the same wherever it stands, so that two versions of a note can be compared. Code counts
as code only where all editors agree: a block at the left margin that is closed. All other code is read as text, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate
from typing import TYPE_CHECKING

from agent.lazy import later
from agent.markdown.inertness import allowed
from agent.markdown.note import Note
from agent.markdown.requests import may_ask, open_requests

if TYPE_CHECKING:
    from markdown_it.token import Token

    from agent.markdown.inertness.readings import parsed, parsed_line
    from agent.markdown.values import Value
else:  # loaded only for a text with marks: it takes a tenth of a second
    parsed = later("agent.markdown.inertness.readings", "parsed")
    parsed_line = later("agent.markdown.inertness.readings", "parsed_line")

_QUIET = re.compile(r"(?<![!\]\\])\[\[[\w /.,'-]+(?:\|[\w /.,'-]+)?\]\]|(?<![!\]\\])\[[ xX/-]\](?=[ \n])")
_MARKS = re.compile(r"[\[<`]|~~~|%%|::|\\[A-Za-z]")
"""Without one of these a text has no picture, no embed, no code, no formula, no HTML and no comment."""
_TEMPLATE = re.compile(r"<%[^\n]{0,80}")
"""Run by Templater wherever it stands, also in code."""
_COMMENT = re.compile(r"%%[^\n]{0,80}")
_CROSSING = re.compile(r"%%|<!--")
"""Marks that an editor may pair across the end of a code block, which is then none; so may it two `$$`."""
_EMBED = re.compile(r"!\[\[([^\]\n]+)\]\]")
_FIELD = re.compile(r"([\w -]{1,40})::[^\n]*//[^\n]*")
_DEFINITION = re.compile(r"\[(?!\^)[^\]]{1,999}\]:\s*<?([^\s>]+)")
_CALLOUT = re.compile(r"\s*\[!([^\]\n|]{1,40})")
_CLOSING = re.compile(r"(`{3,}|~{3,})[ \t]*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?=\S)", re.IGNORECASE)
_SHOWING = re.compile(r"[\[\]<>`!$~]|%%|::")
_DEEPEST = 2
"""Code in code that is read as text."""
_NESTED, _BRACKETS = 50, 1_000
"""The most lists, quotes or brackets in each other, and the most brackets in one paragraph, that are looked into."""
_LONGEST = 200_000
"""Characters of a text that is looked into; a longer one may take minutes."""


@lru_cache(maxsize=16)
def active_parts(text: str) -> tuple[str, ...]:
    """The parts of a text that may load or run something, each as often as it is met; empty for a text that does
    nothing."""
    if not _MARKS.search(_QUIET.sub("", text)):
        return ()
    if len(text) > _LONGEST:
        return (text,)
    return tuple(_parts(text.replace("\r\n", "\n").replace("\r", "\n"), _DEEPEST).elements())


def active_parts_of_note(data: bytes) -> tuple[str, ...]:
    """The parts of a whole note that may load or run something, also those in its header, and its requests to the
    agent."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    note = Note.parse(data)
    found = [*_header_parts(note), *active_parts(note.text)]
    if may_ask(data):
        found += (request.text for request in open_requests(data, whole=False))
    return tuple(found)


def without_marks(line: str) -> str:
    """One line of text without the characters that make parts active."""
    return _SHOWING.sub(" ", line)


def _header_parts(note: Note) -> Iterator[str]:
    if note.problem is not None:
        yield note.problem.message
    for key, value in note.header.items():
        if key.casefold() not in allowed.HEADER_KEYS or not all(map(_is_plain, _values(value))):
            yield f"{key}: {value}"


def _values(value: "Value") -> Iterator[object]:
    if isinstance(value, tuple | list):
        for each in value:
            yield from _values(each)
    else:
        yield value


def _is_plain(value: object) -> bool:
    """True for a value that is no nested header, and no address but one of the web or of mail."""
    if isinstance(value, Mapping):
        return False
    return not (isinstance(value, str) and _SCHEME.match(value) and not allowed.is_link(value))


def _parts(text: str, depth: int) -> Counter[str]:
    """The parts of a text with plain line ends, each as often as one reading meets it; code in code is read as text
    down to this depth."""
    met = Counter(_TEMPLATE.findall(text))
    for tokens in parsed(text, _is_readable):
        met |= Counter(_parts_of_reading(tokens, text, depth))
    return met


def _parts_of_reading(tokens: Sequence["Token"], text: str, depth: int) -> Iterator[str]:
    lines = text.split("\n")
    fences = [token for token in tokens if token.type == "fence"]
    pieces = _outside(lines, fences)
    is_crossed = any(_CROSSING.search(piece) or piece.count("$$") % 2 for piece in pieces)
    outside = "\n".join(pieces)
    yield from _COMMENT.findall(outside)
    yield from (found[0] for found in _EMBED.finditer(outside) if not allowed.is_embedded_picture(found[1]))
    yield from (found[0] for found in _FIELD.finditer(outside) if not _is_plain_field(found[1]))
    yield from (found[0] for found in _DEFINITION.finditer(outside) if not allowed.is_link(unescape(found[1])))
    if "$$" in outside and not allowed.is_formula(text if is_crossed else outside):
        yield text
    for fence in fences:
        yield from _code_parts(fence, depth, is_code=_is_closed(fence, lines) and not is_crossed)
    for token in tokens:
        if token.level > _NESTED or (token.type == "inline" and _is_tangled(token.content)):
            yield token.content or text
        elif token.type == "html_block":
            yield from () if allowed.is_plain_html(token.content) else (token.content,)
            yield from _line_parts(token.content)
        elif token.type == "inline":
            yield from _inline_parts(token)


def _is_readable(text: str) -> bool:
    """True for a paragraph in which there may be a part, and whose brackets can be paired."""
    return _MARKS.search(text) is not None and not _is_tangled(text)


def _is_tangled(text: str) -> bool:
    """True for a paragraph with so many brackets, or so deep ones, that a parser takes long or gives up."""
    if text.count("[") <= _NESTED:
        return False
    marks = (1 if mark == "[" else -1 for mark in text if mark in "[]")
    return text.count("[") > _BRACKETS or max(accumulate(marks, lambda depth, mark: max(depth + mark, 0))) > _NESTED


def _outside(lines: Sequence[str], fences: Iterable["Token"]) -> list[str]:
    """The pieces of the text between these code blocks."""
    pieces, begin = list[str](), 0
    for first, after in (fence.map for fence in fences if fence.map):
        pieces.append("\n".join(lines[begin:first]))
        begin = after
    return [*pieces, "\n".join(lines[begin:])]


def _is_plain_field(key: str) -> bool:
    return key.strip().casefold() in allowed.HEADER_KEYS


def _is_closed(fence: "Token", lines: Sequence[str]) -> bool:
    """True for a code block at the left margin, in no list and no quote, which ends with a mark of its own."""
    begin, end = fence.map or (0, 0)
    closing = _CLOSING.fullmatch(lines[end - 1]) if end - begin > 1 else None
    is_at_margin = fence.level == 0 and lines[begin].startswith(fence.markup)
    return is_at_margin and closing is not None and closing[1].startswith(fence.markup)


def _code_parts(fence: "Token", depth: int, *, is_code: bool) -> Iterator[str]:
    language = fence.info.strip(" \t")
    if language and language.casefold() not in allowed.LANGUAGES:
        yield f"```{language}\n{fence.content}"
    elif not is_code and _MARKS.search(fence.content):
        yield from _parts(fence.content, depth - 1).elements() if depth else (fence.content,)


def _inline_parts(token: "Token") -> Iterator[str]:
    text = token.content
    if ("$" in text and not allowed.is_formula(text)) or text.count("$$") % 2:
        yield text
    if (callout := _CALLOUT.match(text)) and callout[1].strip().casefold() not in allowed.CALLOUTS:
        yield callout[0]
    yield from _leaf_parts(token.children or ())
    if "`" in text and "\n" in text:  # editors differ in whether inline code ends with its line
        yield from _line_parts(text)


def _line_parts(text: str) -> Iterator[str]:
    """The parts of each of the lines, read by itself."""
    for line in text.split("\n"):
        for token in parsed_line(line):
            yield from _leaf_parts(token.children or ())


def _leaf_parts(tokens: Iterable["Token"]) -> Iterator[str]:
    for token in tokens:
        content = token.content
        if token.type == "image":
            address = str(token.attrs["src"])
            yield from () if allowed.is_picture(address) else (f"![]({address})",)
            yield from _leaf_parts(token.children or ())
        elif token.type == "link_open" and not allowed.is_link(str(token.attrs["href"])):
            yield f"[]({token.attrs['href']})"
        elif token.type == "html_inline" and not allowed.is_plain_html(content):
            yield content
        elif token.type == "code_inline" and not allowed.is_code(content):
            yield f"`{content}`"
