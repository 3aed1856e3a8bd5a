"""Forgetting a note, together with entries that say the same or have no other evidence; leaves a tombstone.

Other entries lose the forgotten sentences and keep the rest. Lines of MEMORY.md and of daily notes are removed only if
the upkeep of memory wrote them. Text that a person wrote or corrected is kept and listed, and so are transcripts. All
is one commit, so an undo restores everything and removes the tombstone; the commit message names only the count of
notes, which keeps the text out of the history's messages.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from agent.errors import NoteGone, UserError
from agent.markdown.note import Note
from agent.memory import daily
from agent.memory.blame import FORGET, blamed_lines, touched_by_people
from agent.memory.entry import Entry, EntryType, parse_entry
from agent.memory.forgetting.tombstones import (
    Tombstones,
    compose_tombstone,
    fingerprint,
    load_tombstones,
    marks,
    name_mark,
)
from agent.memory.store import ARCHIVED, StoredEntry, load_entries
from agent.memory.understanding.statements import is_statement
from agent.texts import Language
from agent.vault.change import Outcome, Stamp
from agent.vault.folders import AGENT_NOTE, ENTRIES, FORGOTTEN, MEMORY_NOTE
from agent.vault.store import Vault

_CLOSED = ("vault-agent.yaml", AGENT_NOTE, MEMORY_NOTE)
_MENTIONS = 20
_WORD = re.compile(r"[^\W_]{2,}")
_STEM = 4
"""Letters that the forms of a word usually share; two characters in scripts without spaces."""
_LINKS = re.compile(r"\[\[([^\]|#\n]+)[^\]\n]*\]\]")
_LABEL = re.compile(r"^\s*(?:user|assistant|用户|助手)\s*[:：]\s*", re.IGNORECASE)
_ANSWER = re.compile(r"^\s*(?:assistant|助手)\s*[:：]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Changed:
    """A note that loses some lines: its bytes before and after, and the removed lines."""

    path: str
    before: bytes
    after: bytes
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The plan for forgetting a note.

    `gone`: deleted notes with their bytes. `changed`: notes that lose lines. `mentions`: notes with the same statement
    that are left to the person. `marks`: the fingerprints for the tombstone. `past`: notes that only the history still
    has.
    """

    gone: tuple[tuple[str, bytes], ...]
    changed: tuple[Changed, ...]
    mentions: tuple[str, ...]
    marks: frozenset[str]
    past: tuple[str, ...] = ()

    @property
    def stones(self) -> Tombstones:
        return Tombstones(self.marks)


def plan(vault: Vault, path: str) -> Forgetting:
    """The plan for forgetting the note at `path`; writes nothing. Raises `NoteGone` or `UserError`."""
    data = vault.read(path)
    if data is None:
        raise NoteGone(f"{path} is not there", hint="vault-agent log shows what was moved or deleted")
    return plan_for(vault, path, data)


def plan_for(vault: Vault, path: str, data: bytes) -> Forgetting:
    """The plan for forgetting a note with these bytes, which may be deleted already. Raises `UserError`."""
    if path in _CLOSED or path.startswith(FORGOTTEN):
        raise UserError(f"{path} is needed to remember at all", hint="edit it, and delete the lines that should go")
    entry = parse_entry(data)
    if entry is None:
        text = Note.parse(data).body
        return _with_derived(vault, ((path, data),), (), frozenset(filter(None, (fingerprint(text),))), ())
    stones = Tombstones(_marks(entry))
    paths = [other for other in vault.note_paths() if other.startswith((ENTRIES, ARCHIVED)) and other != path]
    near = load_entries(vault, _saying(vault, paths, entry.text))
    gone, changed = [(path, data)], list[Changed]()
    theirs = touched_by_people(vault, ENTRIES)
    left: list[str] = []
    for each in near:
        if not stones.is_forgotten(each.entry.text) and each.entry.id != entry.supersedes:
            continue
        rest = _rest(each.entry, stones)
        if each.path in theirs:
            left.append(each.path)
        elif not rest or each.entry.id == entry.supersedes:
            gone.append((each.path, each.data))
        else:
            changed.append(_reworded(each, rest))
    return _with_derived(vault, tuple(gone), tuple(changed), stones.marks, left)


