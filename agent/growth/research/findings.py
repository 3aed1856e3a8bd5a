"""What is asked of a research and how much it may do; what it has found, how sure that is, and what contradicts itself;
and what came of it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.growth.research.claims import CheckedText
from agent.growth.research.own_sources import FolderSource
from agent.growth.research.reading import Reading
from agent.llm.messages import Cancelled, never
from agent.memory.understanding.rules import contradicts
from agent.tools.builtin.web import LIMITS as PAGE_LIMITS
from agent.tools.builtin.web import NETWORK, FetchLimits, WebNetwork
from agent.vault.change import Request

Verdict: TypeAlias = Literal["confirmed", "supported", "refuted", "contradicted", "disputed", "open", "quoted"]
"""What became of a fact: several sources confirm or refute it, or a single one; they disagree; none says; or nobody
has judged, and the sources are only quoted."""
Confidence: TypeAlias = Literal["high", "medium", "low"]
_CLAUSE = re.compile(r"[,，;；](?=\D)")
_MOST = 400
"""Statements that are compared with each other."""
ResearchKind: TypeAlias = Literal["fact", "topic", "repository", "deep"]
KINDS: tuple[ResearchKind, ...] = get_args(ResearchKind)
ResearchEnd: TypeAlias = Literal["done", "nothing", "limit", "stopped", "no_model"]
"""How a research ended: whole; with nothing found; because of the limits of spend; stopped by its person or its
deadline; or without the model, which did not answer."""


@dataclass(frozen=True, slots=True)
class ResearchQuestion:
    """One question of an outline, numbered from 1, with the searches that may answer it."""

    number: int
    text: str
    searches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """One thing that the sources `cites` say; `question` is the part of the outline that it belongs to, from 1.
    `is_quoted`: in the source's own words."""

    text: str
    cites: tuple[int, ...]
    question: int = 1
    is_quoted: bool = False

    @property
    def numbered(self) -> str:
        """The statement with the numbers of its sources behind it, as a model is shown it."""
        return f"{self.text} {''.join(f'[{number}]' for number in self.cites)}"


