"""The parts of a text or a note that are not known to do nothing when an editor shows them.

A part is given as text that is the same wherever it stands, so that two versions of a note can be compared. Code counts
as code only where all editors agree: a block at the left margin that is closed. All other code is read as text, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote

from agent.escape import escape_line
from agent.lazy import later
from agent.markdown import blocks
from agent.markdown.note import Note
from agent.markdown.requests import may_ask, open_requests

if TYPE_CHECKING:
    from markdown_it.token import Token

    from agent.markdown.inertness.readings import parsed, parsed_line
    from agent.markdown.yaml_write import Value
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
"""Marks that an editor may pair across the end of a code block, which is then none; so may it two `$$`. The program's
own records in a note begin with one, too."""
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
        if key.casefold() not in HEADER_KEYS or not all(map(_is_plain, _values(value))):
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
    return not (isinstance(value, str) and _SCHEME.match(value) and not is_link(value))


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
    yield from (found[0] for found in _EMBED.finditer(outside) if not is_embedded_picture(found[1]))
    yield from (found[0] for found in _FIELD.finditer(outside) if not _is_plain_field(found[1]))
    yield from (found[0] for found in _DEFINITION.finditer(outside) if not is_link(unescape(found[1])))
    if "$$" in outside and not is_formula(text if is_crossed else outside):
        yield text
    for fence in fences:
        yield from _code_parts(fence, depth, is_code=_is_closed(fence, lines) and not is_crossed)
    for token in tokens:
        if token.level > _NESTED or (token.type == "inline" and _is_tangled(token.content)):
            yield token.content or text
        elif token.type == "html_block":
            yield from () if is_plain_html(token.content) else (token.content,)
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
    return key.strip().casefold() in HEADER_KEYS


def _is_closed(fence: "Token", lines: Sequence[str]) -> bool:
    """True for a code block at the left margin, in no list and no quote, which ends with a mark of its own."""
    begin, end = fence.map or (0, 0)
    closing = _CLOSING.fullmatch(lines[end - 1]) if end - begin > 1 else None
    is_at_margin = fence.level == 0 and lines[begin].startswith(fence.markup)
    return is_at_margin and closing is not None and closing[1].startswith(fence.markup)


def _code_parts(fence: "Token", depth: int, *, is_code: bool) -> Iterator[str]:
    language = fence.info.strip(" \t")
    if language and language.casefold() not in LANGUAGES:
        yield f"```{language}\n{fence.content}"
    elif not is_code and _MARKS.search(fence.content):
        yield from _parts(fence.content, depth - 1).elements() if depth else (fence.content,)


def _inline_parts(token: "Token") -> Iterator[str]:
    text = token.content
    if ("$" in text and not is_formula(text)) or text.count("$$") % 2:
        yield text
    if (callout := _CALLOUT.match(text)) and callout[1].strip().casefold() not in CALLOUTS:
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
            yield from () if is_picture(address) else (f"![]({address})",)
            yield from _leaf_parts(token.children or ())
        elif token.type == "link_open" and not is_link(str(token.attrs["href"])):
            yield f"[]({token.attrs['href']})"
        elif token.type == "html_inline" and not is_plain_html(content):
            yield content
        elif token.type == "code_inline" and not is_code(content):
            yield f"`{content}`"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGES = _words(
    """
    asm awk bash bat batch c c# c++ clojure cmake cmd console conf cpp cs csharp css csv cxx dart diff dockerfile
    elixir elm erlang fish fortran fsharp go golang gradle graphql groovy h haskell hcl hpp html http ini java
    javascript js json json5 jsonc julia kotlin kt less lisp log lua make makefile markdown matlab md nim nix objc
    objective-c ocaml pascal patch perl php plain plaintext powershell properties proto protobuf ps1 py python
    python3 r rb regex rs ruby rust sass scala scheme scss sh shell solidity sql swift tcl terminal terraform text
    toml ts tsv txt typescript vb verilog vhdl vim xml yaml yml zig zsh
    """
)
"""Languages of code blocks that are only coloured: those of programs, data and plain text. Left out are those that an
editor draws (`mermaid`, which can hold pictures of the web, and `svg`) and those that plugins run (`jsx`, `vue`)."""
CALLOUTS = _words(
    """
    abstract attention bug caution check cite danger done error example fail failure faq help hint important info
    missing note question quote success summary tip tldr todo warning
    """
)
HEADER_KEYS = _words(
    """
    address alias aliases amount area attendees author authors calories category channel city client completed
    country course created currency date deadline description doi due duration edition editor email end events
    format genre id ingredients isbn journal kind lang language last_modified level link links location modified
    name notes number organisation organization page pages participants people phone place price priority progress
    project projects published publisher quantity rating read recipe related review reviewed role scheduled season
    series servings site source sources start started state status subject subtitle summary tag tags time title to
    topic topics total translator type unit until updated url urls venue version volume week weight when where who
    year 作者 分类 日期 时间 标签 标题 来源 状态 类型 别名 主题 项目 地点 描述 摘要 评分 进度 链接
    """
)
"""Header keys that are words about the note. Left out are those that an editor acts on: `cssclasses`, `publish`,
`banner`, `cover`, `image`, `icon`, and what a plugin may yet read."""
_PICTURES = "png|jpe?g|gif|webp|bmp|avif"
_PICTURE = re.compile(rf"(?!/)(?!.*//)[\w /.,()'&+@=!\-\u2013\u2014]+\.(?:{_PICTURES})", re.IGNORECASE)
_EMBEDDED = re.compile(r"[^|#]+")
_WEB = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)
_NOTE = re.compile(r"(?!//)(?:[^:\\\x00-\x1f#]*)(?:#[^\\\x00-\x1f]*)?")
_TAGS = re.compile(
    r"</?(?:b|br|code|del|em|i|ins|kbd|mark|s|strong|sub|sup|u)[ ]{0,8}/?>|<https?://[^\s<>]*>", re.IGNORECASE
)
_QUERY = re.compile(r"\s*(?:=|\$=|button-|[A-Z][A-Z_]+\[)")
"""Inline code that Dataview, Buttons and Meta Bind run."""
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_TEX = _words(
    """
    alpha approx ast bar because begin beta big Big bigg Bigg bigl bigr binom bmod boldsymbol bot bullet cap cases
    cdot cdots chi circ cong cos cosh cot cup ddot ddots deg delta Delta det dfrac dim displaystyle div dot dots ell
    emptyset end epsilon equiv eta exists exp forall frac gamma Gamma gcd ge geq gg hat hbar hline hspace iff iiint
    iint implies in inf infty int kappa ker lambda Lambda land langle lceil ldots le left Leftarrow leftarrow
    Leftrightarrow leftrightarrow leq lfloor lg lim liminf limits limsup ll ln lnot log longrightarrow lor mapsto
    mathbb mathbf mathbin mathcal mathfrak mathit mathop mathrm mathsf matrix max mid middle min mod models mp mu
    nabla ne neg neq ni nolimits not notin nu odot oint omega Omega oplus operatorname otimes overbrace overline
    parallel partial perp phi Phi pi Pi pm pmatrix pmod Pr prime prod propto psi Psi qquad quad rangle rceil Re
    rfloor rho right Rightarrow rightarrow rm setminus sigma Sigma sim simeq sin sinh sqrt star subset subseteq sum
    sup supset supseteq tan tanh tau text textbf textit textrm textstyle tfrac therefore theta Theta tilde times to
    top triangle underbrace underline upsilon varepsilon varphi varrho vartheta vdots vec vee Vert vert wedge
    widehat widetilde wp xi Xi zeta
    """
)
"""Commands of formulas that set type. Left out are those that style, link or load: `style`, `class`, `href`."""


def is_picture(target: str) -> bool:
    """True for an address of a picture that can be nothing but a file in the vault."""
    return _PICTURE.fullmatch(unquote(target)) is not None


def is_embedded_picture(target: str) -> bool:
    """True for the target of an embed (`![[…]]`), with its size, that is a picture in the vault."""
    found = _EMBEDDED.match(target)
    return found is not None and is_picture(found[0].strip())


def is_link(address: str) -> bool:
    """True for an address of the web, of mail, or of a note in the vault."""
    return _WEB.fullmatch(address) is not None or _NOTE.fullmatch(unquote(address)) is not None


def is_plain_html(markup: str) -> bool:
    """True if all tags are plain ones, such as `<br>`, without attributes."""
    return "<" not in _TAGS.sub("", markup)


def is_code(content: str) -> bool:
    """True for inline code that no plugin takes for a query."""
    return _QUERY.match(content) is None


def is_formula(text: str) -> bool:
    """True if the formulas that may be in the text set type and do nothing else."""
    return all(len(name) == 1 or name in _TEX for name in _COMMAND.findall(text))


TEMPLATE = "<%"
"""A template plugin runs what begins with this in each new note, also in a code block."""
_BELOW = "Below."
_RUNS_OF_TICKS = re.compile(r"`{3,}")


def inert(text: str) -> str:
    """The text, in a code block if an editor showing it would fetch or run something, or hide the text below: an
    untrusted author may have put a secret into an address. A `TEMPLATE` in it is left to whoever writes it."""
    return fenced(text) if _acts(text) else text


def inert_blocks(text: str) -> str:
    """The text with only those of its blocks in code blocks that would fetch, run or hide something, so that the rest
    is shown as it was meant; all of it, if its blocks do so together."""
    text = text.replace(TEMPLATE, "< %")
    if not _acts(text):
        return text
    blank = (kind == "blank" for kind in blocks.parse_body(text).kinds)
    rows = zip(blank, text.split("\n"), strict=True)
    parts = ["\n".join(row for _, row in some) for is_blank, some in groupby(rows, itemgetter(0)) if not is_blank]
    made = "\n\n".join(map(inert, parts))
    return inert(text) if _acts(made) else made


def inert_line(text: str) -> str:
    """The text on one line, escaped, without characters that make an editor fetch, run or hide something."""
    flat = escape_line(" ".join(text.split()))  # an escape may be a command of a formula: it is judged as it stands
    return " ".join(without_marks(flat).split()) if _acts(flat) else flat


def fenced(text: str, language: str = "text") -> str:
    """The text in a code block that it cannot end."""
    longest = max((len(ticks) for ticks in _RUNS_OF_TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _acts(text: str) -> bool:
    """True if a note with the text would fetch or run something, or hide the text below it."""
    if _CROSSING.search(text) or blocks.parse_body(f"{text}\n\n{_BELOW}").kinds[-1] != "text":
        return True
    return bool(active_parts(text))
