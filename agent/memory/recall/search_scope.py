"""Whose notes a search is for, and whether it has found anything.

A search finds the person's notes and facts. The agent's own, which repeat the words of every question, are found with
`kind:agent` or where a filter names them (`path:sessions/`, `type:job`); they are no sources.
"""

import re
from datetime import date

from agent.dataclass import dataclass
from agent.index.fusion import SURE
from agent.index.query import Hit, parse_query, with_whole_days
from agent.index.records import Filters
from agent.memory.recall.authorship import agents_notes, is_agents
from agent.vault.folders import AgentFolder

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
