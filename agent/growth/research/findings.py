"""What a research has found: the value from which its note is written."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.research.authority import is_strong
from agent.growth.research.claims import CheckedText
from agent.growth.research.outline import ResearchQuestion
from agent.growth.research.source import Reading
from agent.growth.research.statements import CitedStatement, Dispute, FoundMethod

Verdict: TypeAlias = Literal["confirmed", "supported", "refuted", "contradicted", "disputed", "open", "quoted"]
"""What became of a fact: several sources confirm or refute it, or a single one; they disagree; none says; or nobody
has judged, and the sources are only quoted."""
Confidence: TypeAlias = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class ResearchGap:
    """What a question of the outline still needs."""

    question: int
    words: str


@dataclass(frozen=True, slots=True)
class FactStance:
    """What one source says about a fact, with its own words."""

    number: int
    says: Literal["supports", "contradicts", "silent"]
    quote: str = ""


@dataclass(frozen=True, slots=True)
class ResearchFindings:
    """All that a research has found. `report` is its text as a model wrote it, checked (None: there is none, and the
    statements stand for it); `verdict` and `stances` are those of a fact. `refused` counts what models said and what no
    source has."""

    questions: tuple[ResearchQuestion, ...]
    statements: tuple[CitedStatement, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    gaps: tuple[ResearchGap, ...] = ()
    methods: tuple[FoundMethod, ...] = ()
    report: CheckedText | None = None
    verdict: Verdict | None = None
    stances: tuple[FactStance, ...] = ()
    refused: int = 0

    @property
    def cited(self) -> tuple[int, ...]:
        """The numbers of the sources that the findings rest on."""
        numbers = [number for each in self.statements for number in each.cites]
        numbers += self.report.cited if self.report is not None else ()
        return tuple(sorted(set(numbers)))


def confidence_of(findings: ResearchFindings, readings: Mapping[int, Reading]) -> Confidence:
    """How sure a reader may be: by how many independent sources there are, by what they are, by how much of the report
    rests on them, and by whether they agree."""
    cited = [readings[number] for number in findings.cited if number in readings]
    houses = {_house(each) for each in cited if not each.is_excerpt}
    strong = sum(is_strong(each.authority) or each.authority == "own" for each in cited)
    unsound = 0.0
    if findings.report is not None and findings.report.sentences:
        unsound = 1 - findings.report.count(None) / len(findings.report.sentences)
    if len(houses) < 2 or unsound > 0.4 or findings.verdict in ("open", "supported", "contradicted", "quoted"):
        return "low"
    if len(houses) >= 3 and strong and unsound <= 0.1 and not findings.disputes and findings.verdict != "disputed":
        return "high"
    return "medium"


def by_question(statements: Iterable[CitedStatement], number: int) -> Sequence[CitedStatement]:
    """The statements that belong to one question."""
    return [each for each in statements if each.question == number]


def _house(reading: Reading) -> str:
    """What stands behind a source: the host of a page, or the note itself."""
    return reading.address.split("/")[2] if reading.is_public else reading.address