def carry_out(vault: Vault, forgetting: Forgetting, language: Language, *, confirmed: bool = False) -> Outcome:
    """Forget, in one commit; no commit if only the history still has it. Raises what a transaction raises."""
    changed = [each for each in forgetting.changed if each.before != each.after]
    if not (forgetting.gone or changed) and forgetting.marks <= load_tombstones(vault).marks:
        return Outcome()
    now = vault.clock.now()
    path, stone = compose_tombstone(forgetting.marks, vault.clock.new_id(), now, language)
    with vault.transaction(_subject(forgetting, now), Stamp("human", tool=FORGET), confirmed=confirmed) as transaction:
        for gone, data in forgetting.gone:
            transaction.delete(gone, data)
        for each in changed:
            transaction.edit(each.path, each.before, each.after)
        if forgetting.marks:
            transaction.create(path, stone)
    return transaction.outcome


def without(path: str, data: bytes, forgetting: Forgetting) -> bytes:
    """An earlier version of a note without the forgotten text, line by line; lines of the new version stay."""
    stems = {PurePosixPath(gone).stem for gone in (*(gone for gone, _ in forgetting.gone), *forgetting.past)}
    after = next((each.after for each in forgetting.changed if each.path == path), b"")
    stay = set(after.decode("utf-8", "surrogateescape").splitlines())
    rows = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    kept = (row if row.rstrip("\r\n") in stay else _left(row, stems, forgetting.stones) for row in rows)
    return "".join(kept).encode("utf-8", "surrogateescape")


def _rests_on(row: str, stems: Collection[str]) -> bool:
    """True if the line has links and all lead to forgotten notes."""
    links = {_stem(link) for link in _LINKS.findall(row)}
    return bool(links) and links <= set(stems)


def _stem(link: str) -> str:
    return PurePosixPath(link.strip()).name.removesuffix(".md")


def _subject(forgetting: Forgetting, now: datetime) -> str:
    count = len(forgetting.gone) + len(forgetting.past)
    more = f", and lines of {len(forgetting.changed)}" if forgetting.changed else ""
    return f"memory(forget): forget {count} note{'' if count == 1 else 's'}{more}"


def _marks(entry: Entry) -> frozenset[str]:
    """The fingerprints of an entry.

    Of an answer to a statement, only sentences that repeat it count: "I will remember that" can answer any statement.
    """
    asked, answered = list[str](), list[str]()
    spoken = asked
    for line in entry.text.splitlines():
        if _LABEL.match(line):
            spoken = answered if _ANSWER.match(line) else asked
        spoken.append(line)
    said = "\n".join(asked)
    if entry.type is not EntryType.CHAT_TURN or not is_statement(_LABEL.sub("", said)):
        return marks(entry.text) | _name(entry.text)
    return marks(said) | marks("\n".join(answered), about=said) | _name(said)


def _name(text: str) -> frozenset[str]:
    return frozenset(filter(None, (name_mark(_LABEL.sub("", text)),)))


def _rest(entry: Entry, stones: Tombstones) -> str:
    """An entry's text without the forgotten sentences; empty if only labels or an answer would remain."""
    left = stones.without_forgotten(entry.text)
    if entry.type is EntryType.CHAT_TURN and left != entry.text:
        asked = [line for line in left.splitlines() if not _ANSWER.match(line)]
        if not any(_LABEL.sub("", line).strip(" .。") for line in asked):
            return ""
    return left if any(_LABEL.sub("", line).strip(" .。") for line in left.splitlines()) else ""


