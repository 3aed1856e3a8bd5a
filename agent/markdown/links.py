"""The links of a note: wikilinks, embeds, Markdown links and plain addresses, in the body and in header values.

Targets are given as written; finding the note of a target needs the vault and is not done here.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import inline, note
from agent.markdown.blocks import Body
from agent.markdown.yaml_write import Value, is_list

# Every pattern is linear: its parts match disjoint characters, or are possessive (`*+`).
_WIKI = re.compile(r"!?\[\[([^\[\]\n]++(?:[\[\]](?![\[\]])[^\[\]\n]*+)*+)\]\]")
_MARKDOWN = re.compile(
    r"!?\[((?:[^\[\]\n]++|\[[^\[\]\n]*+\])*+)\]"
    r"\([ \t]*+(<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?[ \t]*+\)"
)
_DEFINITION = re.compile(r"^[ ]{0,3}\[[^\[\]\n^][^\[\]\n]*+\]:[ \t]*+(<[^<>\n]*+>|[^\s<>]++)", re.MULTILINE)
_ADDRESS = re.compile(r"https?://[^\s<>\0\"\]]++")
_NAMING = re.compile(r"\[\[([^\[\]|#\n]*+)[^\[\]\n]*+\]\]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:")


@dataclass(frozen=True, slots=True)
class Link:
    """One link. `target` is a note or file as written, decoded (`""`: this note itself), or a whole address.

    `anchor` is a heading (`Plan`, `Plan#Week 1`) or a block (`^id`); `key` is the header's key that holds the link,
    `""` in the body.
    """

    target: str
    anchor: str
    external: bool = False
    key: str = ""


def find_links(body: Body) -> tuple[tuple[Link, ...], str]:
    """The body's links in their order, and the visible text without the links (for tags)."""
    rest = body.visible
    found: list[tuple[int, Link]] = []
    if "[[" in rest:
        rest = _take(_WIKI, rest, body, found)
    if "](" in rest:
        rest = _take(_MARKDOWN, rest, body, found)
    if "]:" in rest:
        rest = _take(_DEFINITION, rest, body, found)
    if "://" in rest:
        rest = _take(_ADDRESS, rest, body, found)
    found.sort(key=lambda pair: pair[0])
    return tuple(link for _, link in found), rest


def note_link(path: str) -> str:
    """A link to the note at a path of the vault."""
    return f"[[{path.removesuffix('.md')}]]"


def linked_names(line: str) -> tuple[str, ...]:
    """The notes that the wikilinks of a line name, as written, without a heading and without the text that is shown."""
    return tuple(filter(None, _NAMING.findall(line)))


def without_links(text: str, instead: str = "") -> str:
    """A text with `instead` in the place of each of its wikilinks."""
    return _NAMING.sub(instead, text)


def find_header_links(data: bytes) -> tuple[Link, ...]:
    """The wikilinks in a note's header values, by Obsidian's rules; none when the header cannot be parsed."""
    parts = note.split(data)
    if b"[[" not in parts.header:
        return ()
    try:
        entries = note.entries(parts)
    except BadNote:
        return ()
    links: list[Link] = []
    for entry in entries:
        strings = (each for item in entry.node.items for each in _strings(item.value))
        for string in strings if entry.node.items else _strings(entry.value):
            links += (_wiki(found[1], entry.key) for found in _WIKI.finditer(string))
    return tuple(links)


def _take(pattern: re.Pattern[str], rest: str, body: Body, found: list[tuple[int, Link]]) -> str:
    """Add the links that a pattern matches to `found`; the result is the text without them."""
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(rest):
        start, end = match.span()
        link = _link(pattern, match, body)
        if link is not None:
            found.append((start, link))
            spans.append((start, end))
            if pattern is _MARKDOWN and "](" in match[1]:  # an image in a link's text
                inner = _MARKDOWN.finditer(rest, match.start(1), match.end(1))
                found.extend((each.start(), each_link) for each in inner if (each_link := _link(_MARKDOWN, each, body)))
    return inline.blank(rest, spans) if spans else rest


def _link(pattern: re.Pattern[str], match: re.Match[str], body: Body) -> Link | None:
    if pattern is _WIKI:
        return _wiki(body.text[match.start(1) : match.end(1)])
    if pattern is _ADDRESS:
        address = match[0].rstrip(".,;:!?)'*_。，；：！？）」』》")
        return Link(address, "", external=True) if len(address) > len("https://") else None
    return _markdown(match[1] if pattern is _DEFINITION else match[2])


def _wiki(inner: str, key: str = "") -> Link:
    path = inner.replace("\\|", "|").partition("|")[0]  # in a table the bar is escaped
    target, _, anchor = path.partition("#")
    return Link(target.strip(), anchor.strip(), key=key)


def _markdown(target: str) -> Link:
    target = target.removeprefix("<").removesuffix(">")
    if _SCHEME.match(target):
        return Link(target, "", external=True)
    path, _, anchor = target.partition("#")
    return Link(unquote(path), unquote(anchor))


def _strings(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif is_list(value):
        for inner in value:
            yield from _strings(inner)
