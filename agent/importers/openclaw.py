"""OpenClaw: its workspace. `MEMORY.md` are facts, a row each; `USER.md` and the notes of `memory/` are notes; what
steers that agent (its identity, rules, tools and skills) is left out, and named.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from agent.attachments.html.charset import decode
from agent.importers.export import Export, ExportFile
from agent.importers.markdown_tree import NOTES, Tree, note_of
from agent.importers.values import Item, LeftItem, LeftReason, fact, statements

_STEER = frozenset({"agents.md", "soul.md", "identity.md", "tools.md", "heartbeat.md", "boot.md", "bootstrap.md"})
_MARKS = frozenset({"soul.md", "agents.md", "identity.md", "user.md"})


def fits(source: Export) -> bool:
    """True for a workspace of OpenClaw."""
    names = {name.removeprefix(source.top).casefold() for name in source.files}
    return len(names & _MARKS) > 1 and bool(names & {"soul.md", "identity.md"})


def read(source: Export) -> Iterator[Item]:
    """The facts, and the notes."""
    for name, file in source.files.items():
        inside = name.removeprefix(source.top)
        if inside.casefold() in _STEER or inside.casefold().startswith("skills/"):
            yield LeftItem(inside, LeftReason.STEERS)
        elif inside.casefold() == "memory.md":
            yield from _facts(file)
        elif name.casefold().endswith(NOTES):
            yield replace(note_of(file, source, Tree()), title=_title(inside))
        else:
            yield file.attachment


def _title(inside: str) -> str:
    return "About the user" if inside.casefold() == "user.md" else inside.rpartition("/")[2].rpartition(".")[0]


def _facts(file: ExportFile) -> Iterator[Item]:
    created = file.modified or datetime.fromtimestamp(0, UTC)
    for words in statements(decode(file.read())):
        yield fact(words, words, created)
