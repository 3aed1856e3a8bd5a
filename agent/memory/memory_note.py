"""MEMORY.md as text: its sections, its facts (one per line), and functions that add, compare and shorten them.

Lines that the agent did not write are never changed. The choice of facts is left to `upkeep/longterm`, the authors of
lines to `blame`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import permutations
from typing import TypeAlias

from agent import texts
from agent.dataclass import dataclass
from agent.markdown.links import linked_names, without_links
from agent.markdown.note import Note
from agent.memory.blame import AuthoredLine, blamed_lines
from agent.memory.entry import SAVED, Entry, EntryType, Scope, parse_entry
from agent.memory.understanding.rules import adds_to, is_same, relation
from agent.memory.understanding.seam import FactKind, SourceText, TextRelation
from agent.memory.understanding.statements import facts_in, named_kind
from agent.texts import Language
from agent.vault.folders import MEMORY_NOTE
from agent.vault.store import Vault

_MOST_EVIDENCE = 5
_TOPIC = 0.4
"""The similarity from which a line that contains all of another one, and more, is on the same topic."""

_BULLET = re.compile(r"^\s{0,3}[-*+]\s+(?:\[[ xX]\]\s+)?(\S.*?)\s*$")
_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
_TAIL = re.compile(r"\s*(?:⚠.*|\((?:\s*\[\[[^\]\n]*\]\]\s*)+\).*)$")
_LINKS = re.compile(r"\[\[[^\]\n]*\]\]")
_CLAUSE = re.compile(r"[,;，；。.!！]+\s")


@dataclass(frozen=True, slots=True)
class LongTermFact:
    """One fact in the note, without its evidence."""

    text: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The whole fact, and its clauses."""
        return tuple(dict.fromkeys(part for part in (self.text, *_CLAUSE.split(self.text)) if part.strip()))


def parse_facts(text: str) -> tuple[LongTermFact, ...]:
    """The facts in the note, in order."""
    rows = Note.parse(text.encode("utf-8", "surrogateescape")).text.splitlines()
    return tuple(LongTermFact(plain) for row in rows if (plain := words(row)) is not None)


def words(row: str) -> str | None:
    """The words of a line without its evidence; None for a line without a fact."""
    match = _BULLET.match(row)
    plain = without_links(_TAIL.sub("", match[1])).strip() if match else ""
    return plain or None


def says(facts: Sequence[LongTermFact], wanted: str) -> bool:
    """True if one of these facts says the same as `wanted`, or more."""
    known = {TextRelation.SAME, TextRelation.ADDS}
    return any(relation(part, wanted, _TOPIC) in known for each in facts for part in each.parts)


def entry_line(text: str, evidence: Sequence[str], language: Language, *, is_once: bool) -> str:
    """A fact as a line, with its evidence, and whether it was said once."""
    links = " ".join(evidence[:_MOST_EVIDENCE])
    once = f" · {texts.text('memory_note.once', language)}" if is_once else ""
    return f"- {text} ({links}){once}"


def is_stated_once(row: str) -> bool:
    """True if a line is marked as said once."""
    return row.rstrip().endswith(tuple(f" · {mark}" for mark in texts.in_all_languages("memory_note.once")))


def links_of(row: str) -> tuple[str, ...]:
    """The links in a line, each as `[[note]]`, without what it is shown as."""
    return tuple(f"[[{name}]]" for name in linked_names(row))


def rests_on(row: str, links: Collection[str]) -> bool:
    """True for a line with a fact whose only evidence are some of these links."""
    found = links_of(row)
    return words(row) is not None and bool(found) and all(link in links for link in found)


