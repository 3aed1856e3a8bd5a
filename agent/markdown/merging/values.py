"""The merge of header values: lists as sets, mappings by key, times and counters by what their key means."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TypeGuard

from agent.dataclass import dataclass
from agent.markdown.merging.order import merge_order
from agent.markdown.yaml_write import Value, is_list, same

EARLIEST = frozenset({"created", "created_at", "date created", "since"})
"""Keys whose time never moves forward: two machines that made the same note made it at the earlier one."""
LATEST = frozenset(
    {"said", "updated", "updated_at", "modified", "date modified", "last_used", "last_run", "last_seen", "last_update",
     "last_updated", "reviewed"}
)  # fmt: skip
"""Keys whose time says when something was last so."""
COUNTERS = frozenset({"times", "uses", "count", "usage_count", "success_count", "failure_count", "runs", "samples"})
"""Whole numbers that both sides count on: what each side added is added."""


@dataclass(frozen=True, slots=True)
class MergedValue:
    """`is_conflict`: the value is the first side's, which the second contradicts."""

    value: Value
    is_conflict: bool = False


def merge_values(key: str, base: Value, first: Value, second: Value) -> MergedValue:
    """The value of a key that both sides have; `base` is None where the base has no such key."""
    if same(first, second) or same(base, second):
        return MergedValue(first)
    if same(base, first):
        return MergedValue(second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return _merge_mappings(base if isinstance(base, Mapping) else {}, first, second)
    if is_list(first) and is_list(second):
        before = base if is_list(base) else () if base is None or isinstance(base, Mapping) else (base,)
        return MergedValue(merge_lists(before, first, second))
    ordered = _by_meaning(key, base, first, second)
    return MergedValue(first, True) if ordered is None else MergedValue(ordered)


def merge_lists(base: Sequence[Value], first: Sequence[Value], second: Sequence[Value]) -> Sequence[Value]:
    """The items of both sides once each, without those that one of them took out."""
    sides = [_numbered(items) for items in (base, first, second)]
    b, f, s = sides
    alive = {mark for mark in f | s if (mark in f and mark in s) or mark not in b}
    order = merge_order(list(b), list(f), list(s), alive, lambda one, other: sum(sorted([one, other]), []))
    return tuple((f | s)[mark] for mark in order)


def _numbered(items: Sequence[Value]) -> dict[str, Value]:
    """The items by a text that tells them apart; equal items get numbers."""
    found: dict[str, Value] = {}
    for item in items:
        mark, number = f"{type(item).__name__} {item!r}", 0
        while f"{mark} {number}" in found:
            number += 1
        found[f"{mark} {number}"] = item
    return found


def _merge_mappings(base: Mapping[str, Value], first: Mapping[str, Value], second: Mapping[str, Value]) -> MergedValue:
    merged: dict[str, Value] = {}
    is_conflict = False
    for key in first.keys() | second.keys():
        if key in first and key in second:
            found = merge_values(key, base.get(key), first[key], second[key])
            merged[key], is_conflict = found.value, is_conflict or found.is_conflict
        else:
            side = first if key in first else second
            if key not in base or not same(base[key], side[key]):
                merged[key] = side[key]
    order = merge_order(list(base), list(first), list(second), merged, lambda one, other: sum(sorted([one, other]), []))
    return MergedValue({key: merged[key] for key in order}, is_conflict)


def _by_meaning(key: str, base: Value, first: Value, second: Value) -> Value:
    """The later or earlier of two times, or the sum of what was counted; None for a key of no such meaning."""
    name = key.casefold()
    if name in COUNTERS and is_count(first) and is_count(second):
        return max(first, second, first + second - (base if is_count(base) else 0))
    if name in EARLIEST | LATEST:
        times = [(_moment(value), str(value), value) for value in (first, second)]
        if all(time is not None for time, _, _ in times):
            chosen = min if name in EARLIEST else max
            return chosen(times, key=lambda each: (each[0], each[1]))[2]
    return None


def is_count(value: Value) -> TypeGuard[int]:
    """True for a whole number that is no boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _moment(value: Value) -> datetime | None:
    """The moment of a date or time; one without a zone counts as UTC."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None
