"""The vault as a source: the notes and the memories that say something about the topic. A search has read what it
finds."""

import re
from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.growth.research.reading import Reading
from agent.growth.topic_words import words_of
from agent.index.query import Hit
from agent.llm.messages import Cancelled
from agent.markdown.note import Note
from agent.memory.entry import parse_entry
from agent.runs.recall_source import RecallSource
from agent.vault.folders import INBOX, RESEARCH, instructs

NAME = "vault"
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LEFT_OUT = frozenset((INBOX, RESEARCH))
"""Folders whose notes say what is to be done, or what was found before, not what is known. The agent's own notes are
not found at all: a report that rests on an earlier one would confirm itself."""
_WHOLE = 8_000
"""Characters up to which a note is read whole; of a longer one, what the search has found in it."""


@dataclass(frozen=True, slots=True)
class VaultSource:
    """The notes of one vault that count as knowledge about a topic."""

    recall: RecallSource
    topic: str

    @property
    def name(self) -> str:
        return NAME

    @property
    def is_public(self) -> bool:
        return False

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Reading]:
        """The notes with a word of the query or the topic in what was found, each with its text."""
        plain = f"{self.topic} {query}" if words_of(query).isdisjoint(words_of(self.topic)) else query
        words = words_of(query) | words_of(self.topic)
        found: dict[str, list[Hit]] = {}
        for hit in self.recall.search(plain.replace(":", " ").replace("-", " "), most * 2).hits:  # no filters
            if words & words_of(" ".join((hit.title, *hit.headings, hit.passage))):
                found.setdefault(hit.path, []).append(hit)
        readings = (self._reading(path, hits, words) for path, hits in found.items())
        return [each for each in readings if each is not None][:most]

    def read(self, found: Reading, cancelled: Cancelled) -> Reading:
        """What was found, as it is: the search has read it."""
        return found

    def _reading(self, path: str, hits: Sequence[Hit], words: frozenset[str]) -> Reading | None:
        """What a note says, None if it does not count as knowledge about the topic."""
        vault = self.recall.workspace.vault
        data, row = vault.read(path), vault.home.row(path)
        if data is None or row.path in _LEFT_OUT or instructs(path):
            return None
        note = Note.parse(data if hits[0].is_of_note else b"")  # of an attachment, what was found of its text
        is_whole = hits[0].is_of_note and not row.logs and len(note.body) <= _WHOLE
        text = (note.body if is_whole else "\n\n".join(hit.passage for hit in hits)).strip()
        is_about_it = not words.isdisjoint(words_of(f"{hits[0].title} {text}"))
        if not is_about_it or not _HEADING.sub("", text).strip() or _is_superseded(note):
            return None
        origin = self.recall.foreign.source(path, data)
        return Reading(path, hits[0].title, date=_day(note), authority="own", text=text, origin=origin)


def _is_superseded(note: Note) -> bool:
    entry = parse_entry(note.data)
    return entry is not None and bool(entry.superseded_by)


def _day(note: Note) -> str:
    """The day that the note's header gives for it; empty for none."""
    days = (_DAY.match(str(note.header.get(key, ""))) for key in ("created", "date"))
    return next((found[0] for found in days if found), "")
