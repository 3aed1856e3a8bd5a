"""Search, and what a run would be given for a task."""

from agent.deeds.result import ResultValue
from agent.index.query import Hit, SearchResult
from agent.runs.recall_source import RecallPreview


class HitSignal(ResultValue, frozen=True):
    """One reason for a hit: its rank and score in this search, and its share of the whole score."""

    leg: str
    rank: int
    score: float
    share: float


class Found(ResultValue, frozen=True):
    """A note, or a passage of one."""

    path: str
    title: str
    id: str | None
    score: float
    lines: list[int]
    passage: str
    headings: list[str]
    why: list[HitSignal]


class Findings(ResultValue, frozen=True):
    """The hits, best first; `degraded` says what keeps the search from finding all."""

    query: str
    mode: str
    degraded: str | None
    engine: str
    took_ms: float
    hits: list[Found]


class RecalledPassage(ResultValue, frozen=True):
    """A passage with its receipt."""

    path: str
    title: str
    lines: list[int]
    commit: str | None
    score: float
    why: list[HitSignal]
    headings: list[str]
    text: str


class RecallView(ResultValue, frozen=True):
    """What a run would be given for a task."""

    task: str
    mode: str
    degraded: str | None
    pieces: list[RecalledPassage]


def findings(answer: SearchResult, took: float, late: str | None) -> Findings:
    """The result of a search of so many milliseconds; `late` is why the index is behind."""
    return Findings.of(
        answer,
        mode="hybrid" if answer.mode == "hybrid" else "keyword",
        degraded="; ".join(dict.fromkeys(filter(None, [answer.degraded, late]))),
        took_ms=round(took, 1),
        hits=[Found.of(hit, why=_why(hit)) for hit in answer.hits],
    )


def recall_view(found: RecallPreview, task: str) -> RecallView:
    """What a run would be given for a task."""
    pieces = [
        RecalledPassage.of(hit, commit=commit, text=hit.passage, why=_why(hit))
        for hit, commit in zip(found.answer.hits, found.commits, strict=True)
    ]
    return RecallView.of(found.answer, task=task, pieces=pieces)


def _why(hit: Hit) -> list[HitSignal]:
    return [HitSignal.of(leg, leg=leg.name) for leg in hit.why]
