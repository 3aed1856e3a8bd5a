"""Writes an entry that a person asks to remember; one that is known in the same words is counted instead."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.memory.entry import Entry, EntryType, slug
from agent.memory.memory_note import memory_change
from agent.texts import Language, Sentence
from agent.vault.change import Outcome, Stamp
from agent.vault.folders import ENTRIES
from agent.vault.message import one_line
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.memory.capture.dedupe import Judgement
    from agent.memory.store import StoredEntry


def remember(
    vault: Vault, text: str, keywords: tuple[str, ...] = (), language: Language = "en"
) -> tuple[Entry, Outcome, bool]:
    """Write `text` as a new entry and into MEMORY.md (in `language`) in one commit, or count the one that says it;
    returns the entry, the outcome (committed or queued), and True if it was known."""
    entry = Entry(vault.clock.new_id(), vault.clock.now(), text, keywords=keywords)
    known = _known(vault, entry)
    subject = Sentence("memory(entry): remember {text}", text=one_line(text))
    with vault.transaction(subject, Stamp("agent", tool="remember")) as change:
        if known is None:
            made = (vault.home.at(entry.path), None, entry.note())
            for path, before, after in (made, *memory_change(vault, (made,), language)):
                change.write(path, before, after)
        else:
            dedupe = import_module("agent.memory.capture.dedupe")  # slow to load, and rarely needed
            verdict = dedupe.Judgement(dedupe.Resolution.AGAIN, entry, known)
            change.edit(known.path, known.data, dedupe.amended(verdict))
    return (known.entry if known else entry), change.outcome, known is not None


@dataclass(frozen=True, slots=True)
class SameWords:
    """Compares a new entry with those whose notes have its words as their name, as `remember` does: without search."""

    vault: Vault

    def judged(self, entry: Entry) -> "Judgement":
        """New, or a repetition of the entry that says it."""
        dedupe = import_module("agent.memory.capture.dedupe")
        known = _known(self.vault, entry)
        resolution = dedupe.Resolution.NEW if known is None else dedupe.Resolution.AGAIN
        judgement: Judgement = dedupe.Judgement(resolution, entry, known)
        return judgement

    def wrote(self, path: str) -> None:
        """Do nothing: the note's name is found."""


def _known(vault: Vault, new: Entry) -> "StoredEntry | None":
    """A current entry of the owner that says the same and begins with the same words, which its name tells; of what
    happened on a day, one of that day."""
    name = slug(new.text)
    names = sorted(Path(vault.place.root, vault.home.at(ENTRIES)).glob(f"*/*/*-{name}-*.md")) if name else []
    if not names:
        return None
    store = import_module("agent.memory.store")
    rules = import_module("agent.memory.understanding.rules")
    day_of = import_module("agent.memory.entry").event_day
    paths = [path.relative_to(vault.place.root).as_posix() for path in names]
    for each in store.load_entries(vault, paths):
        entry = each.entry
        is_own = entry.type in {EntryType.FACT, EntryType.USER_EXPLICIT} and not (entry.sender_id or each.untrusted)
        is_current = is_own and not entry.chat_id and not entry.superseded_by
        if is_current and rules.is_same(entry.text, new.text) and day_of(entry) == day_of(new):
            found: StoredEntry = each
            return found
    return None
