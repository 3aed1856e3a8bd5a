"""The effect of unasked help as a document for JSON, the same for every interface."""

from collections.abc import Mapping

from agent.growth.effect.weeks import HelpEffect
from agent.metrics.comparison import GroupComparison


def effect_document(effect: HelpEffect) -> Mapping[str, object]:
    """The two comparisons, and the weeks that they are made of."""
    weeks = [
        {
            "monday": each.monday.isoformat(),
            "with": each.is_with,
            "requests_with": each.helped,
            "finished_with": each.helped_done,
            "requests_without": each.unhelped,
            "finished_without": each.unhelped_done,
            "suggestions": each.suggestions,
            "ticked": each.ticked,
        }
        for each in effect.weeks
    ]
    return {"requests": _document(effect.requests), "boxes": _document(effect.boxes), "weeks": weeks}


def _document(found: GroupComparison) -> Mapping[str, object]:
    difference = found.difference
    return {
        "with": {"count": found.given.count, "done": found.given.done},
        "without": {"count": found.plain.count, "done": found.plain.done},
        "difference": None if difference is None else difference.value,
        "interval": None if difference is None else [difference.low, difference.high],
    }
