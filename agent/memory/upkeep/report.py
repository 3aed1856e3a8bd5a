"""The report of an upkeep, for the daily note and the command line: what was done to which notes."""

from collections.abc import Iterator, Mapping, Sequence

from agent.dataclass import dataclass
from agent.texts import Language, text

_SHOWN = 10
"""The most names listed of each kind; the rest are counted."""


@dataclass(frozen=True, slots=True)
class UpkeepReport:
    """The report of an upkeep: links to notes, except `added` and `memory_archived`, which are texts of
    facts.

    `archived` have expired, `merged` are pairs (the remaining entry, the replaced ones), `shortened` are days,
    `memory_merged` counts lines of MEMORY.md, `too_large` is true if it still exceeds its size.
    """

    archived: tuple[str, ...] = ()
    merged: tuple[tuple[str, tuple[str, ...]], ...] = ()
    shortened: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    memory_merged: int = 0
    memory_archived: tuple[str, ...] = ()
    too_large: bool = False

    @property
    def is_empty(self) -> bool:
        """True if nothing was done."""
        return not any((*self.counts.values(), self.memory_merged, self.memory_archived))

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of notes or facts of each kind."""
        return {
            "archived": len(self.archived),
            "merged": sum(len(others) for _, others in self.merged),
            "shortened": len(self.shortened),
            "added": len(self.added),
        }


def report_title(language: Language) -> str:
    """The heading of the report."""
    return text("memory_report.title", language)


def report_lines(report: UpkeepReport, language: Language) -> Iterator[str]:
    """The report, line by line."""
    merged = [f"{' '.join(others)} → {into}" for into, others in report.merged]
    lists: Sequence[tuple[str, Sequence[str], int]] = (
        ("archived", report.archived, len(report.archived)),
        ("merged", merged, report.counts["merged"]),
        ("shortened", report.shortened, len(report.shortened)),
        ("added", report.added, len(report.added)),
        ("memory_archived", report.memory_archived, len(report.memory_archived)),
    )
    for name, items, count in lists:
        if items:
            more = [text("memory_report.more", language, number=len(items) - _SHOWN)] if len(items) > _SHOWN else []
            yield text(f"memory_report.{name}", language, number=count, items="; ".join([*items[:_SHOWN], *more]))
    if report.memory_merged:
        yield text("memory_report.memory_merged", language, number=report.memory_merged)
    if report.too_large:
        yield text("memory_report.too_large", language)
    if not report.is_empty:
        yield text("memory_report.undo", language)
