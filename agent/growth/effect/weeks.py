"""What gets done with and without the agent's unasked help, by weeks: the counts, and what they allow to say.

Two comparisons, neither of them an experiment. Of the requests to the agent: those for which it brought up notes or a
skill by itself, and the others. Of the boxes in the person's notes: the weeks in which the agent helped unasked (it
brought something up for a request, or a suggestion was shown), and the other weeks in which the person wrote.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from agent.attention.outbox import SUGGESTIONS
from agent.attention.receipt import NoticeReceipt
from agent.dataclass import dataclass
from agent.growth.effect.ticked import EditDay
from agent.metrics.comparison import Group, GroupComparison, compare_means, compare_shares
from agent.metrics.counted import FINISHED
from agent.metrics.totals import MetricTotals

WEEKS = 26
"""The weeks that are looked at, the present one among them."""
_WEEK = timedelta(weeks=1)


@dataclass(frozen=True, slots=True)
class EffectWeek:
    """One week from its Monday on. Of the person's requests that ended: `helped` are those for which something was
    brought up unasked, `helped_done` those of them that were finished; `unhelped` the others. `suggestions` are those
    that were shown, `ticked` the boxes that the person ticked in `edits` commits."""

    monday: date
    helped: int = 0
    helped_done: int = 0
    unhelped: int = 0
    unhelped_done: int = 0
    suggestions: int = 0
    ticked: int = 0
    edits: int = 0

    @property
    def is_with(self) -> bool:
        """True if the agent helped unasked in this week."""
        return bool(self.helped or self.suggestions)


@dataclass(frozen=True, slots=True)
class HelpEffect:
    """The weeks, the oldest first, without those before anything happened; and the two comparisons. The present week
    is not over, so its boxes are not compared."""

    weeks: tuple[EffectWeek, ...]
    requests: GroupComparison
    boxes: GroupComparison


def first_monday(now: datetime) -> date:
    """The Monday of the first week that is looked at."""
    return _monday(now.date()) - (WEEKS - 1) * _WEEK


def effect_of_help(
    now: datetime, days: Mapping[date, MetricTotals], receipts: Iterable[NoticeReceipt], edits: Iterable[EditDay]
) -> HelpEffect:
    """The effect in the last 26 weeks, from the metrics of days, the notices, and the person's commits."""
    start = first_monday(now)
    weeks = {start + number * _WEEK: EffectWeek(start + number * _WEEK) for number in range(WEEKS)}

    def add(day: date, **numbers: int) -> None:
        week = weeks.get(_monday(day))
        if week is not None:
            added = {name: getattr(week, name) + number for name, number in numbers.items()}
            weeks[week.monday] = replace(week, **added)

    for day, totals in days.items():
        add(day, helped=_all(totals.helped), helped_done=_done(totals.helped))
        add(day, unhelped=_all(totals.unhelped), unhelped_done=_done(totals.unhelped))
    for shown in _suggested(tuple(receipts)):
        add(shown.astimezone(now.tzinfo).date(), suggestions=1)
    for edit in edits:
        add(edit.when.astimezone(now.tzinfo).date(), ticked=edit.ticked, edits=1)
    found = tuple(weeks.values())
    begun = next((at for at, week in enumerate(found) if week != EffectWeek(week.monday)), len(found))
    return HelpEffect(found[begun:], _of_requests(found), _of_boxes(found[begun:], _monday(now.date())))


def _suggested(receipts: Sequence[NoticeReceipt]) -> Iterator[datetime]:
    """When each suggestion was shown, by itself or in a digest."""
    by_id = {each.id: each for each in receipts}
    for each in receipts:
        shown = by_id.get(each.digest, each).delivered_at
        if each.raised.type in SUGGESTIONS and shown is not None:
            yield shown


def _of_requests(weeks: Iterable[EffectWeek]) -> GroupComparison:
    rows = tuple(weeks)
    helped = Group(sum(each.helped for each in rows), sum(each.helped_done for each in rows))
    unhelped = Group(sum(each.unhelped for each in rows), sum(each.unhelped_done for each in rows))
    return compare_shares(helped, unhelped)


def _of_boxes(weeks: Iterable[EffectWeek], present: date) -> GroupComparison:
    written = [each for each in weeks if each.edits and each.monday != present]
    return compare_means(
        [each.ticked for each in written if each.is_with], [each.ticked for each in written if not each.is_with]
    )


def _all(outcomes: Mapping[str, float]) -> int:
    return int(sum(outcomes.values()))


def _done(outcomes: Mapping[str, float]) -> int:
    return int(outcomes.get(FINISHED, 0))


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())
