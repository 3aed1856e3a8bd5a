"""What changes in MEMORY.md with an entry, in the same commit.

What the person asked to remember stands there at once, each fact on a line with a link to its entry; a line goes with
the last entry that it links to, and what takes the place of that entry takes its place. Lines of the person's stay.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from agent.memory.blame import blamed_lines
from agent.memory.entry import Entry, EntryType, Scope, parse_entry
from agent.memory.memory_note import entry_line, new_note, parse_facts, rests_on, says, with_line
from agent.memory.understanding.seam import FactKind, SourceText
from agent.memory.understanding.statements import facts_in, kind_of
from agent.texts import Language
from agent.vault.folders import MEMORY_NOTE
from agent.vault.store import Vault

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
    replaced = set[str]()
    if any(link in text for link in gone):
        lines = [line.text for line in blamed_lines(vault, path, data or b"") if line.own and rests_on(line.text, gone)]
        for line in lines:
            replaced |= {link for link in gone if link in line}
            text = text.replace(line, "", 1)
    for entry in made:
        if _is_asked_for(entry) or entry.supersedes in replaced:
            text = _with_entry(text, entry, language)
    after = text.encode("utf-8", "surrogateescape")
    return ((path, data, after),) if after != (data or b"") else ()


def _is_asked_for(entry: Entry) -> bool:
    """True for what the owner asked to remember."""
    is_others = entry.untrusted or entry.sender_id or entry.chat_id or entry.scope is not Scope.USER
    return entry.type is EntryType.USER_EXPLICIT and not is_others


def _with_entry(text: str, entry: Entry, language: Language) -> str:
    for said, kind in _facts(entry):
        if len(said) <= _LONGEST and not says(parse_facts(text), said):
            line = entry_line(said, (entry.link,), language, is_once=True)
            text = with_line(text or new_note(language), kind, line, language)
    return text


def _facts(entry: Entry) -> Iterator[tuple[str, FactKind]]:
    """The facts of an entry, each with the section in which it belongs."""
    kind = entry.slots.get("kind", "")
    found = facts_in(SourceText(entry.text, verbatim=True)) if _is_asked_for(entry) else ()
    for said in [fact.text for fact in found] or ([] if _is_asked_for(entry) else [entry.text]):
        own = FactKind(kind) if kind in set(FactKind) else kind_of(said)
        yield " ".join(said.split()), FactKind.OTHER if own is FactKind.EVENT else own
