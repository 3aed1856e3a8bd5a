"""A topic, and a deep research: an outline, a researcher for each question, a critic, further searches for gaps, and a
report. What is found stands in `Exploration` at any time, so that a stop keeps it.

A researcher has a share of the calls and contexts of its own. What is read in the vault and in folders stands in
another context than what is read on the web, and only the second one may ask for a further search of the web: so no
stranger's page can have the person's notes searched for.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.growth.research.answers import (
    by_label,
    disputes_in,
    gaps_in,
    methods_in,
    questions_in,
    quoted,
    statements_in,
)
from agent.growth.research.calls import CallShare
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import (
    LIMITS,
    CitedStatement,
    Dispute,
    FoundMethod,
    ResearchFindings,
    ResearchGap,
    ResearchQuestion,
    found_disputes,
    numbered_rows,
    whole_topic,
)
from agent.growth.research.reading import Reading
from agent.growth.research.research_note import reported

_NOTES = 6
"""Notes of the vault, or files of a folder, that one search gives to a model."""
_STATEMENTS = 12
"""Sentences that a model may read out of some sources."""
_SHOWN = 120
"""Statements that a critic sees."""
_FURTHER = 2
"""Further searches that a gap is worth."""
_QUERY = 80
"""Characters of a search that a model asks for after it has read pages."""
_LEAST = 10
"""Characters of a source with something to read."""
_GAP = 2
"""The calls that a gap needs: a search, and a page."""
_AT_MOST = 3
"""Gaps that are looked at."""


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
        queries = self.question.searches[: LIMITS[desk.call.kind].searches]
        self.take_in(desk.read_web(queries, share, named=self.question.number == 1))

    def go_on(self, calls: int) -> None:
        """Do the further searches that were asked for, in so many calls. Raises `Interrupted`."""
        wanted, self.searches = self.searches[:_FURTHER] or [self.question.text], []
        still_missing, self.missing, before = self.missing, [], len(self.statements)
        self.take_in(self.desk.read_web(wanted, CallShare(calls), named=False))
        if len(self.statements) == before:
            self.missing = still_missing

    @property
    def gaps(self) -> Sequence[ResearchGap]:
        """The gaps of the question: what its sources leave open, or all of it where they say nothing."""
        words = self.missing or ([] if self.statements else [""])
        return [ResearchGap(self.question.number, each) for each in words]

    def take_in(self, readings: Iterable[Reading]) -> None:
        """Take in what these sources say about the question: read out by a model, or quoted without one. Raises
        `Interrupted`."""
        fresh = [each for each in readings if each.number not in self._seen and len(each.text) > _LEAST]
        self._seen.update(each.number for each in fresh)
        if fresh:
            self._read_out(fresh)

    def _read_out(self, fresh: Sequence[Reading]) -> None:
        desk, asked = self.desk, self.question.text
        answer = desk.write("statements", question=asked, sources=desk.framed(fresh, asked), most=str(_STATEMENTS))
        rows, known = by_label(answer), {each.number: each for each in fresh}
        found, refused = statements_in(rows[""], known, self.question.number)
        if not found and (refused or not answer):  # no model, or one that says nothing that is in the sources
            query = asked if desk.thinks else " ".join((desk.topic, asked, *self.question.searches))
            found = quoted(fresh, query, self.question.number)
        self.statements += found
        self.refused += refused
        self.methods += methods_in(rows["METHOD"], known)
        self.missing += rows["MISSING"]
        if all(each.is_public for each in fresh):
            self.searches += (each[:_QUERY] for each in rows["SEARCH"])


def findings_of(
    questions: Sequence[ResearchQuestion], researchers: Sequence[Researcher], disputes: Sequence[Dispute] = ()
) -> ResearchFindings:
    """The findings of these researchers so far; without `disputes`, those that their statements show."""
    statements = tuple({each.text.casefold(): each for one in researchers for each in one.statements}.values())
    methods = {each.name.casefold(): each for one in researchers for each in one.methods}
    return ResearchFindings(
        tuple(questions),
        statements,
        tuple(disputes) or found_disputes(statements),
        tuple(dict.fromkeys(gap for each in researchers for gap in each.gaps)),
        tuple(methods.values()),
        refused=sum(each.refused for each in researchers),
    )


@dataclass(slots=True)
class Exploration:
    """The work on a topic."""

    desk: ResearchDesk
    researchers: list[Researcher] = field(default_factory=list)
    disputes: tuple[Dispute, ...] = ()

    def go(self) -> ResearchFindings:
        """All that is found, with the report; raises `Interrupted`."""
        limits = LIMITS[self.desk.call.kind]
        # made from the topic alone: so a search that goes out holds nothing of the vault
        answer = self.desk.write("outline", most=str(limits.questions))
        questions = questions_in(answer)[: limits.questions] or [whole_topic(self.desk.topic)]
        self.researchers = [Researcher(self.desk, each) for each in questions]
        calls = min(limits.questions * limits.share // len(questions), limits.share * 2)
        self._each(self.researchers, lambda each: each.work(calls))
        gaps = self._criticized() if limits.has_critic else set()
        wanting = gaps or {each.question.number for each in self.researchers if each.searches or not each.statements}
        if self._fill(wanting) and limits.has_critic:
            self._criticized()
        return reported(self.desk, self.findings())

    def findings(self) -> ResearchFindings:
        """The findings so far."""
        return findings_of([each.question for each in self.researchers], self.researchers, self.disputes)

    def _each(self, researchers: Sequence[Researcher], work: Callable[[Researcher], object]) -> None:
        """Have the researchers work, several at a time; raises `Interrupted` when all have stopped."""
        with ThreadPoolExecutor(LIMITS[self.desk.call.kind].at_once, "vault-agent-research") as pool:
            futures = [pool.submit(work, each) for each in researchers]
        errors = [error for future in futures if (error := future.exception()) is not None]
        for error in sorted(errors, key=lambda each: not isinstance(each, Interrupted)):
            raise error

    def _criticized(self) -> set[int]:
        """Take in what a critic finds disputed, with what the program finds; returns the questions with gaps."""
        found = self.findings()
        rows = "\n".join(f"S{at} {each.numbered}" for at, each in enumerate(found.statements[:_SHOWN], 1))
        asked = numbered_rows(found.questions)
        answer = by_label(self.desk.write("critic", questions=asked, statements=rows) if rows else "")
        known = disputes_in(answer["DISPUTED"], found.statements[:_SHOWN])
        self.disputes = found_disputes(found.statements, known)
        return {each.question for each in gaps_in(answer["GAP"], found.questions)}

    def _fill(self, questions: set[int]) -> bool:
        """Have the researchers of these questions go on with the calls that are left; true if one of them did."""
        calls, web = self.desk.calls, self.desk.web
        left = calls.most - calls.used
        ready = [each for each in self.researchers if each.question.number in questions][:_AT_MOST]
        ready = ready[: left // _GAP]
        if web is None or not web.engines or not ready or calls.is_late:
            return False
        self._each(ready, lambda each: each.go_on(max(left // len(ready), _GAP)))
        return True
