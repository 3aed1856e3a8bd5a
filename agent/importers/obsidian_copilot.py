"""Copilot for Obsidian: the conversations that it has saved as notes (`copilot/copilot-conversations/`).

Each turn begins with its speaker in bold, and ends with its time in brackets.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from agent.importers.export import Export, ExportFile
from agent.importers.values import ImportedConversation, ImportedTurn, Item, LeftItem, LeftReason, moment
from agent.markdown.note import Note

_TAG = "copilot-conversation"
_TURN = re.compile(r"^\*\*(user|ai|assistant)\*\*:[ \t]?", re.MULTILINE | re.IGNORECASE)
_AT = re.compile(r"^\[Timestamp: (\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)\][ \t]*$", re.MULTILINE)
_LOOKED_AT = 50


def fits(source: Export) -> bool:
    """True for conversations of Copilot."""
    return any(_is_one(Note.parse(each.read())) for each in islice(source.ending(".md"), _LOOKED_AT))


def _is_one(note: Note) -> bool:
    return _TAG in note.strings("tags") or ("epoch" in note.header and "modelKey" in note.header)


def read(source: Export) -> Iterator[Item]:
    """The conversations."""
    for file in source.ending(".md"):
        note = Note.parse(file.read())
        yield _conversation(note, file) if _is_one(note) else LeftItem(file.name, LeftReason.UNKNOWN)


def _conversation(note: Note, file: ExportFile) -> ImportedConversation:
    places = [(found, found.end()) for found in _TURN.finditer(note.body)]
    ends = [*(found.start() for found, _ in places[1:]), len(note.body)]
    turns = tuple(
        _turn(number, found[1], note.body[begin:end])
        for number, ((found, begin), end) in enumerate(zip(places, ends, strict=True))
    )
    title = note.string("topic") or file.name.rpartition("/")[2].removesuffix(".md").replace("_", " ").partition("@")[0]
    epoch = note.header.get("epoch")
    created = moment(epoch) or (turns[0].at if turns else None)
    return ImportedConversation(str(epoch or file.name), title, turns, created)


def _turn(number: int, speaker: str, words: str) -> ImportedTurn:
    times = _AT.findall(words)
    return ImportedTurn(str(number), speaker.casefold() == "user", _AT.sub("", words).strip(), _time(times))


def _time(times: list[str]) -> datetime | None:
    try:
        return datetime.strptime(times[-1], "%Y/%m/%d %H:%M:%S").astimezone() if times else None
    except (ValueError, OverflowError):  # a day that no calendar has
        return None
