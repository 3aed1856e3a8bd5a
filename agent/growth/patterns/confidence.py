"""How sure a pattern is: by its lift over chance, and by how recent it is. Pure.

    confidence = certainty × recurrence

`certainty` is 1 - m·P, where P is the probability of at least so many cases by chance alone, and m the number of
candidates that were looked at (Bonferroni's correction). P is the tail of a Poisson distribution whose mean is the
count to be expected from the base rate; for the shares of two periods it is that of a binomial distribution, as
Przyborowski and Wilenski (1940) compare two Poisson rates.

`recurrence` is the probability of at least one more case within the next half-life, if cases come as a Poisson process
whose rate is the exponentially smoothed count: each case counts 2^(-age/14 days). With the sum S of these weights it is
1 - 2^(-S): three cases of today give .88, three of a month ago .40. The number of all entries does not appear in it, so
that a pattern does not sink as the vault grows.
"""

import math
from collections.abc import Iterable
from datetime import datetime

HALF_LIFE = 14.0
"""Days after which a case counts half."""
_DAY = 86_400.0


def confidence(chance: float, cases: Iterable[datetime], now: datetime) -> float:
    """The confidence from 0 to 1, of a pattern with these cases; `chance` is m·P as above."""
    return round(max(0.0, 1.0 - chance) * recurrence(cases, now), 2)


def recurrence(cases: Iterable[datetime], now: datetime) -> float:
    """The probability of one more case within the next half-life."""
    total = sum(math.exp2(-max(0.0, (now - at).total_seconds()) / _DAY / HALF_LIFE) for at in cases)
    return 1.0 - math.exp2(-total)


def poisson_tail(least: int, mean: float) -> float:
    """P(X >= least) for a Poisson distributed X."""
    below, term = 0.0, math.exp(-mean)
    for number in range(least):
        below += term
        term *= mean / (number + 1)
    return max(0.0, 1.0 - below)


def binomial_tail(least: int, count: int, share: float) -> float:
    """P(X >= least) for the number X of successes in `count` trials, each with the probability `share`."""
    if share >= 1.0:
        return 1.0
    odds = math.log(share), math.log1p(-share)
    whole = math.lgamma(count + 1)
    terms = (
        whole - math.lgamma(each + 1) - math.lgamma(count - each + 1) + each * odds[0] + (count - each) * odds[1]
        for each in range(least, count + 1)
    )
    return min(1.0, sum(map(math.exp, terms)))
