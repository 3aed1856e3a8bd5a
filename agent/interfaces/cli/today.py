"""What happened today, as `status` says it in a line or two: the runs, what memory did, and what failed.

The full figures are `metrics`'s. A day on which nothing was counted is not worth a line; counts that cannot be read
are, as a warning.
"""

from collections.abc import Iterator

from agent.app.build import App
from agent.metrics import names
from agent.metrics.totals import MetricTotals, load_totals

_SHOWN = (
    (names.RUNS, "run", "runs"),
    (names.RECALLED, "recall", "recalls"),
    (names.CAPTURED, "capture", "captures"),
    (names.REFRESHED, "refresh", "refreshes"),
    (names.SUGGESTED, "skill suggested", "skills suggested"),
)


def counted(app: App) -> MetricTotals:
    """What was counted today on this machine; looks at one small file."""
    return load_totals(app.metrics, app.clock.now().date())


def text(today: MetricTotals) -> list[str]:
    """The counts as lines for people, none where there are none."""
    done = [_many(today.events[name], one, more) for name, one, more in _SHOWN if today.events.get(name)]
    failed = list(_failed(today))
    lines = [f"today    {', '.join(done or ['no run yet'])}"] if done or failed else []
    return lines + ([f"           failed: {', '.join(failed)}; see `vault-agent metrics`"] if failed else [])


def warnings(today: MetricTotals) -> tuple[str, ...]:
    """What is wrong with the counts themselves."""
    return ("some of today's counts cannot be read and are left out",) if today.unreadable else ()


def _failed(today: MetricTotals) -> Iterator[str]:
    for number, one, more in (
        (today.outcomes.get("failed", 0), "run", "runs"),
        (today.events.get(names.TOOLS_FAILED, 0), "tool call", "tool calls"),
        (today.capture_problems, "capture", "captures"),
        (sum(today.handler_errors.values()), "hook", "hooks"),
    ):
        if number:
            yield _many(number, one, more)


def _many(number: float, one: str, more: str) -> str:
    return f"{number:,.0f} {one if number == 1 else more}"
