"""`rising_topic`: what the person comes back to more often than before."""

from collections.abc import Sequence
from datetime import timedelta

from agent.growth.patterns.activity import Activity, Remark
from agent.growth.patterns.confidence import binomial_tail, confidence, count_testable
from agent.growth.patterns.pattern import Pattern, newest_links, quoted, surest
from agent.growth.patterns.topics import Topic, occasion, topics
from agent.texts import Language, text

RECENT, BEFORE = timedelta(days=7), timedelta(days=28)
"""The days that are compared, and those before them."""
_LEAST, _DAYS = 4, 3
_UNSEEN = 1
"""Earlier cases that are taken for granted: where little is known, one may have been missed."""


def rising_topics(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The topics of the last seven days that came up more often than in the 28 days before.

    The base rate is the topic's share of all remarks before: a busy week makes no topic rise. Of a younger vault the
    days that there are count; without any before there is nothing to compare with.
    """
    end = activity.now - RECENT
    said = [each for each in activity.of_kinds("asked", "stated", "written") if each.at > end - BEFORE]
    recent = [each for each in said if each.at > end]
    all_recent = _occasions(recent)
    all_before = _occasions([each for each in said if each.at <= end])
    if not all_before or not all_recent:
        return ()
    share = all_recent / (all_recent + all_before)
    named = topics(said, _DAYS)
    totals = [_occasions(topic.remarks) for topic in named]
    candidates = count_testable([binomial_tail(total, total + _UNSEEN, share) for total in totals])
    found = []
    for topic, total in zip(named, totals, strict=True):
        cases = _recent(topic, activity)
        if not _is_present(cases):
            continue
        count = _occasions(cases)
        if count > share * total:
            chance = binomial_tail(count, total + _UNSEEN, share)
            sure = confidence(chance, candidates, (each.at for each in cases), activity.now)
            found.append(_pattern(language, topic, cases, count, total - count, sure))
    return surest(found)


def _recent(topic: Topic, activity: Activity) -> list[Remark]:
    return [each for each in topic.remarks if each.at > activity.now - RECENT]


def _is_present(cases: Sequence[Remark]) -> bool:
    return _occasions(cases) >= _LEAST and len({each.at.date() for each in cases}) >= _DAYS


def _occasions(remarks: Sequence[Remark]) -> int:
    return len({occasion(each) for each in remarks})


def _pattern(
    language: Language, topic: Topic, cases: Sequence[Remark], count: int, before: int, sure: float
) -> Pattern:
    return Pattern(
        "rising_topic",
        topic.key,
        text("pattern.rising", language, topic=quoted(topic.label), count=count, before=before),
        sure,
        count,
        cases[-1].at.date(),
        newest_links((each.at, each.link) for each in cases),
        text("pattern.rising_suggestion", language),
        (topic.label,),
    )
