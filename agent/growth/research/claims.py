"""Checks what a model has written against what was read: each sentence needs the number of a source that was read, and
its figures and quotations must stand there.

Only that can be checked by a program: that a sentence follows from its source is left to the reader, who has the link.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.research.reading import Reading, split_sentences

Flaw: TypeAlias = Literal["no_source", "no_figure", "no_quotation"]
"""What is wrong with a sentence: no source that was read is named, or a figure or a quotation is not in those that
are."""

CITED = re.compile(r"\[(\d{1,3}(?:\s?[,，、;-]\s?\d{1,3}){0,9})\]")
"""Numbers of sources: `[3]`, `[1, 4]`, `[2-4]`."""
_WIDE = str.maketrans({"【": "[", "】": "]", "［": "[", "］": "]"})
_WIDE_CITED = re.compile(r"[【［]\s?(\d{1,3}(?:\s?[,，、;-]\s?\d{1,3}){0,9})(?:†[^】］]{0,40})?\s?[】］]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_UNITS: Mapping[str, float] = {
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3, "m": 1e6, "bn": 1e9, "千": 1e3,
    "万": 1e4, "萬": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "億": 1e8, "万亿": 1e12,
}  # fmt: skip
_UNIT = re.compile(r"\s?(thousand|million|billion|trillion|bn|k|m|百万|千万|万亿|[千万萬亿億])(?![a-z])", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"]([^“”\"\n]{12,400})[”\"]|「([^「」\n]{6,400})」")
_BLANKS = re.compile(r"[\W_]+")
_SKIPPED = re.compile(r"\s*(?:#{1,6}\s|```|~~~|\|?\s*:?-{3,}|<|!\[|---|\*\*\*$)")
_RULE = re.compile(r"\s*\|?[\s:|-]{3,}\|?\s*")
"""The line below the heading row of a table."""
_LEAD = re.compile(r"^(\s*(?:>\s?)*(?:[-*+]\s+(?:\[[ x]\]\s+)?|\d{1,3}[.)]\s+)?)")
_COUNTS_SOURCES = re.compile(r"\d+(?=\s?(?:sources?\b|of the sources|个来源|份资料|处来源))")
_FEWEST = 3
"""Letters that a sentence has at least."""


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence with the numbers of the sources that it names and that were read, and what is wrong with it (None:
    nothing)."""

    text: str
    cites: tuple[int, ...] = ()
    flaw: Flaw | None = None


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A text with a mark behind each sentence that has a flaw, and all its sentences."""

    text: str
    sentences: tuple[CheckedSentence, ...] = ()

    @property
    def cited(self) -> tuple[int, ...]:
        """The numbers of the sources that sentences without a flaw rest on, in their order."""
        sound = (each for each in self.sentences if each.flaw is None)
        return tuple(dict.fromkeys(number for each in sound for number in each.cites))

    @property
    def flawed(self) -> int:
        """How many sentences have a flaw."""
        return sum(each.flaw is not None for each in self.sentences)


def checked(text: str, readings: Mapping[int, Reading], marks: Mapping[Flaw, str]) -> CheckedText:
    """The text with `marks` behind the sentences that have a flaw, and without numbers of sources that were not read.

    Headings, code, and sentences that only ask or lead to a list are not checked.
    """
    sentences: list[CheckedSentence] = []
    rows: list[str] = []
    is_code = False
    before = uniform(text).split("\n")
    for row, following in zip(before, [*before[1:], ""], strict=True):
        if row.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        is_head = row.lstrip().startswith("|") and _RULE.fullmatch(following) is not None
        if is_code or is_head or not row.strip() or _SKIPPED.match(row):
            rows.append(row)
            continue
        made, found = _checked_row(row, readings, marks)
        sentences += found
        rows.append(made)
    return CheckedText("\n".join(rows), tuple(sentences))


def check(sentence: str, readings: Mapping[int, Reading]) -> CheckedSentence:
    """One sentence, without marks."""
    sentence = uniform(sentence)
    cites, bare = tuple(number for number in numbers_in(sentence) if number in readings), without_numbers(sentence)
    return CheckedSentence(bare, cites, _flaw(bare, [readings[number] for number in cites]))


def uniform(text: str) -> str:
    """The text with numbers of sources in one form, also those that a model writes in full-width brackets."""
    return _WIDE_CITED.sub(lambda found: f"[{found[1]}]", text)


def numbers_in(text: str) -> tuple[int, ...]:
    """The numbers of sources that a text names, in their order."""
    found: list[int] = []
    for group in CITED.findall(text.translate(_WIDE)):
        for part in re.split(r"[,，、;]", group):
            first, _, last = (each.strip() for each in part.partition("-"))
            if first.isdigit():
                until = int(last) if last.isdigit() else int(first)
                found += range(int(first), min(until, int(first) + 20) + 1)
    return tuple(dict.fromkeys(found))


def without_numbers(text: str) -> str:
    """The text without numbers of sources."""
    return re.sub(r"\s?(?:\[\d[\d\s,，、;-]{0,40}\])+", "", uniform(text)).strip()


def figures_in(text: str) -> frozenset[float]:
    """The figures in a text as numbers: 1,200 and 1.2 thousand, 1.2万 and 12000 are one."""
    found: set[float] = set()
    for number in _NUMBER.finditer(text):
        for value in _values(number[0]):
            found.add(value)
            unit = _UNIT.match(text, number.end())
            if unit is not None:
                found.add(round(value * _UNITS[unit[1].lower()], 6))
    return frozenset(found)


def plain(text: str) -> str:
    """The letters and digits of a text, for comparing quotations."""
    return _BLANKS.sub(" ", text.casefold()).strip()


def _flaw(bare: str, sources: Sequence[Reading]) -> Flaw | None:
    """The flaw of a sentence that names these sources; None if it has none."""
    if not sources:
        return "no_source"
    if not _has_figures(bare, sources):
        return "no_figure"
    texts = [plain(each.text) for each in sources] if (quoted := _QUOTED.findall(bare)) else []
    is_there = all(any(plain(one or other) in text for text in texts) for one, other in quoted)
    return None if is_there else "no_quotation"


def _has_figures(bare: str, sources: Sequence[Reading]) -> bool:
    """True if each number of a sentence, in one of its meanings, stands in one of these sources."""
    bare = _COUNTS_SOURCES.sub("", bare)
    wanted = [_of(found, bare) for found in _NUMBER.finditer(bare)]
    known: set[float] = set()
    for each in sources if wanted else ():
        known |= figures_in(f"{each.title} {each.date.replace('-', ' ')} {each.text}")
    return all(not each or each & known for each in wanted)


def _of(found: re.Match[str], text: str) -> frozenset[float]:
    """The values of one number with its unit."""
    unit = _UNIT.match(text, found.end())
    return figures_in(found[0] + (unit[0] if unit else ""))


def _values(number: str) -> Iterator[float]:
    """The values that a number can have: 1,200 is mostly 1200, and 1.200 in some languages, too."""
    plain_number = number.replace(",", "")
    if plain_number.count(".") <= 1:
        yield float(plain_number)
    else:
        yield from (float(part) for part in number.split(".") if part.isdigit())
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", number):
        yield float(number.replace(".", ""))
    if re.fullmatch(r"\d+,\d{1,2}", number):
        yield float(number.replace(",", "."))


def _checked_row(
    row: str, readings: Mapping[int, Reading], marks: Mapping[Flaw, str]
) -> tuple[str, list[CheckedSentence]]:
    found = _LEAD.match(row)
    lead = found[1] if found else ""
    body = row[len(lead) :]
    if body.startswith("|"):
        one = check(body, readings)
        made = _only(body, readings).rstrip()
        mark = f" {marks[one.flaw]}" if one.flaw else ""
        return f"{lead}{made.removesuffix('|').rstrip()}{mark} |", [one]
    sentences: list[CheckedSentence] = []
    made = ""
    for piece in split_sentences(body):
        checked_piece = _only(piece, readings)
        if _is_claim(piece):
            sentences.append(check(piece, readings))
            if flaw := sentences[-1].flaw:
                checked_piece = f"{checked_piece.rstrip()} {marks[flaw]}{checked_piece[len(checked_piece.rstrip()) :]}"
        made += checked_piece
    return lead + made, sentences


def _is_claim(piece: str) -> bool:
    """False for what asks, or only leads to a list, or is a word or two in bold letters."""
    bare = without_numbers(piece).strip(' *_"”’)')
    is_open = bare.endswith((":", "：", "?", "？"))
    return not is_open and sum(char.isalnum() for char in bare) >= _FEWEST and not re.fullmatch(r"\*\*[^*]+\*\*", piece)


def _only(text: str, readings: Collection[int]) -> str:
    """The text with the numbers of sources that were read only, each in brackets of its own."""

    def known_numbers(found: re.Match[str]) -> str:
        return "".join(f"[{number}]" for number in numbers_in(found[0]) if number in readings)

    return CITED.sub(known_numbers, text)