def with_line(text: str, kind: FactKind, line: str, language: Language) -> str:
    """The note with a line at the end of its section, which is added if missing, before those that come after it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    rows = (text or new_note(language)).splitlines()
    start = next((at for at, row in enumerate(rows) if _is_section(row, kind)), None)
    if start is None:
        at = next((at for at, row in enumerate(rows) if _comes_after(row, kind)), len(rows))
        title = texts.text(f"memory_note.{kind}", language)
        above, below = rows[:at], rows[at:]
        while above and not above[-1].strip():
            above.pop()
        rows = [*above, "", f"## {title}", "", line, *([""] if below else []), *below]
        return newline.join(rows) + newline
    level = len(_heading(rows[start])[0])
    after = (at for at in range(start + 1, len(rows)) if 0 < len(_heading(rows[at])[0]) <= level)
    end = next(after, len(rows))
    last = next((at for at in range(end - 1, start, -1) if rows[at].strip()), start)
    gap = [""] if last == start else []
    rest = rows[last + 1 :]
    rows = [*rows[: last + 1], *gap, line, *([""] if rest and rest[0].strip() else []), *rest]
    return newline.join(rows) + (newline if text.endswith("\n") or not text else "")


def new_note(language: Language) -> str:
    """The initial text of MEMORY.md."""
    return Note.compose({"type": "memory"}, f"# {texts.text('memory_note.title', language)}\n").text


_ORDER = tuple(FactKind)


def _comes_after(row: str, kind: FactKind) -> bool:
    """True for the heading of a section that comes after that of this kind."""
    return _heading(row)[0] == "##" and any(_is_section(row, each) for each in _ORDER[_ORDER.index(kind) + 1 :])


def _is_section(row: str, kind: FactKind) -> bool:
    names = texts.in_all_languages(f"memory_note.{kind}")
    others = texts.in_all_languages(f"memory_note.{kind}_too")
    known = (*names, *(each for some in others for each in some.split(", ")))
    return _heading(row)[1].casefold() in {each.casefold() for each in known}


def _heading(row: str) -> tuple[str, str]:
    match = _HEADING.match(row)
    return (match[1], match[2]) if match and len(match[1]) > 1 else ("", "")


@dataclass(frozen=True, slots=True)
class Shortened:
    """The note after shortening, the number of merged lines, and the lines moved to the archive."""

    text: str
    merged: int = 0
    archived: tuple[str, ...] = ()


def shorten(lines: Sequence[AuthoredLine], most: int) -> Shortened:
    """The note cut to `most` bytes by merging the agent's own lines of which one contains the other.

    If that is not enough, the agent's oldest lines are moved to the archive; a person's lines always stay.
    """
    rows = [line.text for line in lines]
    own = {number for number, line in enumerate(lines) if line.own and words(line.text) is not None}
    merged = 0
    for stays, goes in _repeated(rows, sorted(own)) if _size(rows) > most else ():
        rows[stays], rows[goes] = _united(rows[stays], rows[goes]), ""
        own.discard(goes)
        merged += 1
    archived: list[str] = []
    for number in sorted(own):
        if _size(rows) <= most:
            break
        archived.append(rows[number].rstrip("\r\n"))
        rows[number] = ""
    return Shortened("".join(rows), merged, tuple(archived))


def _repeated(rows: Sequence[str], numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Pairs of lines of which the first contains the second; each second line once."""
    by_number = {number: words(rows[number]) or "" for number in numbers}
    gone = set[int]()
    for one, other in permutations(numbers, 2):
        if gone.isdisjoint((one, other)) and (
            is_same(by_number[one], by_number[other]) or adds_to(by_number[one], by_number[other], _TOPIC)
        ):
            gone.add(other)
            yield one, other


def _united(line: str, gone: str) -> str:
    """The remaining line, with the evidence of both."""
    ending = line[len(line.rstrip("\r\n")) :]
    bare = line.rstrip("\r\n")
    more = [link for link in _LINKS.findall(gone) if link not in bare]
    links = [*_LINKS.findall(bare), *more][:_MOST_EVIDENCE]
    head = _TAIL.sub("", bare)
    return f"{head} ({' '.join(links)}){ending}" if links else line


def _size(rows: Sequence[str]) -> int:
    return sum(len(row.encode("utf-8", "surrogateescape")) for row in rows)


NoteChange: TypeAlias = tuple[str, bytes | None, bytes]
"""A note's path, and its bytes before (None: it is new) and after."""
_LONGEST = 300
"""The most characters of a line; a longer text is a document, and no fact."""


def memory_change(vault: Vault, changes: Iterable[NoteChange], language: Language) -> tuple[NoteChange, ...]:
    """The change of MEMORY.md that belongs to these changes of entries; none if it stays as it is."""
    made, gone = list[Entry](), set[str]()
    for _, before, after in changes:
        entry = parse_entry(after)
        if entry is not None and before is None:
            made.append(entry)
        elif entry is not None and entry.superseded_by:
            gone.add(entry.link)
    path = vault.home.at(MEMORY_NOTE)
    data = vault.read(path) if made or gone else None
    text = (data or b"").decode("utf-8", "surrogateescape")
    over = _lines_resting_on(vault, path, data or b"", gone) if any(link in text for link in gone) else ()
    for line in over:
        text = text.replace(line, "", 1)
    replaced = frozenset(link for link in gone if any(link in line for line in over))
    for entry in made:
        if _is_asked_for(entry) or entry.supersedes in replaced:
            text = _with_entry(text, entry, language)
    after = text.encode("utf-8", "surrogateescape")
    return ((path, data, after),) if after != (data or b"") else ()


def _lines_resting_on(vault: Vault, path: str, data: bytes, links: Collection[str]) -> Sequence[str]:
    """The agent's own lines of the note whose only evidence are some of these links."""
    return [line.text for line in blamed_lines(vault, path, data) if line.own and rests_on(line.text, links)]


def _is_asked_for(entry: Entry) -> bool:
    """True for what the owner asked to remember."""
    is_others = entry.untrusted or entry.sender_id or entry.chat_id or entry.scope is not Scope.USER
    return entry.type is EntryType.USER_EXPLICIT and not is_others


def _with_entry(text: str, entry: Entry, language: Language) -> str:
    for words, kind in _facts(entry):
        if len(words) <= _LONGEST and not says(parse_facts(text), words):
            line = entry_line(words, (entry.link,), language, is_once=True)
            text = with_line(text or new_note(language), kind, line, language)
    return text


def _facts(entry: Entry) -> Iterator[tuple[str, FactKind]]:
    """The facts of an entry, each with the section in which it belongs."""
    kind = entry.slots.get("kind", "")
    is_raw = _is_asked_for(entry) and entry.source != SAVED  # else one fact, as a model has worded it
    found = facts_in(SourceText(entry.text, verbatim=True)) if is_raw else ()
    for words in [fact.text for fact in found] if is_raw else [entry.text]:
        own = named_kind(kind, words)
        yield " ".join(words.split()), FactKind.OTHER if own is FactKind.EVENT else own
