"""Text of notes as HTML that does nothing: no markup of the text's own, and links only to notes and to the web.

Obsidian's forms are rendered too: wikilinks, callouts that fold, tasks, highlights, footnotes, formulas, comments (left
out). Pictures that lie in the
vault are shown, once they come into view; drawings (SVG) and pictures of the web are links, so that nothing is loaded
from elsewhere.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from agent.dataclass import dataclass
from agent.deeds.note_edits import box_text
from agent.escape import escape
from agent.interfaces.http.pages.anchors import fragment, mark_place
from agent.interfaces.http.pages.formulas import formula_html
from agent.interfaces.http.pages.page import PageRequest
from agent.vault.note_names import NoteNames, path_from
from agent.vault.pictures import is_bitmap, is_drawing

SCHEMES = frozenset({"http", "https", "mailto", "obsidian"})
"""The schemes of addresses that a link may have."""
LONGEST = 400_000
"""Characters of a text that are rendered; the rest is left to an editor."""
_CALLOUT = re.compile(r"\[!([\w-]{1,30})\]([+-]?)[ \t]*(.*)")
_TASK = re.compile(r"\[([ xX/-])\][ \t]+")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]+?)(?<=\S)==")

PICTURES = "/pictures/"
"""The beginning of a picture's address."""
_PICTURES_SHOWN = 100
"""Pictures of one text that are shown; the rest are links."""
_FORMULAS = 20_000
"""Characters of the formulas of one text that are shown as such; the rest are shown as they are written, as each
character takes a tenth of a millisecond."""
_SIZE = re.compile(r"(.*?)\|?\s*(\d{1,4})(?:x(\d{1,4}))?", re.DOTALL)

Resolve = Callable[[str], str | None]
"""The path of the note or file that a link's target means; None if there is none."""


@dataclass(slots=True)
class _Place:
    """Where a text stands: how its links are resolved, and what the address of a picture ends with; `pictures` counts
    pictures, `formulas` the characters of formulas."""

    resolve: Resolve
    end: str = ""
    pictures: int = 0
    formulas: int = 0
    boxes: dict[str, int] | None = None
    """How many boxes with each text were met, where they can be ticked."""
    anchors: set[str] | None = None
    """The ids of its headings and blocks so far, where the text is a page's own."""


def html_of(
    request: PageRequest, path: str, body: str, names: NoteNames | None = None, *, boxes: bool = False
) -> Markup:
    """The text of the note at `path` as HTML; links to notes lead to their pages, and with `boxes` each box of a task
    is a button of the form `boxes`.

    Without `names` every wikilink is taken to lead to a note, and whoever asks for a picture finds it.
    """
    place = _place(path, names)
    place.boxes = {} if boxes else None
    place.anchors = set() if names is not None else None
    text = without_comments(body[:LONGEST])
    env = {"place": place, "docId": sha256(text.encode("utf-8", "replace")).hexdigest()[:8]}
    made = escape(_parser().render(text, env))
    rest = Markup("<p><em>{}</em></p>").format(request.text("too_long")) if len(body) > LONGEST else Markup()
    return Markup(made) + rest  # the parser escapes all text, and its links are checked here


def without_comments(text: str) -> str:
    """The text without its comments, which no page shows. They go before a text is cut: half a comment is none."""
    return _COMMENT.sub("", text)


def line_html(path: str, text: str, names: NoteNames | None = None) -> Markup:
    """One line of the note at `path`, such as a property, as HTML; what it begins with makes it no heading."""
    return Markup(escape(_parser().renderInline(text[:LONGEST], {"place": _place(path, names)})))  # as above


def _place(path: str, names: NoteNames | None) -> _Place:
    if names is not None:
        return _Place(partial(names.find, path))
    return _Place(partial(_as_written, path), f"?from={quote(path, safe='', errors='surrogateescape')}")


def _as_written(source: str, target: str) -> str | None:
    plain = path_from(source, target) if ".." in target.split("/") else target.lstrip("/")
    return plain if PurePosixPath(plain).suffix or not plain else f"{plain}.md"


class _Parser(MarkdownIt):
    """Takes every address as a link: `_link` decides which of them may stay."""

    def validateLink(self, url: str) -> bool:
        return True


@cache
def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    for kind in ("fence", "code_block"):
        parser.add_render_rule(kind, _reachable)
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.inline.ruler.before("emphasis", "highlight", _highlight)
    parser.use(footnote_plugin)
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    for kind in ("math_inline", "math_inline_double", "math_block"):
        parser.add_render_rule(kind, _formula)
    parser.core.ruler.push("obsidian", _obsidian)
    return parser


def _reachable(renderer: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: EnvType) -> str:
    """A code block that can be scrolled with keys."""
    kind: Callable[..., str] = getattr(RendererHTML, tokens[number].type)
    return kind(renderer, tokens, number, options, env).replace("<pre", '<pre tabindex="0"', 1)


