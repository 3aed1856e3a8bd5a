"""Durations counted in buckets, so that a day's file stays small however often something happens.

The bounds are about 1.5 apart, so a quantile is exact to half of its bucket; 0.2 s, the target of recall, is a bound.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import field

from agent.dataclass import dataclass

BOUNDS = tuple(
    factor * unit for unit in (0.001, 0.01, 0.1, 1.0) for factor in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
) + (10.0,)  # fmt: skip
"""The upper bounds of the buckets in seconds; longer durations are in one more bucket."""
LONGER = "inf"
SUM = "sum"
_NAMES = tuple(f"{bound:g}" for bound in BOUNDS)


@dataclass(frozen=True, slots=True)
class Durations:
    """The numbers of durations by the upper bound of their bucket (`0.2`, …, `inf`), and their sum in seconds."""

    counts: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def count(self) -> float:
        """The number of durations."""
        return sum(self.counts.values())

    def cumulated(self) -> Iterator[tuple[str, float]]:
        """Each bound, ascending, with the number of durations up to it; `inf` last."""
        total = 0.0
        for name in (*_NAMES, LONGER):
            total += self.counts.get(name, 0)
            yield name, total

    def quantile(self, share: float) -> float | None:
        """The seconds that this share of the durations (0 to 1) does not exceed, interpolated within a bucket; None
        without durations. A duration above the last bound counts as that bound."""
        if not self.count:
            return None
        wanted = share * self.count
        below, lower = 0.0, 0.0
        for (name, up_to), upper in zip(self.cumulated(), BOUNDS, strict=False):
            if up_to >= wanted and self.counts.get(name, 0):
                return lower + (upper - lower) * (wanted - below) / (up_to - below)
            below, lower = up_to, upper
        return BOUNDS[-1]


def bucket_of(seconds: float) -> str:
    """The name of the bucket of a duration."""
    at = bisect_left(BOUNDS, seconds)
    return _NAMES[at] if at < len(_NAMES) else LONGER


def parse_durations(figures: Mapping[str, float]) -> Durations:
    """The durations from the figures of a day's file; unknown names are left out."""
    counts = {name: figures[name] for name in (*_NAMES, LONGER) if figures.get(name, 0) > 0}
    return Durations(counts, figures.get(SUM, 0.0))
