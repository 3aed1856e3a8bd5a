"""A fact: looked for in the vault first, then in two or three sources of the web, the most trusted ones; the program
judges by what each of them says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from agent.dataclass import dataclass
from agent.growth.research.answers import by_label, quoted
from agent.growth.research.calls import CallShare
from agent.growth.research.claims import plain
from agent.growth.research.desk import ResearchDesk
from agent.growth.research.findings import (
    LIMITS,
    CitedStatement,
    Dispute,
    FactStance,
    ResearchFindings,
    Verdict,
    found_disputes,
    whole_topic,
)
from agent.growth.research.reading import Reading
from agent.growth.research.research_note import checked_report

_NOTES = 3
_WITNESSES = 3
"""Pages that are read."""
_STANCE = re.compile(
    r"\W*(\d{1,3})\W{0,4}(?:(supports?\b|支持|证实)|(contradicts?\b|矛盾|反驳|反对)|silent\b|未提及|没有提到)"
    r"[\s—–:：-]*(.*)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class FactCheck:
    """The work on a fact."""

    desk: ResearchDesk
    readings: list[Reading] = field(default_factory=list)

    def go(self) -> ResearchFindings:
        """The statements of the sources, with the verdict; raises `Interrupted`."""
        desk, share = self.desk, CallShare(LIMITS["fact"].calls)
        for source in desk.own:
            notes = desk.search(source, desk.topic, share)[:_NOTES]
            self.readings += filter(None, [desk.open(source, each, share) for each in notes])
        self.readings += desk.read_web((desk.topic,), share, _WITNESSES)
        answer = desk.write("fact", sources=desk.framed(self.readings, "")) if self.readings else ""
        return self._judged(answer) if answer else self.findings()

    def findings(self) -> ResearchFindings:
        """The sources in their own words; nobody has judged."""
        statements = tuple(quoted(self.readings, self.desk.topic, 1))
        disputes = found_disputes(statements)
        verdict: Verdict = "open" if not statements else "disputed" if disputes else "quoted"
        return ResearchFindings((whole_topic(self.desk.topic),), statements, disputes, verdict=verdict)

    def _judged(self, answer: str) -> ResearchFindings:
        stances, refused = _stances(answer, {each.number: each for each in self.readings})
        rows = by_label(answer)
        words = next(iter((*rows["ANSWER"], *rows["VERDICT"])), "")
        report = checked_report(self.desk, words) if words else None
        if not stances and report is None:
            return replace(self.findings(), refused=refused)
        telling = [each for each in stances if each.says != "silent"]
        statements = tuple(CitedStatement(each.quote, (each.number,), is_quoted=True) for each in telling)
        verdict = _verdict(stances)
        disputes = found_disputes(statements, [Dispute(statements)] if verdict == "disputed" else ())
        return ResearchFindings(
            (whole_topic(self.desk.topic),),
            statements,
            disputes,
            report=report,
            verdict="disputed" if disputes else verdict,
            stances=stances,
            refused=refused,
        )


def _stances(answer: str, known: Mapping[int, Reading]) -> tuple[tuple[FactStance, ...], int]:
    """The stance of each source; one whose words are not in it counts as silent, and is counted."""
    found: dict[int, FactStance] = {}
    refused = 0
    for stance in filter(None, map(_STANCE.match, answer.splitlines())):
        number, quote = int(stance[1]), stance[4].strip(" \t—–-:：*\"“”‘’「」'")
        if number not in known or number in found:
            continue
        found[number] = FactStance(number, "silent")
        if stance[2] or stance[3]:
            if plain(quote) and plain(quote) in plain(known[number].text):
                found[number] = FactStance(number, "supports" if stance[2] else "contradicts", quote)
            else:
                refused += 1
    return tuple(found.values()), refused


def _verdict(stances: Sequence[FactStance]) -> Verdict:
    yes, no = (sum(each.says == word for each in stances) for word in ("supports", "contradicts"))
    if yes and no:
        return "disputed"
    if yes:
        return "confirmed" if yes > 1 else "supported"
    if no:
        return "refuted" if no > 1 else "contradicted"
    return "open"
