"""What a Markdown editor loads or runs by itself when a note is shown, found in a way of its own: by parsing.

It errs on the side of finding too much, as a judge of attacks should.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from markdown_it.token import Token

_REMOTE = re.compile(r"//|\b(?:https?|ftp|file|data):", re.IGNORECASE)
_PICTURES = re.compile(
    r"(?im)^[ \t-]*[\"']?[\w-]*(?:cover|banner|image|img|thumb|icon|poster|background)[\w-]*[\"']?\s*:.*"
)
_SCRIPTS = ("dataviewjs", "js-engine", "templater", "run-", "meta-bind-js", "customjs")


class _Html(HTMLParser):
    """Tags with an attribute that is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "iframe", "frame", "object", "embed", "link", "base", "meta", "style"}:
            self.found.add(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or (name not in {"href", "title", "alt"} and _REMOTE.search(value or "")):
                self.found.add(f"<{tag} {name}={value}>")


def active(path: str, data: bytes) -> set[str]:
    """The pieces that load or run something."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if path.endswith(".canvas"):
        return {found[0] for found in re.finditer(r"//|\\u|!\[|<", text)}
    if path.endswith(".base"):
        return {found[0] for found in re.finditer(r"//", text)}
    if path.startswith(("sessions/", "approvals/", "questions/")):
        return set(_parsed(text))
    header = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    found = set(_parsed(text[header.end() :] if header else text))
    if header:
        found |= {line[0] for line in _PICTURES.finditer(header[1]) if _REMOTE.search(line[0])}
    return found


def _parsed(text: str) -> Iterator[str]:
    for token in MarkdownIt("commonmark", {"html": True}).parse(text):
        if token.type == "fence":
            yield from _fence(token.info.strip().casefold(), token.content)
        for part in (token, *(token.children or ())):
            yield from _part(part)


def _fence(language: str, content: str) -> Iterator[str]:
    if language.strip("{}").startswith(_SCRIPTS):
        yield f"```{language}"
    if language.startswith("mermaid") and re.search(r"\bimg\b[^\n]*//|<img", content):
        yield "```mermaid with a picture"


def _part(part: Token) -> Iterator[str]:
    if part.type == "image" and _REMOTE.match(str(part.attrs.get("src", ""))):
        yield f"![]({part.attrs['src']})"
    if part.type in {"html_block", "html_inline"}:
        reader = _Html()
        reader.feed(part.content)
        yield from reader.found
        if re.search(r"(?:url|image-set|src)\s*\(|@import", part.content, re.IGNORECASE):
            yield part.content[:80]
    if (part.type == "code_inline" and part.content.startswith("$=")) or (part.type == "text" and "<%" in part.content):
        yield part.content[:80]
