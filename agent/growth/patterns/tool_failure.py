"""`tool_failure_pattern`: a tool that keeps failing for the same reason."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from agent.growth.patterns.activity import Activity, ToolCallMade
from agent.growth.patterns.confidence import binomial_tail, confidence, count_testable
from agent.growth.patterns.pattern import Pattern, newest_links, quoted, surest
from agent.texts import Language, text

_LEAST, _DAYS = 3, 2
_USUAL, _WEIGHT = 1.0, 10.0
"""Where little is known of other tools, one call in ten is taken to fail."""
_WORDS = 6
"""The words of a reason by which it is like another one."""
_VARIES = re.compile(r"[\"'`“”‘’][^\"'`“”‘’\n]{0,200}[\"'`“”‘’]|https?://\S+|\S*[/\\]\S*|\S+\.\w{1,5}\b|\S*\d\S*")
"""What differs between two failures of one kind: quoted names, addresses, paths, numbers."""
_WORD = re.compile(r"[^\W_]+")


def tool_failures(activity: Activity, language: Language) -> tuple[Pattern, ...]:
    """The tools that failed at least three times for a like reason, on at least two days.

    The base rate is the share of the other tools' calls that failed.
    """
    calls = Counter(each.tool for each in activity.calls)
    failed = Counter(each.tool for each in activity.calls if each.failed)
    alike: dict[tuple[str, str], list[ToolCallMade]] = defaultdict(list)
    for each in activity.calls:
        if each.failed:
            alike[each.tool, reason_kind(each.reason)].append(each)
    shares = {tool: _usual(calls, failed, tool) for tool in calls}
    candidates = count_testable([shares[tool] ** calls[tool] for tool, _ in alike])
    patterns = []
    for (tool, kind), cases in alike.items():
        if len(cases) < _LEAST or len({each.at.date() for each in cases}) < _DAYS:
            continue
        chance = binomial_tail(len(cases), calls[tool], shares[tool])
        sure = confidence(chance, candidates, (each.at for each in cases), activity.now)
        patterns.append(_pattern(language, f"{tool} {kind}", cases, sure))
    return surest(patterns)


def _usual(calls: Counter[str], failed: Counter[str], tool: str) -> float:
    """The share of the other tools' calls that failed."""
    others, failures = calls.total() - calls[tool], failed.total() - failed[tool]
    return (failures + _USUAL) / (others + _WEIGHT)


def reason_kind(reason: str) -> str:
    """A reason without what differs from one failure to the next: its first words in small letters."""
    first = next((line for line in reason.splitlines() if line.strip()), "")
    return " ".join(_WORD.findall(_VARIES.sub(" ", first).casefold())[:_WORDS])


def _pattern(language: Language, subject: str, cases: Sequence[ToolCallMade], sure: float) -> Pattern:
    last = cases[-1]
    reason = quoted(next((line for line in last.reason.splitlines() if line.strip()), ""))
    return Pattern(
        "tool_failure_pattern",
        subject,
        text("pattern.tool_failure", language, tool=f"`{last.tool}`", count=len(cases), reason=reason),
        sure,
        len(cases),
        last.at.date(),
        newest_links((each.at, each.link) for each in cases),
        text("pattern.tool_failure_suggestion", language),
    )
