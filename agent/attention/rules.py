"""The rules of attention: pure functions of a notice, the receipts so far, the settings and the time.

In this order: a duplicate is dropped; what is not important enough goes to the digest; what is urgent is sent; in quiet
hours it is held; beyond the day's number it goes to the digest; too soon after the last one, or the last one of its
type, it is held; else it is sent. A notice that is on its way counts as shown now, so that a slow channel cannot bring
two together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta

from agent.attention.quiet import QuietHours, parse_quiet
from agent.attention.receipt import AttentionRule, NoticeDecision, NoticeReceipt
from agent.config.attention_settings import AttentionSettings
from agent.config.values import numbers_by_name
from agent.dataclass import dataclass
from agent.events.notices import REMINDER, NoticeRaised

SAME = timedelta(hours=24)
"""The time in which a notice that says the same is dropped."""
DISMISSALS = 3
"""So many dismissals in a row of one type halve its priority until its person finds one helpful."""
MORNING = 7
"""The hour of the day from which the digest may come, once it is not quiet."""
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings of attention, parsed. `least` is the threshold of the score, `boosted` are names of channels,
    `intervals` are the least times between two notices of a type."""

    daily: int
    interval: timedelta
    quiet: QuietHours
    least: float
    boost: float = 0.0
    boosted: frozenset[str] = frozenset()
    intervals: Mapping[str, timedelta] = field(default_factory=dict)


def _score(notice: NoticeRaised, *, boost: float, is_halved: bool) -> float:
    """The weight of a notice: its priority, halved if its type was dismissed, and with what its channel adds."""
    return min(1.0, notice.priority * (0.5 if is_halved else 1.0) + boost)


def limits_of(settings: AttentionSettings) -> Limits:
    """The settings as limits; raises `ConfigError` for quiet hours that cannot be read."""
    return Limits(
        settings.daily,
        timedelta(minutes=settings.interval_minutes),
        parse_quiet(settings.quiet),
        settings.threshold,
        settings.boost,
        frozenset(settings.boosted.replace(",", " ").split()),
        {kind: timedelta(minutes=number) for kind, number in numbers_by_name(settings.intervals).items()},
    )


def decide(
    notice: NoticeRaised,
    past: Sequence[NoticeReceipt],
    limits: Limits,
    now: datetime,
    channel: str,
) -> NoticeDecision:
    """The decision about a new notice that would go to `channel`."""
    is_reminder = notice.type == REMINDER and bool(notice.due)  # raised once for its time, by its id
    if not is_reminder and any(says_same(notice, each, now) for each in past):
        return NoticeDecision("dropped", "duplicate")
    boost = limits.boost if channel in limits.boosted else 0.0
    is_halved = not notice.urgent and is_often_dismissed(notice.type, past)
    found = _score(notice, boost=boost, is_halved=is_halved)
    if found < limits.least:
        would_do = is_halved and _score(notice, boost=boost, is_halved=False) >= limits.least
        rule: AttentionRule = "dismissals" if would_do else "threshold"
        return NoticeDecision("digest", rule, figure=found, limit=limits.least)
    if notice.urgent:
        return NoticeDecision("sent", "urgent", figure=found, limit=limits.least)
    return decide_when(notice.type, past, limits, now)


def decide_when(kind: str, past: Iterable[NoticeReceipt], limits: Limits, now: datetime) -> NoticeDecision:
    """The decision about a notice of this type that is important enough, not urgent and no duplicate: also for one that
    was held."""
    end = limits.quiet.end_after(now)
    if end is not None:
        return NoticeDecision("held", "quiet", end)
    deliveries = [(each.raised.type, at) for each in past if (at := _delivery_time(each, now))]
    day = limits.quiet.day_of(now)
    count = sum(limits.quiet.day_of(at) == day for _, at in deliveries)
    if count >= limits.daily:
        return NoticeDecision("digest", "daily", figure=count, limit=limits.daily)
    own = limits.intervals.get(kind, timedelta())
    gaps = [(at, max(limits.interval, own) if type == kind else limits.interval) for type, at in deliveries]
    near = [(at + gap, gap, at) for at, gap in gaps if abs(now - at) < gap]  # also later ones: a clock may be set back
    if near:
        until, gap, last = max(near)
        since = max(0.0, (now - last) / _MINUTE)
        return NoticeDecision("held", "interval", until, since, gap / _MINUTE)
    return NoticeDecision("sent", "allowed", figure=count + 1, limit=limits.daily)