def _formula(renderer: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, env: EnvType) -> str:
    is_block, latex, place = tokens[number].type != "math_inline", tokens[number].content.strip(), env["place"]
    place.formulas += len(latex) + 4
    if place.formulas > _FORMULAS:
        return Markup("<code>{}</code>").format(latex)
    made = formula_html(latex, is_block=is_block)
    return Markup('<div class="formula" tabindex="0">{}</div>\n').format(made) if is_block else made


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKI.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        target, _, label = found[2].replace("\\|", "|").partition("|")
        if found[1] and (is_bitmap(target.strip()) or is_drawing(target.strip())):
            _push_picture(state, target.strip(), label)
            state.pos = found.end()
            return True
        target, _, anchor = target.partition("#")
        named = anchor.strip().removeprefix("^")
        _push_link(state, target, anchor, label.strip() or " › ".join(filter(None, (target.strip(), named))))
    state.pos = found.end()
    return True


def _push_picture(state: StateInline, target: str, label: str) -> None:
    token = state.push("image", "img", 0)
    token.attrs, token.content = {"src": quote(target, errors="surrogateescape")}, label or target
    token.meta = {"wiki": True}


def _push_link(state: StateInline, target: str, anchor: str, label: str) -> None:
    token = state.push("link_open", "a", 1)
    token.attrs = {"href": quote(target.strip(), errors="surrogateescape")}
    token.meta = {"wiki": True, "anchor": anchor}
    text = state.push("text", "", 0)
    text.content = label
    state.push("link_close", "a", -1)


def _highlight(state: StateInline, silent: bool) -> bool:
    found = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.push("mark_open", "mark", 1)
        text = state.push("text", "", 0)
        text.content = found[1]
        state.push("mark_close", "mark", -1)
    state.pos = found.end()
    return True


def _obsidian(state: StateCore) -> None:
    """Mark callouts and tasks, and check each link and picture."""
    place: _Place = state.env["place"]
    tokens = state.tokens
    for number, token in enumerate(tokens):
        if token.type == "blockquote_open":
            _callout(tokens, number)
        elif token.type == "list_item_open":
            _task(tokens, number, place)
        elif token.type == "table_open":
            token.attrSet("tabindex", "0")  # a wide one is scrolled with keys
        elif token.type == "inline" and token.children:
            if place.anchors is not None:
                mark_place(tokens, number, place.anchors)
            token.children = _checked(token.children, place)


def _callout(tokens: list[Token], number: int) -> None:
    inline = next((each for each in tokens[number + 1 : number + 3] if each.type == "inline"), None)
    first = inline.children[0] if inline is not None and inline.children else None
    found = _CALLOUT.match(first.content) if first is not None and first.type == "text" else None
    if not found or inline is None or inline.children is None or first is None:
        return
    kind = found[1].lower()
    tokens[number].attrJoin("class", f"callout callout-{kind}")
    ends = [at for at, each in enumerate(inline.children) if each.type in ("softbreak", "hardbreak")]
    has_title = bool(found[3]) or (ends[:1] or [len(inline.children)])[0] > 1
    first.content = found[3] if has_title else kind.replace("-", " ").capitalize()
    rest = inline.children[ends[0] + 1 :] if ends else []
    inline.children = inline.children[: ends[0]] if ends else inline.children
    if rest:
        begin, end = (replace(each, attrs={}, meta={}) for each in (tokens[number + 1], tokens[number + 3]))
        tokens[number + 4 : number + 4] = [begin, replace(inline, children=rest), end]
    tokens[number + 1].tag = tokens[number + 3].tag = "summary" if found[2] else "p"
    tokens[number + 1].attrSet("class", "callout-title")
    if found[2]:
        below = (tokens[at] for at in range(number + 4, len(tokens)))
        close = next(each for each in below if each.nesting < 0 and each.level == tokens[number].level)
        tokens[number].tag = close.tag = "details"
        tokens[number].attrs |= {"open": ""} if found[2] == "+" else {}


def _task(tokens: list[Token], number: int, place: _Place) -> None:
    inline = next((each for each in tokens[number + 1 : number + 3] if each.type == "inline"), None)
    if inline is None or not inline.children or inline.children[0].type != "text":
        return
    found = _TASK.match(inline.children[0].content)
    if not found:
        return
    tokens[number].attrJoin("class", "task")
    text = box_text(inline.content[found.end() :].partition("\n")[0])
    inline.children[0].content = inline.children[0].content[found.end() :]
    inline.children[:0] = [_input(text, found[1])] if place.boxes is None else _button(text, found[1], place.boxes)


def _input(text: str, state: str) -> Token:
    box = Token("task_box", "input", 0)
    box.attrs = {"type": "checkbox", "disabled": "", "aria-label": text[:80] or "-"}
    if state in "xX":
        box.attrs["checked"] = ""
    return box


