"""Whose words a note has: the person's, or the agent's own.

Of most notes the index tells it by folder and type (`agents_notes`, `is_agents`): what the program keeps of its work is
left out of a search before anything is scored, since it repeats the words of each question. Of notes that both write
into, each line says it (`persons_rows`): a note that was written on request is the person's, an answer in it is not,
nor is the agent's log in the note of a day, and of a conversation the person's own turns are.

Whose notes a search is for, and whether it has found anything.

A search finds the person's notes and facts. The agent's own, which repeat the words of every question, are found with
`kind:agent` or where a filter names them (`path:sessions/`, `type:job`); they are no sources.

The person for whom memories are recalled.
"""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeAlias

from agent.dataclass import dataclass
from agent.index.fusion import SURE
from agent.index.query import Hit, parse_query, with_whole_days
from agent.index.records import Filters
from agent.lazy import later
from agent.memory.entry import EntryType
from agent.vault.folders import (
    AGENT_NOTE,
    APPROVALS,
    ARCHIVE,
    DAILY,
    ENTRIES,
    JOBS,
    LESSONS,
    LESSONS_NOTE,
    MACHINES,
    PROMPTS,
    QUESTIONS,
    REFLECTIONS,
    RULES,
    SESSIONS,
    SKILLS,
    TASKS,
    AgentFolder,
    is_template,
)

if TYPE_CHECKING:
    from agent.markdown.requests import answer_rows
    from agent.markdown.session_marks import person_rows
else:  # only of notes that several write
    answer_rows = later("agent.markdown.requests", "answer_rows")
    person_rows = later("agent.markdown.session_marks", "person_rows")

ABOUT = "about"
"""The type of notes that explain the vault's folders; their examples are not facts."""
CHANGELOG = "changelog"
"""The type of the profile's log of changes: the notes themselves say what holds."""
NO_KNOWLEDGE = frozenset({ABOUT, CHANGELOG})
"""The types of notes that are never memories."""
_MARK = b"%% vault-agent: "
OWN_ENTRIES = frozenset({EntryType.AUTO_CAPTURE, EntryType.WORKFLOW_TRACE, EntryType.RESEARCH, EntryType.REFLECTION})
"""The entries about what the agent did, found or thought itself."""
_OWN_FOLDERS = (
    *(
        SESSIONS,
        APPROVALS,
        QUESTIONS,
        SKILLS,
        PROMPTS,
        LESSONS_NOTE,
        LESSONS,
        RULES,
        JOBS,
        TASKS,
        REFLECTIONS,
        MACHINES,
        ARCHIVE,
    ),
    AGENT_NOTE,
)

WrittenByPerson: TypeAlias = Callable[[str, bytes], Sequence[bool]]
"""Function from a note's path and bytes to one value for each of its lines: True if a person wrote it."""


def agents_notes(home: AgentFolder) -> tuple[Filters, ...]:
    """The filters by which a search finds none of the agent's own notes."""
    return (
        Filters(paths=tuple(map(home.at, _OWN_FOLDERS))),
        *(Filters(keys=(("type", kind),)) for kind in sorted(NO_KNOWLEDGE)),
        *(Filters(paths=(home.at(ENTRIES),), keys=(("type", str(kind)),)) for kind in sorted(OWN_ENTRIES)),
    )


def is_agents(hit: Hit, home: AgentFolder) -> bool:
    """True for a passage of a note that is the agent's as a whole, or that an editor copies into new notes."""
    kinds = {value for key, value in hit.facets if key == "type"}
    is_entry = home.holds(hit.path, ENTRIES)
    is_own = home.row(hit.path).path.startswith(_OWN_FOLDERS) or not NO_KNOWLEDGE.isdisjoint(kinds)
    return is_own or is_template(hit.path) or (is_entry and not OWN_ENTRIES.isdisjoint(kinds))


def has_both_authors(path: str, data: bytes, home: AgentFolder) -> bool:
    """True if the person and the agent may both have written lines of a note."""
    return home.row(path).path in {SESSIONS, DAILY, QUESTIONS} or _MARK in data


def persons_rows(path: str, data: bytes, home: AgentFolder, written: WrittenByPerson) -> Sequence[bool]:
    """For each line of a note: True if it is the person's. `written` is asked for notes that both write into without
    marks."""
    rows = data.decode("utf-8", "surrogateescape").split("\n")
    folder = home.row(path).path
    if folder == SESSIONS:
        return person_rows("\n".join(rows))
    if folder in {DAILY, QUESTIONS}:
        return written(path, data)
    answers = answer_rows(data) if _MARK in data else frozenset()
    return [number not in answers for number in range(1, len(rows) + 1)]


_KIND = re.compile(r"(?<!\S)kind:agent(?!\S)", re.IGNORECASE)
_MOST = 0.5
_BY_WORDS = frozenset({"note", "title", "unit", "hood", "date"})
"""The signals that only a word of the query, or a day that it names, gives."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A search without `kind:agent` (`text`), what it leaves out, and whether it is for the agent's notes only."""

    text: str
    without: tuple[Filters, ...]
    is_for_agents: bool
    home: AgentFolder

    def may_have(self, hit: Hit) -> bool:
        """True for a hit that the search is for."""
        return is_agents(hit, self.home) if self.is_for_agents else not self.without or not is_agents(hit, self.home)


def parse_search(query: str, home: AgentFolder, today: date, *, whole: bool = False) -> SearchScope:
    """The scope of a search on the day `today`; `whole`: of all notes. Raises `UserError` for an invalid filter."""
    query = with_whole_days(query, today)
    text = " ".join(_KIND.sub(" ", query).split())
    is_for_agents = text != " ".join(query.split())
    filters = parse_query(text).filters
    names_them = bool(filters.paths) or any(key == "type" for key, _ in filters.keys)
    without = () if whole or is_for_agents or names_them else agents_notes(home)
    return SearchScope(text, without, is_for_agents, home)


def has_word(hit: Hit) -> bool:
    """True if a hit, with its signals, has a word of the query, or is of a day that it names."""
    return any(leg.name in _BY_WORDS and leg.score > 0 for leg in hit.why)


def has_most_words(hit: Hit) -> bool:
    """True if a hit, with its signals, has at least half of the query's rare words."""
    return any(leg.name == "coverage" and leg.score >= _MOST for leg in hit.why)


def is_near(hit: Hit) -> bool:
    """True if a hit has a word of the query, or is at least near in meaning: the nearest of many unrelated notes is
    still unrelated. True, too, for what only filters have found."""
    nearest = max((leg.score for leg in hit.why if leg.name == "unit_cosine"), default=0.0)
    return not hit.why or has_word(hit) or nearest >= SURE["unit_cosine"]


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asks.

    `sender` is empty for the owner at their own machine, `chat` outside of groups. `is_owner`: owns the vault; others
    see only their own messages and those of their chat. `session` is the current conversation; its turns since `since`
    are still in the model's context.
    """

    sender: str = ""
    chat: str = ""
    is_owner: bool = True
    session: str = ""
    since: datetime | None = None
    run: str = ""

    @property
    def is_named(self) -> bool:
        """True for the owner, and for anyone with a sender name."""
        return self.is_owner or bool(self.sender)