@dataclass(frozen=True, slots=True)
class FoundMethod:
    """A tool or a method that the sources `cites` describe, as `name` with what it is for (`use`)."""

    name: str
    use: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """Statements that cannot all be true, with what it is about (may be empty)."""

    sides: tuple[CitedStatement, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class ResearchGap:
    """Something that a question of the outline still needs."""

    question: int
    words: str


@dataclass(frozen=True, slots=True)
class FactStance:
    """The stance of one source on a fact, with its own words."""

    number: int
    says: Literal["supports", "contradicts", "silent"]
    quote: str = ""


@dataclass(frozen=True, slots=True)
class ResearchFindings:
    """All that a research has found. `report` is its text as a model wrote it, checked (None: there is none, and the
    statements stand for it); `verdict` and `stances` are those of a fact. `refused` counts what models wrote and what
    no source has."""

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
        return tuple(sorted({*numbers, *(self.report.cited if self.report is not None else ())}))

    def of_question(self, number: int) -> Sequence[CitedStatement]:
        """The statements that belong to one question."""
        return [each for each in self.statements if each.question == number]


def confidence_of(findings: ResearchFindings, readings: Mapping[int, Reading]) -> Confidence:
    """How sure a reader may be: by how many independent sources there are, by what they are, by how much of the report
    rests on them, and by whether they agree."""
    cited = [readings[number] for number in findings.cited if number in readings]
    houses = len({each.house for each in cited if not each.is_excerpt})
    flawed = findings.report.flawed / max(len(findings.report.sentences), 1) if findings.report is not None else 0.0
    lacks = (houses < 2, flawed > 0.4, findings.verdict in ("open", "supported", "contradicted", "quoted"))
    is_strong = any(each.is_strong for each in cited)
    doubts = (houses < 3, flawed > 0.1, not is_strong, bool(findings.disputes), findings.verdict == "disputed")
    return "low" if any(lacks) else "medium" if any(doubts) else "high"


def found_disputes(statements: Sequence[CitedStatement], known: Sequence[Dispute] = ()) -> tuple[Dispute, ...]:
    """The disputes that are `known`, and the statements of different sources that contradict each other by their words
    or figures; those with a side in common are one dispute."""
    pairs = (Dispute(pair) for pair in combinations(statements[:_MOST], 2) if _differ(*pair))
    joined: list[Dispute] = []
    for each in (*known, *pairs):
        near = [one for one in joined if not set(one.sides).isdisjoint(each.sides)]
        joined = [one for one in joined if one not in near]
        joined.append(_one_dispute((*near, each)))
    return tuple(joined)


def _one_dispute(disputes: Sequence[Dispute]) -> Dispute:
    sides = dict.fromkeys(side for each in disputes for side in each.sides)
    return Dispute(tuple(sides), next(filter(None, (each.words for each in disputes)), ""))


def _differ(one: CitedStatement, other: CitedStatement) -> bool:
    """True if two statements of different sources contradict each other, or a clause of one a clause of the other,
    unless both give further figures beside them, such as the years that they are about."""
    if not set(one.cites).isdisjoint(other.cites):
        return False
    return contradicts(one.text, other.text) or any(
        contradicts(left, right)
        for left, is_all_left in _clauses(one.text)
        for right, is_all_right in _clauses(other.text)
        if is_all_left or is_all_right
    )


@lru_cache(maxsize=2_048)
def _clauses(text: str) -> tuple[tuple[str, bool], ...]:
    """The clauses of a statement with figures, each with True if no other one has any."""
    parts = [each.strip() for each in _CLAUSE.split(text) if any(char.isdigit() for char in each)]
    return tuple((each, len(parts) == 1) for each in parts)


def whole_topic(topic: str) -> ResearchQuestion:
    """The topic as the one question."""
    return ResearchQuestion(1, topic, (topic,))


def numbered_rows(questions: Iterable[ResearchQuestion]) -> str:
    """The questions, a line each, with their numbers."""
    return "\n".join(f"{each.number}. {each.text}" for each in questions)


@dataclass(frozen=True, slots=True)
class KindLimits:
    """The limits of one kind of research. `calls`: searches and readings of a source, together. `questions`: parts of
    its outline; `share`: the calls for one of them, before gaps are looked at; `searches`: searches of the web among
    them; `at_once`: researchers at a time. `has_critic`: a critic looks for contradictions and gaps."""

    calls: int
    questions: int
    share: int
    searches: int = 1
    at_once: int = 1
    has_critic: bool = False


LIMITS: Mapping[ResearchKind, KindLimits] = MappingProxyType(
    {
        "fact": KindLimits(5, 1, 5),
        "topic": KindLimits(20, 4, 4),
        "repository": KindLimits(15, 1, 15),
        "deep": KindLimits(50, 6, 6, searches=2, at_once=4, has_critic=True),
    }
)
"""The calls are those of the seed. Of a topic's 20 and a deep research's 50, four and fourteen are left for gaps."""


@dataclass(frozen=True, slots=True)
class ResearchCall:
    """A request for a research. `folders` are named by the person; `path` is the note (empty: named after the topic).

    `job` and `spend` are as in `loop.records`, and `network` is how hosts are reached, `limits` those of each page.
    """

    topic: str
    kind: ResearchKind = "topic"
    folders: tuple[FolderSource, ...] = ()
    path: str = ""
    job: str = ""
    spend: float | None = None
    cancelled: Cancelled = never
    network: WebNetwork = NETWORK
    limits: FetchLimits = PAGE_LIMITS


@dataclass(frozen=True, slots=True)
class Research:
    """The result of a research. `requests` put it into the note at `path`, and what is remembered of it into memory.

    `short` is the report in a few sentences with their sources, and `text` what was found, as Markdown. Of at most
    `most` searches and readings `calls` were made, and models have answered `asked` times. `strangers` are the sources
    of text that is not the person's. `run` is the account of its `money` (US dollars). `why` says why it is not whole,
    `remarks` how it was done, such as without the web. `learns`: its conclusion is remembered, too.
    """

    end: ResearchEnd
    path: str
    sources: tuple[Reading, ...]
    findings: ResearchFindings
    confidence: Confidence
    text: str
    most: int
    calls: int = 0
    asked: int = 0
    money: float = 0.0
    run: str = ""
    short: str = ""
    requests: tuple[Request, ...] = ()
    strangers: tuple[str, ...] = ()
    learns: bool = False
    is_plain: bool = False
    why: str = ""
    remarks: tuple[str, ...] = ()