def _button(text: str, state: str, met: dict[str, int]) -> list[Token]:
    """A box that sends how many boxes above say the same, what it is to be, and its text."""
    is_done, above = state in "xX", met.get(text, 0)
    met[text] = above + 1
    box = Token("task_box", "button", 1)
    wanted = "-" if is_done else "x"
    box.attrs = {
        "class": "box",
        "form": "boxes",
        "name": "box",
        "value": f"{above} {wanted} {text}",
        "role": "checkbox",
        "aria-checked": "true" if is_done else "false",
        "aria-label": text[:80] or "-",
    }
    return [box, Token("task_box_close", "button", -1)]


def _checked(children: list[Token], place: _Place) -> list[Token]:
    """The tokens of a line with every link checked; those that may not be followed become text."""
    found: list[Token] = []
    is_open: list[bool] = []
    for token in children:
        if token.type == "link_open":
            is_open.append(_may_stay(token, place.resolve))
            found += [token] if is_open[-1] else []
        elif token.type == "link_close":
            found += [token] if not is_open or is_open.pop() else []
        elif token.type == "image":
            found += _picture(token, place, bool(is_open and is_open[-1]))
        else:
            found.append(token)
    return found


def _may_stay(token: Token, resolve: Resolve) -> bool:
    address = str(token.attrs.get("href", ""))
    link = _link(address, resolve, is_wiki=bool(token.meta.get("wiki")), anchor=str(token.meta.get("anchor", "")))
    if link is None:
        return False
    token.attrs = dict(link)
    return True


def _link(address: str, resolve: Resolve, *, is_wiki: bool, anchor: str = "") -> dict[str, str | int | float] | None:
    """The attributes of a link, to a place in a note with an `anchor`; None for an address that is not followed."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if not is_wiki and (parts.scheme or parts.netloc):
        if parts.scheme.lower() not in SCHEMES:
            return None
        return {"href": address, "class": "outside", "rel": "noreferrer noopener", "target": "_blank"}
    target = unquote(address if is_wiki else parts.path)
    path = resolve(target) if target else ""
    place = fragment(anchor if is_wiki else unquote(parts.fragment))
    end = f"#{quote(place, errors='surrogateescape')}" if place else ""
    if path == "":
        return {"href": end or "#"}
    if path is None:
        return {"href": f"/notes?q={quote(target, errors='surrogateescape')}", "class": "missing"}
    return {"href": f"/notes/{quote(path, errors='surrogateescape')}{end}"}


def _picture(token: Token, place: _Place, in_link: bool) -> list[Token]:
    """A picture of the vault, or a link to another one, as nothing is loaded from elsewhere."""
    source = str(token.attrs.get("src", ""))
    described, size = _described(token)
    own = _of_vault(source, place, is_wiki=bool(token.meta.get("wiki")))
    if own is not None and is_bitmap(own) and place.pictures < _PICTURES_SHOWN:
        place.pictures += 1
        picture = Token("picture", "img", 0)
        picture.attrs = {"src": _address(own, place), "alt": described, "loading": "lazy", "decoding": "async", **size}
    else:
        picture = Token("text", "", 0)
        picture.content = described or source
    if in_link:
        return [picture]
    attrs: dict[str, str | int | float] | None
    if own is not None:
        attrs = {
            "href": _address(own, place),
            **({} if is_bitmap(own) else {"download": ""}),
            "class": "picture",
        }
    else:
        attrs = _link(source, place.resolve, is_wiki=False)
    if attrs is None:
        return [picture]
    link = Token("link_open", "a", 1)
    link.attrs = attrs
    return [link, picture, Token("link_close", "a", -1)]


def _described(token: Token) -> tuple[str, dict[str, str | int | float]]:
    """What a picture is said to show, and the size that it is to have, as in `![[roof.png|300]]`."""
    found = _SIZE.fullmatch(token.content) if "|" in token.content or token.meta.get("wiki") else None
    if found is None:
        return token.content, {}
    size: dict[str, str | int | float] = {"width": found[2], **({"height": found[3]} if found[3] else {})}
    return found[1].strip() or unquote(str(token.attrs.get("src", ""))), size


def _of_vault(source: str, place: _Place, *, is_wiki: bool) -> str | None:
    """The path of a picture or drawing of the vault; None for anything else."""
    try:
        parts = urlsplit(source)
    except ValueError:
        return None
    if not is_wiki and (parts.scheme or parts.netloc):
        return None
    target = unquote(source if is_wiki else parts.path)
    path = place.resolve(target) if is_bitmap(target) or is_drawing(target) else None
    return path if path and (is_bitmap(path) or is_drawing(path)) else None


def _address(path: str, place: _Place) -> str:
    return f"{PICTURES}{quote(path, errors='surrogateescape')}{place.end}"
