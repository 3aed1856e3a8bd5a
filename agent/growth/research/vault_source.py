"""The vault as a source: the notes and the memories that say something about the topic. A search has read what it
finds."""

import re
from collections.abc import Sequence

from agent.dataclass import dataclass
from agent.growth.research.source import Lead
from agent.growth.topic_words import words_of
from agent.index.hit import Hit
from agent.llm.provider import Cancelled
from agent.markdown.note import Note
from agent.memory.blame import person_lines
from agent.memory.entry import EntryType, parse_entry
from agent.runs.recall_source import RecallSource
from agent.vault.folders import (
    APPROVALS,
    INBOX,
    JOB_HISTORY,
    JOBS,
    PROMPTS,
    QUESTIONS,
    REFLECTIONS,
    RESEARCH,
    RULES,
    SESSIONS,
    TASKS,
    TASKS_DONE,
    instructs,
)

NAME = "vault"
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_LEFT_OUT = frozenset(
    (APPROVALS, INBOX, JOB_HISTORY, JOBS, PROMPTS, QUESTIONS, REFLECTIONS, RESEARCH, RULES, SESSIONS, TASKS, TASKS_DONE)
)
"""Folders whose notes say what is to be done, or what the agent said, not what is known."""
_AGENTS_OWN = frozenset((EntryType.AUTO_CAPTURE, EntryType.WORKFLOW_TRACE, EntryType.RESEARCH, EntryType.REFLECTION))
"""Memories of what the agent did or found itself: a report that rests on an earlier one would confirm itself."""
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
        note, entry = Note.parse(data), parse_entry(data)
        if note.type == "about" or (entry is not None and (entry.superseded_by or entry.type in _AGENTS_OWN)):
            return None
        origin = self.recall.foreign.source(path, data)
        if row.logs:
            text = "\n\n".join(self._persons_lines(hit, data) for hit in hits)
        else:
            text = note.body if len(note.body) <= _WHOLE else "\n\n".join(hit.passage for hit in hits)
        text = text.strip()
        if not (words & words_of(f"{hits[0].title} {text}")) or not _HEADING.sub("", text).strip():
            return None
        day = _day(note)
        return Lead(path, hits[0].title, date=day, authority="own", source=NAME, text=text, origin=origin)

    def _persons_lines(self, hit: Hit, data: bytes) -> str:
        """The lines of a passage that the agent did not log there: what it did itself is nothing known of a topic."""
        first, last = hit.lines
        rows = data.decode("utf-8", "replace").split("\n")
        theirs = person_lines(self.recall.workspace.vault, hit.path, data)
        return "\n".join(row for row, is_theirs in [*zip(rows, theirs, strict=True)][first - 1 : last] if is_theirs)


def _day(note: Note) -> str:
    """The day that the note's header gives for it."""
    for key in ("created", "date"):
        found = re.match(r"\d{4}-\d\d-\d\d", str(note.header.get(key, "")))
        if found is not None:
            return found[0]
    return ""
