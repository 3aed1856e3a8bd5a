"""The metrics in Prometheus' text format, version 0.0.4, for a scraper or node_exporter's textfile collector.

Every sample has the label `vault`, the name of the vault's folder: the textfile collector adds no labels of its own, so
the files of two vaults on one machine would otherwise hold the same series twice. The folder's path is left out: it
names the person's home. Counters are totals of all days, so that they only grow.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from agent.escape import escape_line
from agent.metrics.durations import Durations
from agent.metrics.names import SUMMARISED
from agent.metrics.totals import MetricTotals

_PREFIX = "vault_agent_"
_Sample: TypeAlias = tuple[str, Mapping[str, str], float]
"""The end of the name, the labels, the value."""


@dataclass(frozen=True, slots=True)
class _Family:
    """The samples of one metric."""

    name: str
    kind: str
    help: str
    samples: tuple[_Sample, ...]


def format_prometheus(totals: MetricTotals, vault: str, facts: int) -> bytes:
    """The text of all metrics; `facts` is the number of long-term facts now."""
    return "".join(_format(each, vault) for each in _families(totals, facts)).encode("utf-8", "replace")


def _families(totals: MetricTotals, facts: int) -> Iterator[_Family]:
    tokens = {"input": totals.input_tokens, "output": totals.output_tokens}
    of_jobs = {"input": totals.job_input_tokens, "output": totals.job_output_tokens}
    flushed = {"saved": totals.flush_saved, "skipped": totals.flush_known}
    yield _counters("events_total", "Events, by type.", "event", totals.events)
    yield _counters("runs_total", "Runs that ended or paused, by outcome.", "outcome", totals.outcomes)
    yield _counters("tokens_total", "Tokens of the models in runs.", "direction", tokens)
    yield _counters("job_runs_total", "Runs of jobs that ended or paused, by outcome.", "outcome", totals.job_outcomes)
    yield _counters("job_tokens_total", "Tokens of the models in runs of jobs.", "direction", of_jobs)
    yield _counters("tool_calls_total", "Calls of tools.", "tool", totals.used)
    yield _counters("tool_calls_failed_total", "Calls of tools that failed.", "tool", totals.failed)
    yield _counters("tool_calls_denied_total", "Calls of tools that the policy denied.", "tool", totals.denied)
    yield _counters("recalls_total", "Recalls for a task, by search mode.", "mode", totals.modes)
    yield _counter("recalls_with_result_total", "Recalls that gave something.", totals.recall_hits)
    yield _counter("recalls_degraded_total", "Recalls in a reduced mode.", totals.recall_degraded)
    yield _histogram("recall_seconds", "Time of a recall.", [({}, totals.recall)])
    yield _counter("answers_given_notes_total", "Answers of runs that were given notes.", totals.answers_given)
    yield _counter("answers_used_notes_total", "Answers that used a note they were given.", totals.answers_used)
    yield _counters("entries_total", "Captured entries, by result.", "result", _entries(totals))
    yield _summary("entry_tokens", "Tokens of a new entry.", totals.entry_tokens, totals.counted_entries)
    yield _counter("captures_failed_total", "Runs of which nothing could be saved.", totals.capture_problems)
    yield _counters("flush_entries_total", "Entries before a compaction, by result.", "result", flushed)
    yield _counter("daily_summaries_total", "Summaries written into daily notes.", totals.events.get(SUMMARISED))
    yield _Family("facts", "gauge", "Long-term facts.", (("", {}, facts),))
    yield _counters("injections_total", "Texts that handlers added to a prompt.", "type", totals.injected)
    yield _counters("handler_errors_total", "Calls of handlers that failed or were late.", "handler",
                    totals.handler_errors)  # fmt: skip
    handlers = [({"handler": name}, durations) for name, durations in totals.handlers.items()]
    yield _histogram("handler_seconds", "Time of a call of a handler.", handlers)


def _entries(totals: MetricTotals) -> Mapping[str, float | None]:
    return {
        "new": totals.entries_saved,
        "superseding": totals.entries_superseding,
        "contradicting": totals.entries_contradicting,
        "merged": totals.entries_merged,
        "known": totals.entries_known,
        "refused": totals.entries_refused,
    }


def _counter(name: str, what: str, value: float | None) -> _Family:
    return _Family(name, "counter", what, () if value is None else (("", {}, value),))


def _counters(name: str, what: str, label: str, values: Mapping[str, float | None]) -> _Family:
    known = ((key, value) for key, value in sorted(values.items()) if value is not None)
    return _Family(name, "counter", what, tuple(("", {label: key}, value) for key, value in known))


def _summary(name: str, what: str, total: float | None, count: float | None) -> _Family:
    samples: tuple[_Sample, ...] = (
        () if total is None or count is None else (("_sum", {}, total), ("_count", {}, count))
    )
    return _Family(name, "summary", what, samples)


def _histogram(name: str, what: str, series: Iterable[tuple[Mapping[str, str], Durations]]) -> _Family:
    samples: list[_Sample] = []
    for labels, durations in series:
        for bound, count in durations.cumulated():
            samples.append(("_bucket", {**labels, "le": "+Inf" if bound == "inf" else bound}, count))
        samples += [("_sum", labels, durations.seconds), ("_count", labels, durations.count)]
    return _Family(name, "histogram", what, tuple(samples))


def _format(family: _Family, vault: str) -> str:
    """The lines of one metric; nothing for one without samples."""
    if not family.samples:
        return ""
    name = f"{_PREFIX}{family.name}"
    lines = [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}"]
    for end, labels, value in family.samples:
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in {"vault": vault, **labels}.items())
        lines.append(f"{name}{end}{{{shown}}} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """The text on one line and without active characters, which a model may put into the name of a tool."""
    return escape_line(text).replace("\\", "\\\\").replace('"', '\\"')
