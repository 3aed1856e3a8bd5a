"""A topic, and a deep research: an outline, a researcher for each question, a critic, further searches for gaps, and a
report. What is found stands in `Exploration` at any time, so that a stop keeps it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.growth.research.answers import criticism, outline
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import Dispute, ResearchFindings, found_disputes, unique
from agent.growth.research.report import reported
from agent.growth.research.research_call import LIMITS
from agent.growth.research.researcher import Researcher, findings_of

_LEAST = 2
"""The calls that a gap needs: a search, and a page."""
_AT_MOST = 3
"""Gaps that are looked at."""


@dataclass(slots=True)
class Exploration:
    """The work on a topic."""

    desk: ResearchDesk
    researchers: list[Researcher] = field(default_factory=list)
    disputes: tuple[Dispute, ...] = ()

    def go(self) -> ResearchFindings:
        """All that is found, with the report; raises `Interrupted`."""
        limits = LIMITS[self.desk.kind]
        questions = outline(self.desk, limits.questions)
        self.researchers = [Researcher(self.desk, each) for each in questions]
        calls = min(limits.questions * limits.share // len(questions), limits.share * 2)
        self._each(self.researchers, lambda each: each.work(calls))
        gaps = self._criticized() if limits.has_critic else set()
        wanting = gaps or {each.question.number for each in self.researchers if each.searches or not each.statements}
        if self._fill(wanting) and limits.has_critic:
            self._criticized()
        return reported(self.desk, self.findings())

    def findings(self) -> ResearchFindings:
        """What is found so far."""
        return findings_of([each.question for each in self.researchers], self.researchers, self.disputes)

    def _each(self, researchers: Sequence[Researcher], work: Callable[[Researcher], object]) -> None:
        """Have the researchers work, several at a time; raises `Interrupted` when all have stopped."""
        with ThreadPoolExecutor(LIMITS[self.desk.kind].at_once, "vault-agent-research") as pool:
            futures = [pool.submit(work, each) for each in researchers]
        errors = [error for future in futures if (error := future.exception()) is not None]
        for error in sorted(errors, key=lambda each: not isinstance(each, Interrupted)):
            raise error

    def _criticized(self) -> set[int]:
        """Take in what a critic finds disputed, with what the program finds; returns the questions with gaps."""
        statements = unique(each for one in self.researchers for each in one.statements)
        disputes, gaps = criticism(self.desk, statements, [each.question for each in self.researchers])
        self.disputes = found_disputes(statements, disputes)
        return {each.question for each in gaps}

    def _fill(self, questions: set[int]) -> bool:
        """Have the researchers of these questions go on with the calls that are left; true if one of them did."""
        record, web = self.desk.record, self.desk.web
        left = record.most - record.used
        ready = [each for each in self.researchers if each.question.number in questions][:_AT_MOST]
        ready = ready[: left // _LEAST]
        if web is None or not web.engines or not ready or record.is_late:
            return False
        self._each(ready, lambda each: each.go_on(max(left // len(ready), _LEAST)))
        return True
