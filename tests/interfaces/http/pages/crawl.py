"""Goes through the dashboard by its own table of pages: from the pages without a name in their address, along every
link, form and part that is loaded later; so a new page is found without being named."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urljoin, urlsplit

from agent.interfaces.http.pages.frame import FOLDER
from agent.interfaces.http.pages.page import Page
from agent.interfaces.http.pages.routes import DEEDS, PAGES
from tests.interfaces.http.pages.house import House

_NAMED = re.compile(r"\{(\w+)(:path)?\}")
_FIELD = re.compile(r'\bname="([a-z_]+)"|[?&]([a-z_]+)=')
_OURS = re.compile(r"/assets/\w+/[\w./-]+")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_TYPED = re.compile(r"<textarea.*?</textarea>|value=\"[^\"]*\"", re.DOTALL)
"""What a form sends back as it is, and must not change."""
_TAGS = frozenset({"script", "iframe", "object", "embed", "base", "style", "frame", "applet", "video", "audio"}) | {
    "annotation", "annotation-xml", "semantics", "mglyph",
}  # fmt: skip


def fields() -> tuple[str, ...]:
    """The names of all fields that any page sends or is asked with."""
    found = {name for path in sorted((FOLDER / "templates").glob("*.html")) for each in _FIELD.findall(path.read_text())
             for name in each if name}  # fmt: skip
    return tuple(sorted(found - {"viewport", "theme"}))


def page_of(address: str) -> Page | None:
    """The page that answers at an address."""
    path = urlsplit(address).path
    return next((page for page in PAGES if _pattern(page.path).fullmatch(path)), None)


def _pattern(path: str) -> re.Pattern[str]:
    parts, end = [], 0
    for found in _NAMED.finditer(path):
        parts += [re.escape(path[end : found.start()]), ".+" if found[2] else "[^/]+"]
        end = found.end()
    return re.compile("".join((*parts, re.escape(path[end:]))))


@dataclass
class Crawl:
    """What was found: the addresses of each page, and what is wrong with the source of some."""

    addresses: dict[str, list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def missing(self) -> set[str]:
        """The pages that no other page leads to."""
        return {page.name for page in PAGES} - self.addresses.keys()


def crawl(house: House, texts: list[str], most: int) -> Crawl:
    """Look at the source of at most so many addresses of each page, and at each page asked for by the texts."""
    found, waiting, known = Crawl(), deque(_asked_with(texts)), set[str]()
    waiting.extendleft(page.path for page in PAGES if "{" not in page.path)
    while waiting:
        address = waiting.popleft()
        page = page_of(address)
        if page is None or address in known or len(found.addresses.setdefault(page.name, [])) >= most:
            continue
        known.add(address)
        found.addresses[page.name].append(address)
        source = _source(house, address)
        found.wrong += [f"{address}: {each}" for each in faults(source)]
        waiting.extend(each for each in links(source, address) if each not in known)
    return found


def _asked_with(texts: list[str]) -> Iterator[str]:
    """Each page with a text in the place of every name in its address, and of every field that it may be asked with."""
    names = fields()
    for number, page in enumerate(PAGES):
        text = texts[number % len(texts)][:60]
        yield _NAMED.sub(quote(text, safe="", errors="replace"), page.path)
        yield f"{_NAMED.sub('x', page.path)}?{urlencode(dict.fromkeys(names, text))}"


def _source(house: House, address: str) -> str:
    try:
        return house.fetch(address)
    except HTTPError as error:
        with error:
            assert error.code < 500, f"{address}: {error.code}"
            return error.read().decode()


@dataclass
class _Element:
    tag: str
    attributes: dict[str, str]
    form: int = 0
    """The number of the form in which it stands; 0 for none."""
    text: str = ""

    def __str__(self) -> str:
        return f"<{self.tag} {self.attributes}>"[:200]


class _Source(HTMLParser):
    """The elements of a page's source."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[_Element] = []
        self._forms = self._form = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "form":
            self._forms += 1
            self._form = self._forms
        self.elements.append(_Element(tag, {name: value or "" for name, value in attrs}, self._form))

    def handle_endtag(self, tag: str) -> None:
        self._form = 0 if tag == "form" else self._form

    def handle_data(self, data: str) -> None:
        if self.elements:
            self.elements[-1].text += data


def links(source: str, address: str) -> list[str]:
    """The addresses of this server to which a page leads: links, parts that it loads later, forms that only ask."""
    elements = _Source(source).elements
    named = [each.attributes[name] for each in elements for name in ("href", "hx-get") if name in each.attributes]
    for form in elements:
        action = form.attributes.get("action") if form.tag == "form" else None
        if action is not None and form.attributes.get("method", "get") == "get":
            names = [each.attributes.get("name") for each in elements if each.form == form.form]
            named.append(f"{action}?{urlencode({name: 'tea' for name in names if name})}")
    absolute = (urlsplit(urljoin(f"http://x{address}", each)) for each in named if not each.startswith("#"))
    return [f"{each.path}?{each.query}" if each.query else each.path for each in absolute if each.netloc == "x"]


def faults(source: str) -> Iterator[str]:
    """What no page of ours has in its source, whoever wrote what it shows."""
    if found := _UNSEEN.search(_TYPED.sub("", source)):
        yield f"has the character {ascii(found[0])} as it is"
    elements = _Source(source).elements
    nonce = next((each.attributes.get("nonce", "-") for each in elements if each.tag == "script"), "-")
    for each in elements:
        is_ours = each.tag == "script" and _OURS.fullmatch(each.attributes.get("src", "")) and not each.text.strip()
        if each.tag in _TAGS and not is_ours:
            yield f"has {each}"
        if each.tag == "meta" and each.attributes.get("http-equiv", "").lower() == "refresh":
            yield f"has {each}"
        for name, value in each.attributes.items():
            if name.startswith(("on", "data-hx")) or name in {"style", "srcdoc", "ping"}:
                yield f"has {name} in {each}"
            elif name.startswith("hx-") and name != "hx-nonce" and each.attributes.get("hx-nonce") != nonce:
                yield f"has {name} without our nonce in {each}"
            elif name in {"href", "src", "action", "formaction", "poster", "data"} and not _may_lead(each, name, value):
                yield f"leads to {value[:100]} in {each}"


def _may_lead(element: _Element, name: str, value: str) -> bool:
    """True for an address of this server, and for a link (nothing else) to the web."""
    scheme = value.partition(":")[0].lower() if re.match(r"\s*[a-z][a-z0-9+.-]*:", value, re.IGNORECASE) else ""
    if scheme:
        return element.tag == "a" and name == "href" and scheme in {"http", "https", "mailto", "obsidian"}
    return not value.strip().startswith("//")


def deeds() -> tuple[str, ...]:
    """The paths of all buttons."""
    return tuple(_NAMED.sub("x", deed.path) for deed in DEEDS)
