"""What an editor loads or runs when it shows a note, found by rendering it in several ways and reading the HTML.

It knows what loads, and errs on the side of finding too much; what decides in the program knows what does not.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from markdown_it import MarkdownIt

_HEADER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_KEYS = re.compile(r"(?im)^[\"']?(?:cssclass(?:es)?|publish|banner\w*|cover\w*|image|thumbnail|icon|poster)[\"']?\s*:")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_NOTE = re.compile(r"(?m)^[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*\[\^[^\]\n]+\]:")
_EMBED = re.compile(r"(?<!\\)!\[\[([^\]\n]+)\]\]")
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)(?:\\!(?=\\?\[)|!(?=\\\[))(\\?)\[")
"""An exclamation mark and a bracket that are no picture and no embed, as one of them is escaped."""
_QUIET = re.compile(r"[^|#:\\]+\.(?:png|jpe?g|gif|webp|bmp|avif)", re.IGNORECASE)
_RUN = re.compile(
    r"base|dataview|dataviewjs|query|tasks|button|meta-bind|mermaid|excalidraw|ad-|run-|chart|ics|leaflet|embed|jsx|vue"
    r"|svg|tikz|templater|js-engine|customjs",
    re.IGNORECASE,
)
_STYLES = re.compile(r"\\(?:style|class|cssId|href|includegraphics)\b")
_FAR = re.compile(r"//|\\|^\s*[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"\s*(?:https?:|mailto:|%5B|[^:]*$|[^:]*#)", re.IGNORECASE)


class _Any(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return True


class _Page(HTMLParser):
    """The tags of a page that load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.in_code = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        shown = self.get_starttag_text() or tag
        if tag == "code":
            self.in_code = values.get("class", "inline").removeprefix("language-")
            if self.in_code != "inline" and _RUN.match(self.in_code):
                self.found.append(f"```{self.in_code}")
        elif tag == "img":
            self.found += [f"<img {values.get('src')}>"] if _FAR.search(values.get("src", "")) else []
        elif tag == "a":
            self.found += [] if _WEB.match(values.get("href", "")) else [shown]
        elif any(name not in {"align", "start", "title", "class", "alt", "type"} for name in values) or tag in {
            "script", "iframe", "object", "embed", "style", "svg", "video", "audio", "link", "meta", "base", "input",
        }:  # fmt: skip
            self.found.append(shown)

    def handle_endtag(self, tag: str) -> None:
        self.in_code = "" if tag == "code" else self.in_code

    def handle_data(self, data: str) -> None:
        if self.in_code == "inline" and re.match(r"\s*(?:=|\$=)", data):
            self.found.append(f"`{data}`")
        if not self.in_code:
            self.found += [data] if "$" in data and _STYLES.search(data) else []
            self.found += [found[0] for found in _EMBED.finditer(data) if not _QUIET.match(found[1])]


def loading(data: bytes) -> set[str]:
    """The pieces of a note that load or run something."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    found = {each[0] for each in re.finditer(r"<%.*", text)}
    header = _HEADER.match(text)
    body = text[header.end() :] if header else text
    found |= {each[0] for each in _KEYS.finditer(header[1])} if header else set()
    for shown in dict.fromkeys((body, _COMMENT.sub("", body), _NOTE.sub("", body))):
        for preset in ("commonmark", "tables"):
            found |= set(_of_page(_rendered(_ESCAPED.sub(r"\1! \2[", shown), tables=preset == "tables")))
    return found


def _rendered(text: str, *, tables: bool) -> str:
    parser = _Any("commonmark", {"html": True, "maxNesting": 200})
    return str((parser.enable("table") if tables else parser).render(text))


def _of_page(page: str) -> Iterator[str]:
    reader = _Page()
    reader.feed(page)
    reader.close()
    yield from reader.found
