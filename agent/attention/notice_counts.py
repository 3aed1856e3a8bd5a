"""How many notices were raised on each day, and what was decided about them at first."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, tzinfo

from agent.attention.receipt import NoticeReceipt
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NoticeCounts:
    """The notices of some days, without digests, by their first decision: `sent` at once, `held` for a while, left for
    a `digest`, or `dropped`. `helpful` and `unhelpful` are what the person said of them."""

    sent: int = 0
    held: int = 0
    digest: int = 0
    dropped: int = 0
    helpful: int = 0
    unhelpful: int = 0

    @property
    def raised(self) -> int:
        """All of them."""
        return self.sent + self.held + self.digest + self.dropped

    def plus(self, other: "NoticeCounts") -> "NoticeCounts":
        """The counts of both."""
        names = ("sent", "held", "digest", "dropped", "helpful", "unhelpful")
        return NoticeCounts(**{name: getattr(self, name) + getattr(other, name) for name in names})


def counts_by_day(receipts: Iterable[NoticeReceipt], zone: tzinfo | None) -> Mapping[date, NoticeCounts]:
    """The counts of each day on which a notice was raised, the oldest first; `zone` says when a day begins."""
    found: dict[date, NoticeCounts] = {}
    for each in sorted(receipts, key=lambda receipt: receipt.at):
        if not each.is_digest:
            day = each.at.astimezone(zone).date()
            found[day] = found.get(day, NoticeCounts()).plus(_of_one(each))
    return found


def total_of_days(days: Iterable[NoticeCounts]) -> NoticeCounts:
    """The counts of several days together."""
    found = NoticeCounts()
    for each in days:
        found = found.plus(each)
    return found


def _of_one(receipt: NoticeReceipt) -> NoticeCounts:
    one = NoticeCounts(
        helpful=receipt.reaction == "helpful", unhelpful=receipt.reaction in ("not_helpful", "dismissed")
    )
    return replace(one, **{receipt.first.decided: 1})
