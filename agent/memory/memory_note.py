"""MEMORY.md as text: its sections, its facts one a line, and adding, comparing and shortening them.

A line that is not ours is never changed. What belongs into it is `longterm`'s; whose a line is, `authorship`'s.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.markdown.note import Note
from agent.memory.authorship import Line
from agent.memory.contradiction import says_otherwise
from agent.memory.facts import Fact, Kind
from agent.memory.likeness import Wording, adds_nothing, is_same, wording
from agent.memory.word_order import is_exchanged

_MOST_EVIDENCE = 5
_THRESHOLDS = (0.8, 0.6, 0.5, 0.4)
"""Similarities from which on lines are merged, the next one only while the note is too large."""

_BULLET = re.compile(r"^\s{0,3}[-*+]\s+(?:\[[ xX]\]\s+)?(\S.*?)\s*$")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_TAIL = re.compile(r"\s*(?:⚠.*|\((?:\s*\[\[[^\]\n]*\]\]\s*)+\).*)$")
_LINKS = re.compile(r"\[\[[^\]\n]*\]\]")
_CLAUSE = re.compile(r"[,;，；。.!！]+\s")

_NEW = {
    "en": ("# Long-term memory\n", "To check"),
    "zh": ("# 长期记忆\n", "待确认"),
}
_DISAGREES = {"en": "⚠ disagrees with: {}", "zh": "⚠ 与此不一致：{}"}
_SECTIONS: dict[Kind, tuple[str, str, frozenset[str]]] = {
    Kind.PREFERENCE: ("Preferences", "偏好", frozenset({"user preferences", "preference", "用户偏好", "喜好"})),
    Kind.DECISION: ("Decisions", "决定", frozenset({"architecture decisions", "decision", "决策"})),
    Kind.WORKFLOW: ("Workflow patterns", "工作流程", frozenset({"workflows", "workflow", "流程", "工作流"})),
    Kind.PERSON: ("People", "人物", frozenset({"person", "人", "人们"})),
    Kind.OTHER: ("Other", "其他", frozenset({"others", "misc", "其它"})),
}


@dataclass(frozen=True, slots=True)
class Remembered:
    """One fact in the note: its words without evidence, and what these and their clauses are compared by."""

    text: str
    wordings: tuple[Wording, ...]

    @classmethod
    def of(cls, text: str) -> "Remembered":
        """The fact in these words."""
        return cls(text, tuple(wording(part) for part in (text, *_CLAUSE.split(text)) if part.strip()))


def remembered(text: str) -> tuple[Remembered, ...]:
    """The facts in the note, in order."""
    rows = Note.parse(text.encode("utf-8", "surrogateescape")).text.splitlines()
    return tuple(each for row in rows if (each := _of_row(row)) is not None)


@lru_cache(maxsize=4_096)
def _of_row(row: str) -> Remembered | None:
    return None if (plain := words(row)) is None else Remembered.of(plain)


def words(row: str) -> str | None:
    """What a line of the note says, without its evidence; None for a line that is no fact."""
    match = _BULLET.match(row)
    plain = _LINKS.sub("", _TAIL.sub("", match[1])).strip() if match else ""
    return plain or None


def says(facts: Sequence[Remembered], wanted: Wording, least: float) -> bool:
    """Whether one of these says what is wanted, or it and more."""
    if any(said == wanted and not is_exchanged(said.plain, wanted.plain) for each in facts for said in each.wordings):
        return True  # as it mostly is with what came in earlier; to the letter is quickly seen
    return any(is_same(said, wanted, least) or adds_nothing(wanted, said) for each in facts for said in each.wordings)


def opposed(facts: Sequence[Remembered], text: str) -> Remembered | None:
    """The one of these that says otherwise: another figure, a no, or another value for the same thing."""
    return next((each for each in facts if says_otherwise(text, each.text)), None)


def entry_line(fact: Fact, language: str, against: str = "") -> str:
    """A fact as a line with its evidence, and what it disagrees with."""
    links = " ".join(fact.evidence[:_MOST_EVIDENCE])
    flag = f" {_DISAGREES[language].format(f'“{against}”')}" if against else ""
    return f"- {fact.text} ({links}){flag}"


def with_line(text: str, kind: Kind | None, line: str, language: str) -> str:
    """The note with a line at the end of its section (None: the one for what is to be checked), made where missing."""
    newline = "\r\n" if "\r\n" in text else "\n"
    rows = (text or new_note(language)).splitlines()
    start = next((at for at, row in enumerate(rows) if _is_section(row, kind)), None)
    if start is None:
        title = _NEW[language][1] if kind is None else _SECTIONS[kind][language == "zh"]
        while rows and not rows[-1].strip():
            rows.pop()
        rows += ["", f"## {title}", "", line]
        return newline.join(rows) + newline
    level = len(_heading(rows[start])[0])
    after = (at for at in range(start + 1, len(rows)) if 0 < len(_heading(rows[at])[0]) <= level)
    end = next(after, len(rows))
    last = next((at for at in range(end - 1, start, -1) if rows[at].strip()), start)
    gap = [""] if last == start else []
    rest = rows[last + 1 :]
    rows = [*rows[: last + 1], *gap, line, *([""] if rest and rest[0].strip() else []), *rest]
    return newline.join(rows) + (newline if text.endswith("\n") or not text else "")


def new_note(language: str) -> str:
    """MEMORY.md where there is none yet."""
    return Note.compose({"type": "memory"}, _NEW[language][0]).text


def _is_section(row: str, kind: Kind | None) -> bool:
    title = _heading(row)[1].casefold()
    if kind is None:
        return title in {named[1].casefold() for named in _NEW.values()}
    english, chinese, others = _SECTIONS[kind]
    return title in {english.casefold(), chinese} | others


def _heading(row: str) -> tuple[str, str]:
    match = _HEADING.match(row)
    return (match[1], match[2]) if match and len(match[1]) > 1 else ("", "")


@dataclass(frozen=True, slots=True)
class Shortened:
    """The note after shortening, how many lines were merged into others, and those that had to go to the archive."""

    text: str
    merged: int = 0
    archived: tuple[str, ...] = ()


def shorten(lines: Sequence[Line], most: int) -> Shortened:
    """Bring the note below `most` bytes by merging our own lines that say nearly the same, the most alike first.

    Where that is not enough our oldest lines are taken out, for the archive; a person's lines stay in any case.
    """
    rows = [line.text for line in lines]
    own = {number for number, line in enumerate(lines) if line.own and words(line.text) is not None}
    merged = 0
    for least in _THRESHOLDS:
        if _size(rows) <= most:
            break
        for kept, gone in _near(rows, sorted(own), least):
            if gone not in own or kept not in own:
                continue
            rows[kept], rows[gone] = _united(rows[kept], rows[gone]), ""
            own.discard(gone)
            merged += 1
    archived: list[str] = []
    for number in sorted(own):
        if _size(rows) <= most:
            break
        archived.append(rows[number].rstrip("\r\n"))
        rows[number] = ""
    return Shortened("".join(rows), merged, tuple(archived))


def _near(rows: Sequence[str], numbers: Sequence[int], least: float) -> Iterator[tuple[int, int]]:
    """Pairs of lines that are alike; the longer one stays."""
    said = [(number, wording(words(rows[number]) or "")) for number in numbers]
    for at, (one, first) in enumerate(said):
        for other, second in said[at + 1 :]:
            if is_same(first, second, least):
                yield (one, other) if len(first.terms) >= len(second.terms) else (other, one)


def _united(kept: str, gone: str) -> str:
    """The line that stays, with the evidence of both."""
    ending = kept[len(kept.rstrip("\r\n")) :]
    bare = kept.rstrip("\r\n")
    more = [link for link in _LINKS.findall(gone) if link not in bare]
    links = [*_LINKS.findall(bare), *more][:_MOST_EVIDENCE]
    head = _TAIL.sub("", bare)
    return f"{head} ({' '.join(links)}){ending}" if links else kept


def _size(rows: Sequence[str]) -> int:
    return sum(len(row.encode("utf-8", "surrogateescape")) for row in rows)
