"""A fact: looked for in the vault first, then in two or three sources of the web, the most trusted ones; the program
judges by what each of them says."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.growth.research.authority import ranked
from agent.growth.research.budget import BudgetSpent, CallShare
from agent.growth.research.claims import plain
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import FactStance, ResearchFindings, Verdict
from agent.growth.research.kinds import LIMITS
from agent.growth.research.outline import whole_topic
from agent.growth.research.researcher import ResearchGround
from agent.growth.research.source import Reading
from agent.growth.research.statements import CitedStatement, Dispute, found_disputes, labelled, quoted
from agent.growth.research.write_report import checked_report

_NOTES = 3
_WITNESSES = 3
"""Pages that are read."""
_STANCE = re.compile(
    r"\W*(\d{1,3})\W{0,4}(supports?\b|contradicts?\b|silent\b|支持|证实|矛盾|反驳|反对|未提及|没有提到)[\s—–:：-]*(.*)",
    re.IGNORECASE,
)
_FOR = frozenset(("support", "supports", "支持", "证实"))
_AGAINST = frozenset(("contradict", "contradicts", "矛盾", "反驳", "反对"))


@dataclass(slots=True)
class FactCheck:
    """The work on a fact."""

    desk: ResearchDesk
    ground: ResearchGround
    readings: list[Reading] = field(default_factory=list)

    def go(self) -> ResearchFindings:
        """What the sources say, with the verdict; raises `Interrupted`."""
        share = CallShare(LIMITS["fact"].calls)
        with suppress(BudgetSpent):
            for source in self.ground.own:
                leads = self.desk.search(source, self.desk.topic, share)[:_NOTES]
                self.readings += filter(None, (self.desk.open(source, each, share) for each in leads))
        with suppress(BudgetSpent):
            self._ask_the_web(share)
        if not self.readings:
            return self.findings()
        answer = self.desk.ask(
            "fact",
            topic=self.desk.topic,
            sources=self.desk.shown(self.readings, ""),
            language=self.desk.language,
        )
        return self._judged(answer) if answer else self.findings()

    def findings(self) -> ResearchFindings:
        """The sources in their own words; nobody has judged."""
        statements = quoted(self.readings, self.desk.topic, 1)
        disputes = found_disputes(statements, lambda one, other: False)
        verdict: Verdict = "open" if not statements else "disputed" if disputes else "quoted"
        return ResearchFindings((whole_topic(self.desk.topic),), statements, disputes, verdict=verdict)

    def _ask_the_web(self, share: CallShare) -> None:
        web = self.ground.web
        if web is None:
            return
        leads = [*web.leads()]
        if web.engines:
            leads += ranked(self.desk.search(web, self.desk.topic, share), "fact", per_host=1)
        count = 0
        for each in leads:
            found = self.desk.open(web, each, share)
            if found is not None:
                self.readings.append(found)
                count += 1
            if count >= _WITNESSES:
                break

    def _judged(self, answer: str) -> ResearchFindings:
        known = {each.number: each for each in self.readings}
        stances, refused = _stances(answer, known)
        words = next((words for label, words in map(labelled, answer.splitlines()) if label in _ANSWERS), "")
        report = checked_report(self.desk, words) if words else None
        if not stances and report is None:
            return replace(self.findings(), refused=refused)
        statements = tuple(
            CitedStatement(each.quote, (each.number,), is_quoted=True) for each in stances if each.says != "silent"
        )
        verdict = _verdict(stances)
        disputes = (Dispute(statements),) if verdict == "disputed" else found_disputes(statements, lambda _, __: False)
        verdict = "disputed" if disputes else verdict
        question = (whole_topic(self.desk.topic),)
        return ResearchFindings(
            question, statements, disputes, report=report, verdict=verdict, stances=stances, refused=refused
        )


_ANSWERS = frozenset(("ANSWER", "VERDICT"))


def _stances(answer: str, known: Mapping[int, Reading]) -> tuple[tuple[FactStance, ...], int]:
    """What each source says; one whose words are not in it counts as silent, and is counted."""
    found: dict[int, FactStance] = {}
    refused = 0
    for row in answer.splitlines():
        stance = _STANCE.match(row)
        if stance is None or int(stance[1]) not in known or int(stance[1]) in found:
            continue
        number, word, quote = int(stance[1]), stance[2].lower(), stance[3].strip(" \t—–-:：*\"“”‘’「」'")
        is_there = bool(plain(quote)) and plain(quote) in plain(known[number].text)
        if word in _FOR | _AGAINST and is_there:
            found[number] = FactStance(number, "supports" if word in _FOR else "contradicts", quote)
        else:
            found[number] = FactStance(number, "silent")
            refused += word in _FOR | _AGAINST
    return tuple(found.values()), refused


def _verdict(stances: Sequence[FactStance]) -> Verdict:
    yes = sum(each.says == "supports" for each in stances)
    no = sum(each.says == "contradicts" for each in stances)
    if yes and no:
        return "disputed"
    if not yes and not no:
        return "open"
    if yes:
        return "confirmed" if yes > 1 else "supported"
    return "refuted" if no > 1 else "contradicted"