def says_same(notice: NoticeRaised, other: NoticeReceipt, now: datetime) -> bool:
    """True if a receipt of the last day is about a notice that says the same: one type and subject, or, where one of
    them has no subject, one title."""
    if other.decision.decided == "dropped" or other.is_digest or abs(now - other.at) >= SAME:
        return False
    before = other.raised
    if notice.subject and before.subject:
        return (notice.type, notice.subject) == (before.type, before.subject)
    return notice.title == before.title


def is_often_dismissed(kind: str, past: Iterable[NoticeReceipt]) -> bool:
    """True if the last reactions to notices of this type were all dismissals."""
    same = (each for each in past if each.raised.type == kind)
    reacted = sorted((each.reacted_at, each.reaction) for each in same if each.reacted_at and each.reaction)
    last = [reaction for _, reaction in reacted[-DISMISSALS:]]
    return len(last) == DISMISSALS and "helpful" not in last


def earliest_delivery(receipt: NoticeReceipt, past: Iterable[NoticeReceipt], limits: Limits, now: datetime) -> datetime:
    """The moment from which a notice that was decided to be sent may be sent: now, unless it is not urgent and a
    channel that is slow or fails has taken it into the quiet hours, too near to what was shown meanwhile, or beyond
    the day's number."""
    if receipt.raised.urgent:
        return now
    if receipt.is_digest:
        return limits.quiet.end_after(now) or now
    decision = decide_when(receipt.raised.type, (each for each in past if each.delivered_at), limits, now)
    return _next_morning(limits, now) if decision.decided == "digest" else decision.until or now


def in_turn(held: Iterable[NoticeReceipt]) -> list[NoticeReceipt]:
    """Held notices in the order in which they are sent: the most important first, of equal ones the oldest."""
    return sorted(held, key=lambda each: (-each.raised.priority, each.at, each.id))


def digest_items(past: Sequence[NoticeReceipt], limits: Limits, now: datetime) -> tuple[NoticeReceipt, ...]:
    """The notices that a digest would list now; empty if none is due.

    One a day, in the morning: what came later waits for the next one.
    """
    morning = _morning(limits, now)
    if morning is None or now < morning or limits.quiet.end_after(now) is not None:
        return ()
    today = limits.quiet.day_of(now)
    if any(each.is_digest and limits.quiet.day_of(each.at) == today for each in past):
        return ()
    return tuple(each for each in past if each.waits_for_digest and each.decided_at < morning)


def next_look(past: Sequence[NoticeReceipt], limits: Limits, now: datetime) -> datetime | None:
    """The moment from which something that is held may be sent, or a digest is due; None while nothing waits."""
    found = []
    for kind in {each.raised.type for each in past if each.decision.decided == "held"}:
        found.append(decide_when(kind, past, limits, now).until or now)
    if any(each.waits_for_digest for each in past):
        found.append(_next_digest(past, limits, now))
    return min(found, default=None)


def _next_digest(past: Sequence[NoticeReceipt], limits: Limits, now: datetime) -> datetime:
    if digest_items(past, limits, now):
        return now
    morning = _morning(limits, now)
    if morning is not None and now < morning:
        return morning
    return _next_morning(limits, now)


def _next_morning(limits: Limits, now: datetime) -> datetime:
    """The first moment of the morning of the next day that is not quiet; later if the whole day is."""
    tomorrow = limits.quiet.moment_on(limits.quiet.day_of(now) + timedelta(days=1), MORNING)
    return limits.quiet.end_after(tomorrow) or tomorrow


def _morning(limits: Limits, now: datetime) -> datetime | None:
    """The first moment of the morning of this day that is not quiet; None if the whole day is."""
    day = limits.quiet.day_of(now)
    start = limits.quiet.moment_on(day, MORNING)
    found = limits.quiet.end_after(start) or start
    return found if limits.quiet.day_of(found) == day else None


def _delivery_time(receipt: NoticeReceipt, now: datetime) -> datetime | None:
    """When a notice that counts was shown; one that is on its way counts as shown now."""
    if receipt.decision.decided != "sent" or receipt.is_digest:
        return None
    return receipt.delivered_at or now
