"""The links of a note: wikilinks, embeds, Markdown links and plain addresses, in the body and in header values.

Targets are given as written; finding the note of a target needs the vault and is not done here.
"""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.markdown import frontmatter, inline
from agent.markdown.blocks import Body
from agent.markdown.values import Value, is_list

# Every pattern is linear: its parts match disjoint characters, or are possessive (`*+`).
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]++(?:[\[\]](?![\[\]])[^\[\]\n]*+)*+)\]\]")
_MARKDOWN = re.compile(
    r"(!?)\[((?:[^\[\]\n]++|\[[^\[\]\n]*+\])*+)\]"
    r"\([ \t]*+(<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?[ \t]*+\)"
)
_DEFINITION = re.compile(r"^[ ]{0,3}\[([^\[\]\n^][^\[\]\n]*+)\]:[ \t]*+(<[^<>\n]*+>|[^\s<>]++)", re.MULTILINE)
_ADDRESS = re.compile(r"https?://[^\s<>\0\"\]]++")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:")


@dataclass(frozen=True, slots=True)
class Link:
    """One link. `target` is a note or file as written, decoded (`""`: this note itself), or a whole address.

    `anchor` is a heading (`Plan`, `Plan#Week 1`) or a block (`^id`); `text` is the display text, if any;
    `line` counts from 1 in the file; `key` is the header's key that holds the link, `""` in the body.
    """

    target: str
    anchor: str
    text: str
    line: int
    embed: bool = False
    wiki: bool = False
    external: bool = False
    key: str = ""


def find_links(body: Body) -> tuple[tuple[Link, ...], str]:
    """The body's links in the order of their lines, and the visible text without the links (for tags)."""
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


def find_header_links(data: bytes) -> tuple[Link, ...]:
    """The wikilinks in a note's header values, by Obsidian's rules; none when the header cannot be parsed."""
    parts = frontmatter.split(data)
    if b"[[" not in parts.header:
        return ()
    try:
        entries = frontmatter.entries(parts)
    except BadNote:
        return ()
    links: list[Link] = []
    for entry in entries:
        places = [(item.value, item.start) for item in entry.node.items] or [(entry.value, entry.node.start)]
        text = frontmatter.text_of(parts.header)
        for value, start in places:
            line = 2 + text.count("\n", 0, start)
            for string in _strings(value):
                for link in _WIKI.finditer(string):
                    links.append(_wiki(link[1], link[2], line, entry.key))
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
            if pattern is _MARKDOWN and "](" in match[2]:  # an image in a link's text
                inner = _MARKDOWN.finditer(rest, match.start(2), match.end(2))
                found.extend((each.start(), each_link) for each in inner if (each_link := _link(_MARKDOWN, each, body)))
    return inline.blank(rest, spans) if spans else rest


def _link(pattern: re.Pattern[str], match: re.Match[str], body: Body) -> Link | None:
    line = body.line_at(match.start())
    if pattern is _WIKI:
        return _wiki(match[1], body.text[match.start(2) : match.end(2)], line)
    if pattern is _ADDRESS:
        address = match[0].rstrip(".,;:!?)'*_。，；：！？）」』》")
        return Link(address, "", "", line, external=True) if len(address) > len("https://") else None
    if pattern is _DEFINITION:
        return _markdown("", match[2], match[1], line)
    return _markdown(match[1], match[3], body.text[match.start(2) : match.end(2)], line)


def _wiki(mark: str, inner: str, line: int, key: str = "") -> Link:
    path, _, text = inner.replace("\\|", "|").partition("|")  # in a table the bar is escaped
    target, _, anchor = path.partition("#")
    return Link(target.strip(), anchor.strip(), text.strip(), line, embed=mark == "!", wiki=True, key=key)


def _markdown(mark: str, target: str, text: str, line: int) -> Link:
    target = target.removeprefix("<").removesuffix(">")
    if _SCHEME.match(target):
        return Link(target, "", text, line, embed=mark == "!", external=True)
    path, _, anchor = target.partition("#")
    return Link(unquote(path), unquote(anchor), text, line, embed=mark == "!")


def _strings(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif is_list(value):
        for inner in value:
            yield from _strings(inner)
