"""One researcher: works on one question of an outline, with a share of the calls and contexts of its own.

What is read in the vault and in folders stands in another context than what is read on the web, and only the second one
may ask for a further search of the web: so no stranger's page can have the person's notes searched for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.growth.research.answers import quoted, read_out
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import (
    CitedStatement,
    Dispute,
    FoundMethod,
    ResearchFindings,
    ResearchGap,
    ResearchQuestion,
    found_disputes,
    unique,
)
from agent.growth.research.reading import Reading
from agent.growth.research.record import CallShare
from agent.growth.research.research_call import LIMITS

_NOTES = 6
"""Notes of the vault, or files of a folder, that one search gives to a model."""
_FURTHER = 2
"""Further searches that a gap is worth."""
_QUERY = 80
"""Characters of a search that a model asks for after it has read pages."""
_LEAST = 10
"""Characters of a source with something to read."""


@dataclass(slots=True)
class Researcher:
    """The work on one question; what it has found so far stands in its fields at any time."""

    desk: ResearchDesk
    question: ResearchQuestion
    statements: list[CitedStatement] = field(default_factory=list)
    methods: list[FoundMethod] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    refused: int = 0
    _seen: set[int] = field(default_factory=set)

    def work(self, calls: int) -> None:
        """Search and read with so many calls, and read out what is said about the question. Raises `Interrupted`."""
        desk, share = self.desk, CallShare(calls)
        found: list[Reading] = []
        words = (self.question.text, *(self.question.searches if desk.web is None else ()))
        for source in desk.own:
            for query in dict.fromkeys(words):
                notes = desk.search(source, query, share)[:_NOTES]
                found += filter(None, [desk.open(source, each, share) for each in notes])
        self.take_in(found)
        queries = self.question.searches[: LIMITS[desk.kind].searches]
        self.take_in(desk.read_web(queries, share, named=self.question.number == 1))

    def go_on(self, calls: int) -> None:
        """Do the further searches that were asked for, in so many calls. Raises `Interrupted`."""
        wanted, self.searches = self.searches[:_FURTHER] or [self.question.text], []
        still_missing, self.missing, before = self.missing, [], len(self.statements)
        self.take_in(self.desk.read_web(wanted, CallShare(calls), named=False))
        if len(self.statements) == before:
            self.missing = still_missing

    def take_in(self, readings: Iterable[Reading]) -> None:
        """Take in what these sources say about the question: read out by a model, or quoted without one. Raises
        `Interrupted`."""
        fresh = [each for each in readings if each.number not in self._seen and len(each.text) > _LEAST]
        self._seen.update(each.number for each in fresh)
        if not fresh:
            return
        found = read_out(self.desk, fresh, self.question)
        self.refused += found.refused
        self.methods += found.methods
        self.missing += found.missing
        if all(each.is_public for each in fresh):
            self.searches += (each[:_QUERY] for each in found.searches)
        self.statements += found.statements
        if not found.statements and (found.refused or not found.is_answered):
            self._quote(fresh)

    def _quote(self, readings: Sequence[Reading]) -> None:
        """Take in the words of the sources: there is no model, or one that says nothing that is in them."""
        query = self.question.text
        if not self.desk.thinks:
            query = " ".join((self.desk.topic, query, *self.question.searches))
        self.statements += quoted(readings, query, self.question.number)


def findings_of(
    questions: Sequence[ResearchQuestion], researchers: Sequence[Researcher], disputes: Sequence[Dispute]
) -> ResearchFindings:
    """What these researchers have found so far; without `disputes`, those that their statements show. A question
    without any answer is a gap, also where none of its researchers says what is missing."""
    statements = unique(each for one in researchers for each in one.statements)
    gaps = [
        ResearchGap(one.question.number, words)
        for one in researchers
        for words in (one.missing or ([] if one.statements else [""]))
    ]
    return ResearchFindings(
        tuple(questions),
        statements,
        tuple(disputes) or found_disputes(statements),
        tuple(dict.fromkeys(gaps)),
        tuple({each.name.casefold(): each for one in researchers for each in one.methods}.values()),
        refused=sum(each.refused for each in researchers),
    )
