"""The most memories of a kind that are given at once: `memory.quotas`."""

from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=8)
def parse_quotas(told: str) -> dict[tuple[str, str], int]:
    """The numbers in a text such as `fact_chat:2, auto_capture_user:3`, by the type of an entry and its scope."""
    pairs = (each.strip().split(":") for each in told.split(",") if each.strip())
    parted = ((kind.rpartition("_"), int(number)) for kind, number in pairs)
    return {(kind, scope): number for (kind, _, scope), number in parted}


def is_within_quota(told: str, kind: tuple[str, str], chosen: Iterable[tuple[str, str]]) -> bool:
    """True if one more of a kind may be given beside those chosen; each is its type and its scope."""
    most = parse_quotas(told).get(kind)
    return most is None or sum(each == kind for each in chosen) < most
