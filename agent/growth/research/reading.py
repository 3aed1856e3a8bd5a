"""What a research reads: where it is found, its text, how much it counts by its address, and the parts of it that fit a
question best. The lists of hosts and the orders of trust are in `configs/research.yaml`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import sqrt
from typing import Literal, TypeAlias, cast
from urllib.parse import urlsplit

import yaml

from agent.config.resources import resource
from agent.dataclass import dataclass

Authority: TypeAlias = Literal[
    "own", "paper", "official", "encyclopaedia", "report", "blog", "news", "forum", "code", "page"
]
"""What a source is: the person's own notes, or by its address what stands there; `page` is any other one."""
_SECOND = frozenset(("co", "com", "org", "net", "ac", "edu", "gov"))
"""Second parts of a name below which names are registered, as in example.co.uk."""
_LEAST = 4
"""The letters of a topic's word from which on a host of that name counts as its own."""
_PARAGRAPH = 700
"""Characters up to which lines are kept together."""
_SHORTEST, _SHORTEST_CHINESE, _LONGEST = 15, 6, 400
"""Characters of a sentence that can be quoted."""
_NUMBERS = re.compile(r"\[\s?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\s?\]|[【［]\d{1,3}[】］]")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,1000}\)")
_WIKI = re.compile(r"(!?)\[\[(?:[^\[\]|\n]{0,300}[#/])?([^\[\]|\n#/]{0,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_MARKS = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)*|\*\*|`")
_END = re.compile(
    r"(?:[.!?](?=[\s\"”’)*_\]]*(?:\s|$))|[。！？；])[\"”’」』)）*_]*(?:\s?\[\d[\d\s,，、;-]{0,40}\])*(?:[.。](?=\s|$))?"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|dr|mr|mrs|ms|prof|st|no|nos|fig|figs|eq|approx|ca|al|inc|ltd|co|corp|jr|sr|u\.s|u\.k"
    r"|a\.m|p\.m|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|vol|pp|ed|est)|\b[A-Z])\.$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Something that a search has found, and its text once it was read. `address` is a path in the vault, a path in a
    folder, or a URL; `number` is its number in the report, from 1 (0: it was not read).

    `excerpt` is what the search shows of it, `date` the day that it gives (YYYY-MM-DD, empty for none). `text` is empty
    until it is read, and `origin` names the stranger whose text it is (empty: the person's own). `is_excerpt`: the
    source itself could not be read, and `text` is its excerpt.
    """

    address: str
    title: str = ""
    excerpt: str = ""
    date: str = ""
    authority: Authority = "page"
    text: str = ""
    origin: str = ""
    number: int = 0
    is_excerpt: bool = False

    @property
    def is_public(self) -> bool:
        """True for a page of the web."""
        return self.address.startswith(("http://", "https://"))

    @property
    def is_strong(self) -> bool:
        """True for a source whose word weighs by itself."""
        return self.authority in ("own", "paper", "official", "encyclopaedia")

    @property
    def house(self) -> str:
        """The publisher of a source: the host of a page, or the note itself."""
        return _host(self.address) or self.address


def authority_of(address: str, topic: str) -> Authority:
    """The kind of source at a URL. A host whose registered name is a word of the topic is the official one."""
    parts = _host(address).removeprefix("www.").split(".")
    for name in (".".join(parts[at:]) for at in range(len(parts))):
        if kind := _kinds().get(name) or _kinds().get(f".{name}"):
            return kind
    if parts[0] in _listed("parts")["blog"]:
        return "blog"
    before, registered = ["", "", *parts][-3:-1]
    registered = before if registered in _SECOND and before else registered
    return "official" if len(registered) >= _LEAST and registered in words_of(topic) else "page"


def ranked(found: Iterable[Reading], kind: str) -> list[Reading]:
    """The results with the most trusted first, as a kind of research orders them; beyond two of one house (for a fact,
    one) the others come first, since two pages of one house are no two witnesses."""
    per_house = 1 if kind == "fact" else 2
    order = _listed("orders")[kind]
    known = list({each.address: each for each in found}.values())
    known.sort(key=lambda each: order.index(each.authority) if each.authority in order else len(order))
    counts: dict[str, int] = {}
    first: list[Reading] = []
    rest: list[Reading] = []
    for each in known:
        counts[each.house] = counts.get(each.house, 0) + 1
        (first if counts[each.house] <= per_house else rest).append(each)
    return first + rest


def _host(address: str) -> str:
    with suppress(ValueError):
        return urlsplit(address).hostname or ""
    return ""


@cache
def _kinds() -> Mapping[str, Authority]:
    """What stands on the hosts of these names."""
    return {name: cast(Authority, kind) for kind, names in _listed("hosts").items() for name in names}


@cache
def _listed(part: str) -> Mapping[str, Sequence[str]]:
    """The words of each list in a part of the file, by the name of the list; their order counts."""
    found = yaml.load((resource("configs") / "research.yaml").read_bytes(), yaml.CSafeLoader)
    return {name: str(words).split() for name, words in found[part].items()}


def split_sentences(line: str) -> list[str]:
    """The sentences of one line, each with the numbers of sources behind it; joined, they are the line."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(line):
        until = end.end()
        if line[end.start()] == "." and _ABBREVIATION.search(line[start : end.start() + 1]):
            continue
        found.append(line[start:until])
        start = until
    if line[start:].strip() or not found:
        found.append(line[start:])
    else:
        found[-1] += line[start:]
    return found


def without_reference_marks(text: str) -> str:
    """The text without numbers in brackets: in a report they stand for its own sources, and a page may have some."""
    return _NUMBERS.sub("", text)


def fitted(texts: Mapping[int, str], query: str, room: int) -> dict[int, str]:
    """The texts with an equal share of so many characters each; what short ones leave goes to the long ones."""
    left, shares = room, dict[int, int]()
    by_size = sorted(texts, key=lambda number: len(texts[number]))
    for at, number in enumerate(by_size):
        shares[number] = min(len(texts[number]), left // (len(by_size) - at))
        left -= shares[number]
    return {number: _best_passages(text, query, shares[number]) for number, text in texts.items()}


def best_sentences(text: str, query: str, most: int) -> list[str]:
    """The sentences of a text with most of the query's words, at most so many, in their order; none without one."""
    words = words_of(query)
    found = [" ".join(each.split()) for row in _prose(text) for each in split_sentences(row)]
    fit = list(dict.fromkeys(filter(_is_quotable, found)))
    rated = [(-len(words & words_of(each)), at) for at, each in enumerate(fit)]
    best = sorted(each for each in rated if each[0])[:most]
    return [fit[at] for at in sorted(at for _, at in best)]


def _best_passages(text: str, query: str, room: int) -> str:
    """At most `room` characters of a text: its beginning, which says what it is, and what has most of the query's
    words."""
    if len(text) <= room:
        return text
    pieces, words = _pieces(text), words_of(query)
    scores = [len(words & words_of(piece)) / sqrt(1 + len(piece) / _PARAGRAPH) for piece in pieces]
    scores[0] += 2.0
    chosen: set[int] = set()
    left = room
    for at in sorted(range(len(pieces)), key=lambda at: (-scores[at], at)):
        if len(pieces[at]) + 2 <= left:
            chosen.add(at)
            left -= len(pieces[at]) + 2
    if not chosen:
        return pieces[0][:room]
    first = min(chosen)
    passages = pieces[first]
    for at in sorted(chosen - {first}):
        passages += ("\n" if at - 1 in chosen else "\n[…]\n") + pieces[at]
    return passages[:room]


def _is_quotable(sentence: str) -> bool:
    return (_SHORTEST if sentence.isascii() else _SHORTEST_CHINESE) <= len(sentence) <= _LONGEST


def _prose(text: str) -> Iterator[str]:
    """The lines of a text that are sentences, as a reader sees them: no code, no rows of tables, no headings; of a link
    between notes its words, and nothing of a note that is put in."""
    is_code = False
    for row in text.split("\n"):
        if row.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and not row.lstrip().startswith(("|", "#")):
            plain = _LINK.sub(r"\1", without_reference_marks(row))
            yield _MARKS.sub("", _WIKI.sub(lambda link: "" if link[1] else link[3] or link[2], plain))


def _pieces(text: str) -> list[str]:
    """The text in paragraphs; a long one is cut at its lines or sentences."""
    pieces: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        part = ""
        for mark, each in _lines(block):
            if part and len(part) + len(each) > _PARAGRAPH:
                pieces.append(part)
                part = ""
            part += (mark if part else "") + each[: _PARAGRAPH * 4]
        pieces.append(part)
    return [each for each in pieces if each.strip()] or [text]


def _lines(block: str) -> Iterator[tuple[str, str]]:
    """The lines of a block, long ones in their sentences, each with what stands before it."""
    for row in block.split("\n"):
        first, *rest = split_sentences(row) if len(row) > _PARAGRAPH else [row]
        yield "\n", first
        yield from (("", each) for each in rest)


_WORD = re.compile(r"[a-z0-9\u00c0-\u024f\u0370-\u04ff]{3,}")
_HAN = re.compile(r"[\u3400-\u9fff]{2,}")


def words_of(text: str) -> frozenset[str]:
    """The words of a text by which its subject is known: of three letters and more, in Chinese pairs of characters."""
    plain = text.casefold()
    pairs = (run[at : at + 2] for run in _HAN.findall(plain) for at in range(len(run) - 1))
    return frozenset((*_WORD.findall(plain), *pairs))
