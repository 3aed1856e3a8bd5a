"""Writes an entry that a person asks to remember."""

from agent.memory.entry import Entry
from agent.vault.change import Outcome, Stamp
from agent.vault.message import one_line
from agent.vault.store import Vault


def remember(vault: Vault, text: str, keywords: tuple[str, ...] = ()) -> tuple[Entry, Outcome]:
    """Write `text` as a new entry in one commit; returns the entry, and the outcome: committed or queued."""
    entry = Entry(vault.clock.new_id(), vault.clock.now(), text, keywords=keywords)
    with vault.transaction(f"memory(entry): remember {one_line(text)[:80]}", Stamp("agent", tool="remember")) as change:
        change.create(entry.path, entry.note())
    return entry, change.outcome
