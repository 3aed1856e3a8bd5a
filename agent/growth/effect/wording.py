"""The effect of unasked help in words: the counts, how sure the difference is, and how little it proves."""

from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.growth.effect.weeks import HelpEffect
from agent.metrics.comparison import LEAST, LEAST_WEEKS, Group, GroupComparison
from agent.texts import Language, text

ComparedKind: TypeAlias = Literal["requests", "boxes"]


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    """One comparison: its title, a line for each group, and what can be said of the difference."""

    title: str
    given: str
    plain: str
    verdict: str


def comparison_words(effect: HelpEffect, language: Language) -> tuple[ComparisonWords, ...]:
    """The comparisons of which at least one group has a case."""
    found: tuple[tuple[ComparedKind, GroupComparison], ...] = (("requests", effect.requests), ("boxes", effect.boxes))
    return tuple(
        ComparisonWords(
            text(f"effect.{kind}", language),
            _group(kind, "with", each.given, language),
            _group(kind, "without", each.plain, language),
            _verdict(kind, each, language),
        )
        for kind, each in found
        if each.given.count or each.plain.count
    )


def caution(language: Language) -> str:
    """Why none of it is a proof."""
    return text("effect.caution", language)


def _group(kind: ComparedKind, which: str, group: Group, language: Language) -> str:
    mean = group.mean or 0.0
    return text(
        f"effect.{kind}_{which}",
        language,
        done=f"{group.done:g}",
        count=group.count,
        mean=f"{100 * mean:.0f}" if kind == "requests" else f"{mean:.1f}",
    )


def _verdict(kind: ComparedKind, found: GroupComparison, language: Language) -> str:
    difference = found.difference
    if difference is None:
        least = LEAST if kind == "requests" else LEAST_WEEKS
        return text(f"effect.{kind}_too_few", language, least=least)
    scale = 100 if kind == "requests" else 1
    value, low, high = (f"{scale * each:+.1f}" for each in (difference.value, difference.low, difference.high))
    end = "chance" if difference.may_be_chance else "differs"
    return text(f"effect.{kind}_{end}", language, value=value, low=low, high=high)