def _reworded(each: StoredEntry, rest: str) -> Changed:
    after = Note.parse(each.data).with_body(rest.strip("\n") + "\n").data
    lost = tuple(line for line in each.entry.text.splitlines() if line not in rest.splitlines())
    return Changed(each.path, each.data, after, lost)


def _with_derived(
    vault: Vault,
    gone: tuple[tuple[str, bytes], ...],
    changed: tuple[Changed, ...],
    marks: frozenset[str],
    left: Iterable[str],
) -> Forgetting:
    stems = {PurePosixPath(path).stem for path, _ in gone}
    stones = Tombstones(marks)
    derived = [
        each for path in (MEMORY_NOTE, *_days(vault)) if (each := _derived(vault, path, stems, stones)) is not None
    ]
    done = {path for path, _ in gone} | {each.path for each in (*changed, *derived)}
    text = "\n".join(Note.parse(data).body for _, data in gone[:1])
    aside = (ENTRIES, ARCHIVED, FORGOTTEN)
    others = [path for path in vault.note_paths() if path not in done and not path.startswith(aside)]
    said = [path for path in _saying(vault, others, text) if _mentions(vault.read(path) or b"", stones)]
    return Forgetting(gone, (*changed, *derived), tuple(dict.fromkeys((*left, *said)))[:_MENTIONS], marks)


def _days(vault: Vault) -> list[str]:
    return [path for path in vault.note_paths() if daily.day_of(path) is not None]


def _derived(vault: Vault, path: str, stems: Collection[str], stones: Tombstones) -> Changed | None:
    """The change to a note: lines written by the upkeep of memory lose what is forgotten or has no other evidence."""
    before = vault.read(path)
    if before is None or not _may_concern(before, stems, stones):
        return None
    rows, gone = list[str](), list[str]()
    for line in blamed_lines(vault, path, before):
        left = _left(line.text, stems, stones) if line.own else line.text
        rows.append(left)
        if left != line.text:
            gone.append(line.text.rstrip("\r\n"))
    if not gone:
        return None
    text = "".join(rows)
    if (summary := daily.summary_of(text)) is not None and daily.is_sealed(before.decode("utf-8", "surrogateescape")):
        text = daily.resealed(text, summary)
    return Changed(path, before, text.encode("utf-8", "surrogateescape"), tuple(gone))


def _may_concern(data: bytes, stems: Collection[str], stones: Tombstones) -> bool:
    text = data.decode("utf-8", "surrogateescape")
    return any(stem in text for stem in stems) or any(stones.left_of_log(row) != row for row in text.splitlines())


def _left(row: str, stems: Collection[str], stones: Tombstones) -> str:
    """A line without the forgotten text and links to it; empty if all its links lead to forgotten notes."""
    if _rests_on(row, stems):
        return ""
    left = stones.left_of_log(row.rstrip("\r\n"))
    if left != row.rstrip("\r\n"):
        return left + row[len(row.rstrip("\r\n")) :] if _LABEL.sub("", left).strip(" \t-*+.。") else ""
    return _LINKS.sub(lambda link: "…" if _stem(link[1]) in stems else link[0], row)


def _mentions(data: bytes, stones: Tombstones) -> bool:
    return stones.is_forgotten(Note.parse(data).body)


def _stems(word: str) -> Iterator[str]:
    if word.isascii():
        yield word[:_STEM]
    else:
        yield from (word[at : at + 2] for at in range(len(word) - 1))


def _saying(vault: Vault, paths: Iterable[str], text: str) -> Iterator[str]:
    """The paths whose notes share a word with the text; other notes cannot say the same."""
    found = {word.casefold() for word in _WORD.findall(text)}
    longest = sorted(found, key=lambda word: (-len(word.encode()), word))[:8]
    stems = [stem.encode() for word in longest for stem in _stems(word)]
    for path in paths:
        data = (vault.read(path) or b"").lower()
        if any(stem in data for stem in stems):
            yield path
