"""The selection of memories for a task: quotas by kind, and order.

The figures are those of the memory plan. They limit a first round; remaining places go to the best of the rest, a
person's own before a chat's.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

T = TypeVar("T")

USER, CHAT = "user", "chat"
QUOTAS: Mapping[tuple[str, str], int] = MappingProxyType(
    {
        ("long_term", USER): 3,
        ("profile", USER): 2,
        ("daily", USER): 2,
        ("user_explicit", USER): 2,
        ("user_explicit", CHAT): 1,
        ("fact", USER): 8,
        ("fact", CHAT): 2,
        ("chat_turn", USER): 2,
        ("chat_turn", CHAT): 2,
        ("auto_capture", USER): 3,
        ("auto_capture", CHAT): 1,
        ("auto_flush", USER): 3,
        ("auto_flush", CHAT): 1,
        ("workflow_trace", USER): 1,
        ("research", USER): 2,
        ("reflection", USER): 1,
    }
)
"""Places by kind and scope; any other kind has one."""
FAINT = 0.05
"""The share of the best score below which a memory is noise beside it; in a small vault the places would go to whatever
is there. On `tests/bench/fortnight.py` it leaves out one memory in seven, and no question loses its fact; 0.15 leaves
out two in seven, and four of 240 lose theirs."""
WORTHY = 0.35
"""The share of the best score from which a memory can precede better ones whose quota is used up."""


def share(
    ranked: Sequence[T], limit: int, kind: Callable[[T], tuple[str, str]], score: Callable[[T], float]
) -> tuple[T, ...]:
    """At most `limit` of `ranked` (best first): within the quotas, then the best of the rest; best first again."""
    if not ranked or limit <= 0:
        return ()
    least = score(ranked[0]) * WORTHY
    used: Counter[tuple[str, str]] = Counter()
    chosen: list[int] = []
    for at, each in enumerate(ranked):
        if len(chosen) >= limit or score(each) < least:
            break
        if used[kind(each)] < QUOTAS.get(kind(each), 1):
            used[kind(each)] += 1
            chosen.append(at)
    rest = [at for at in range(len(ranked)) if at not in set(chosen)]
    rest.sort(key=lambda at: kind(ranked[at])[1] == CHAT)  # a stable sort keeps the order of rank
    chosen += rest[: limit - len(chosen)]
    return tuple(ranked[at] for at in sorted(chosen))
