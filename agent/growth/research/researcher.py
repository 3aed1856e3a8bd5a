"""One researcher: works on one question of an outline, with a share of the calls and contexts of its own.

What is read in the vault and in folders stands in another context than what is read on the web, and only the second one
may ask for a further search of the web: so no stranger's page can have the person's notes searched for.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field

from agent.dataclass import dataclass
from agent.growth.research.authority import ranked
from agent.growth.research.budget import BudgetSpent, CallShare
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.kinds import KindLimits, ResearchKind
from agent.growth.research.outline import ResearchQuestion
from agent.growth.research.source import Lead, Reading, ResearchSource
from agent.growth.research.statements import CitedStatement, FoundMethod, quoted, read_out
from agent.growth.research.web_source import WebSource

_NOTES = 6
"""Notes of the vault, or files of a folder, that one search gives to a model."""
_STATEMENTS = 12
"""Sentences that a model may read out of some sources."""
_FURTHER = 2
"""Further searches that a gap is worth."""
_QUERY = 80
"""Characters of a search that a model asks for after it has read pages."""
_LEAST = 40
"""Characters of a source with something to quote."""


@dataclass(frozen=True, slots=True)
class ResearchGround:
    """Where is searched: the person's own sources, and the web (None: not). `is_offline`: the settings or the policy do
    not allow the web."""

    own: Sequence[ResearchSource]
    web: WebSource | None
    kind: ResearchKind
    is_offline: bool = False


@dataclass(slots=True)
class Researcher:
    """The work on one question; what it has found so far stands in its fields at any time."""

    desk: ResearchDesk
    ground: ResearchGround
    question: ResearchQuestion
    limits: KindLimits
    calls: int
    statements: list[CitedStatement] = field(default_factory=list)
    methods: list[FoundMethod] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    refused: int = 0
    _seen: set[int] = field(default_factory=set)

    def work(self) -> None:
        """Search and read with the share of a question, and read out what is said about it. Raises `Interrupted`."""
        share = CallShare(self.calls)
        self._read_out(self._own(share))
        self._read_out(self._on_the_web(self.question.searches[: self.limits.searches], share, is_first=True))

    def go_on(self, calls: int) -> None:
        """Do the further searches that were asked for, in so many calls. Raises `Interrupted`."""
        wanted, self.searches = self.searches[:_FURTHER] or [self.question.text], []
        share, before = CallShare(calls), len(self.statements)
        still_missing, self.missing = self.missing, []
        self._read_out(self._on_the_web(wanted, share, is_first=False))
        if len(self.statements) == before:
            self.missing = still_missing

    def _own(self, share: CallShare) -> list[Reading]:
        """What the vault and the folders say; searched in other words, too, where there is no web."""
        words = (self.question.text, *(self.question.searches if self.ground.web is None else ()))
        found: list[Reading] = []
        with suppress(BudgetSpent):
            for source in self.ground.own:
                for query in dict.fromkeys(words):
                    found += self._opened(source, self.desk.search(source, query, share)[:_NOTES], share)
        return found

    def _on_the_web(self, queries: Iterable[str], share: CallShare, *, is_first: bool) -> list[Reading]:
        """What pages say that the engines find, the most trusted ones first."""
        web = self.ground.web
        if web is None:
            return []
        leads: list[Lead] = [*web.leads()] if is_first and self.question.number == 1 else []
        stated = len(leads)
        found: list[Reading] = []
        with suppress(BudgetSpent):
            if web.engines:
                for query in queries:
                    leads += self.desk.search(web, query, share)
        for lead in [*leads[:stated], *ranked(leads[stated:], self.ground.kind)]:
            with suppress(BudgetSpent):
                found += self._opened(web, [lead], share)
        return found

    def _opened(self, source: ResearchSource, leads: Iterable[Lead], share: CallShare) -> list[Reading]:
        found = [self.desk.open(source, each, share) for each in leads]
        return [each for each in found if each is not None and len(each.text) > _LEAST // 4]

    def _read_out(self, readings: Sequence[Reading]) -> None:
        """Take in what these sources say about the question: read out by a model, or quoted without one."""
        fresh = {each.number: each for each in readings if each.number not in self._seen}
        self._seen |= fresh.keys()
        if not fresh:
            return
        desk, question = self.desk, self.question
        answer = desk.ask(
            "statements",
            topic=desk.topic,
            question=question.text,
            sources=desk.shown(list(fresh.values()), question.text),
            most=str(_STATEMENTS),
            language=desk.language,
        )
        found = read_out(answer, fresh, question.number)
        self.refused += found.refused
        self.methods += found.methods
        self.missing += found.missing
        if all(each.is_public for each in fresh.values()):
            self.searches += (each[:_QUERY] for each in found.searches)
        if found.statements or (answer and not found.refused):
            self.statements += found.statements
        else:  # no model, or one that says nothing that is in the sources
            query = question.text if desk.thinks else f"{desk.topic} {question.text}"
            self.statements += quoted(fresh.values(), query, question.number)
