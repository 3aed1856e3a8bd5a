"""A topic, and a deep research: an outline, a researcher for each question, a critic, further searches for gaps, and a
report. What is found stands in `Exploration` at any time, so that a stop keeps it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.growth.research.budget import BudgetSpent
from agent.growth.research.claims import numbers_in
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import ResearchFindings, ResearchGap
from agent.growth.research.kinds import LIMITS
from agent.growth.research.outline import ResearchQuestion, outline
from agent.growth.research.researcher import Researcher, ResearchGround
from agent.growth.research.statements import (
    CitedStatement,
    Dispute,
    found_disputes,
    joined_disputes,
    labelled,
)
from agent.growth.research.write_report import numbered_questions, report_of

_LEAST = 2
"""The calls that a gap needs: a search, and a page."""
_AT_MOST = 3
"""Gaps that are looked at."""
_SHOWN = 120
"""Statements that a critic sees."""


@dataclass(slots=True)
class Exploration:
    """The work on a topic."""

    desk: ResearchDesk
    ground: ResearchGround
    researchers: list[Researcher] = field(default_factory=list)
    disputes: tuple[Dispute, ...] = ()
    gaps: tuple[ResearchGap, ...] = ()

    def go(self) -> ResearchFindings:
        """All that is found, with the report; raises `Interrupted`."""
        limits = LIMITS[self.ground.kind]
        questions = outline(self.desk, limits.questions)
        calls = limits.share_of(len(questions))
        self.researchers = [Researcher(self.desk, self.ground, each, limits, calls) for each in questions]
        self._each(self.researchers, lambda each: each.work())
        self.gaps = self._gaps(limits.has_critic)
        if self._fill_gaps() and limits.has_critic:
            self._ask_critic()
        found = self.findings()
        return replace(found, report=report_of(self.desk, found))

    def findings(self) -> ResearchFindings:
        """What is found so far."""
        statements = self.statements
        if not self.disputes:
            self.disputes = found_disputes(statements, lambda one, other: False)
        missing = [
            ResearchGap(each.question.number, words)
            for each in self.researchers
            for words in ([] if each.statements and not each.missing else each.missing)
        ]
        empty = [ResearchGap(each.question.number, "") for each in self.researchers if not each.statements]
        known = {gap.question for gap in missing}
        gaps = (*missing, *(each for each in empty if each.question not in known))
        return ResearchFindings(
            tuple(each.question for each in self.researchers),
            statements,
            self.disputes,
            tuple(dict.fromkeys(gaps)),
            tuple({each.name.casefold(): each for one in self.researchers for each in one.methods}.values()),
            refused=sum(each.refused for each in self.researchers),
        )

    @property
    def statements(self) -> tuple[CitedStatement, ...]:
        """The statements so far, in the order of the questions; the same words stand once."""
        every = (each for one in self.researchers for each in one.statements)
        return tuple({each.text.casefold(): each for each in every}.values())

    def _each(self, researchers: Sequence[Researcher], work: Callable[[Researcher], object]) -> None:
        """Have the researchers work, several at a time; raises `Interrupted` when all have stopped."""
        at_once = LIMITS[self.ground.kind].at_once
        if at_once == 1 or len(researchers) < 2:
            for each in researchers:
                work(each)
            return
        with ThreadPoolExecutor(at_once, "vault-agent-research") as pool:
            futures = [pool.submit(work, each) for each in researchers]
        errors = [error for future in futures if (error := future.exception()) is not None]
        for error in sorted(errors, key=lambda each: not isinstance(each, Interrupted)):
            raise error

    def _gaps(self, has_critic: bool) -> tuple[ResearchGap, ...]:
        """The questions that need more: those that the critic names, else those whose researchers want more."""
        found = self._ask_critic() if has_critic else ()
        wanting = (each for each in self.researchers if each.searches or not each.statements)
        own = tuple(ResearchGap(each.question.number, "; ".join(each.missing)) for each in wanting)
        return found or own

    def _ask_critic(self) -> tuple[ResearchGap, ...]:
        """Take in what a critic finds disputed, with what the program finds; returns the gaps that it names."""
        statements = self.statements[:_SHOWN]
        questions = [each.question for each in self.researchers]
        rows = "\n".join(
            f"S{at} {each.text} {''.join(f'[{number}]' for number in each.cites)}"
            for at, each in enumerate(statements, 1)
        )
        answer = ""
        if statements:
            answer = self.desk.ask(
                "critic",
                topic=self.desk.topic,
                questions=numbered_questions(questions),
                statements=rows,
                language=self.desk.language,
            )
        disputes, gaps = _criticism(answer, statements, questions)
        known = [set(each.sides) for each in disputes]
        more = found_disputes(statements, lambda one, other: any({one, other} <= sides for sides in known))
        self.disputes = joined_disputes((*disputes, *more))
        return gaps

    def _fill_gaps(self) -> bool:
        """Have the researchers of the gaps go on with the calls that are left; true if one of them did."""
        budget = self.desk.budget
        wanted = {each.question for each in self.gaps}
        ready = [each for each in self.researchers if each.question.number in wanted][:_AT_MOST]
        left = budget.most - budget.used
        if self.ground.web is None or not self.ground.web.engines or not ready or left < _LEAST or budget.is_late:
            return False
        ready = ready[: max(left // _LEAST, 1)]

        def go_on(each: Researcher) -> None:
            each.go_on(max(left // len(ready), _LEAST))

        try:
            self._each(ready, go_on)
        except BudgetSpent:
            return True
        return True


def _criticism(
    answer: str, statements: Sequence[CitedStatement], questions: Sequence[ResearchQuestion]
) -> tuple[list[Dispute], tuple[ResearchGap, ...]]:
    """What a critic's answer names as disputed, and as missing."""
    disputes: list[Dispute] = []
    gaps: list[ResearchGap] = []
    known = {each.number for each in questions}
    for row in answer.splitlines():
        label, words = labelled(row)
        before, _, after = words.replace(" – ", " — ").replace(" - ", " — ").partition(" — ")
        if label == "DISPUTED":
            numbers = numbers_in(f"[{before.replace('S', '').replace('s', '').strip()}]")
            sides = tuple(statements[at - 1] for at in numbers if 0 < at <= len(statements))
            if len(sides) > 1 and len({each.cites for each in sides}) > 1:
                disputes.append(Dispute(sides, after.strip()))
        elif label == "GAP" and before.strip(" Qq.").isdigit() and int(before.strip(" Qq.")) in known:
            gaps.append(ResearchGap(int(before.strip(" Qq.")), after.strip()))
    return disputes, tuple(gaps)
