"""The vault as a source: the notes and the memories that say something about the topic. A search has read what it
finds."""

import re
from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.growth.research.source import Lead
from agent.growth.topic_words import words_of
from agent.index.query import Hit
from agent.llm.messages import Cancelled
from agent.markdown.note import Note
from agent.memory.entry import parse_entry
from agent.runs.recall_source import RecallSource
from agent.vault.folders import INBOX, RESEARCH, instructs

NAME = "vault"
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
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

    def search(self, query: str, most: int, cancelled: Cancelled) -> Sequence[Lead]:
        """The notes with a word of the query or the topic in what was found, each with its text."""
        plain = f"{self.topic} {query}" if words_of(query).isdisjoint(words_of(self.topic)) else query
        words = words_of(query) | words_of(self.topic)
        found: dict[str, list[Hit]] = {}
        for hit in self.recall.search(plain.replace(":", " ").replace("-", " "), most * 2).hits:  # no filters
            if words & words_of(" ".join((hit.title, *hit.headings, hit.passage))):
                found.setdefault(hit.path, []).append(hit)
        leads = (self._lead(path, hits, words) for path, hits in found.items())
        return [each for each in leads if each is not None][:most]

    def read(self, lead: Lead, cancelled: Cancelled) -> Lead:
        """The lead itself: the search has read it."""
        return lead

    def _lead(self, path: str, hits: Sequence[Hit], words: frozenset[str]) -> Lead | None:
        vault = self.recall.workspace.vault
        data, row = vault.read(path), vault.home.row(path)
        if data is None or row.path in _LEFT_OUT or instructs(path):
            return None
        written = data if hits[0].is_of_note else b""  # of an attachment, what was found of its text
        note, entry = Note.parse(written), parse_entry(written)
        if entry is not None and entry.superseded_by:
            return None
        origin = self.recall.foreign.source(path, data)
        is_whole = hits[0].is_of_note and not row.logs and len(note.body) <= _WHOLE
        text = (note.body if is_whole else "\n\n".join(hit.passage for hit in hits)).strip()
        if not (words & words_of(f"{hits[0].title} {text}")) or not _HEADING.sub("", text).strip():
            return None
        day = _day(note)
        return Lead(path, hits[0].title, date=day, authority="own", source=NAME, text=text, origin=origin)


def _day(note: Note) -> str:
    """The day that the note's header gives for it."""
    for key in ("created", "date"):
        found = re.match(r"\d{4}-\d\d-\d\d", str(note.header.get(key, "")))
        if found is not None:
            return found[0]
    return ""
