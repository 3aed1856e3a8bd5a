"""The table of all metrics: the name of each, its kind, its labels, and where its samples come from.

The names of the plan's own figures are the plan's, with `_` for `.`: `tool.policy.denied_total` is
`tool_policy_denied_total`. Units are seconds, tokens and US dollars.

The metrics in Prometheus' text format, version 0.0.4, for a scraper or node_exporter's textfile collector.

Every sample has the label `vault`, the name of the vault's folder: the textfile collector adds no labels of its own, so
the files of two vaults on one machine would otherwise hold the same series twice. The folder's path is left out: it
names the person's home. Counters are totals of all days, so that they only grow. What is not known has no sample.

The figures that are not counted but looked at: how things are now, as far as that is known.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.escape import escape_line
from agent.metrics.names import SUMMARISED, Durations
from agent.metrics.totals import MetricTotals


@dataclass(frozen=True, slots=True)
class PresentFigures:
    """How things are now. None, or nothing under a name, is what is not known.

    `facts` are the long-term facts in MEMORY.md; `job_failures` the failures in a row by the job's id;
    `node_connected` is None where the node host is switched off, `node_permissions` are the states of its permissions
    ("granted", "denied", …) by name; `alerts` are the numbers of alerts that stand by rule, None without a daemon that
    looks; `patterns_helpful` and `patterns_not_helpful` what the person said of the patterns that stand in their
    profile, and of those that were suggested; `spent` is what models cost today on this machine, in US dollars, and
    `spend_limit` the most that a day may cost.
    """

    facts: int | None = None
    job_failures: Mapping[str, int] = field(default_factory=dict)
    node_connected: bool | None = None
    node_permissions: Mapping[str, str] = field(default_factory=dict)
    alerts: Mapping[str, int] | None = None
    patterns_helpful: int | None = None
    patterns_not_helpful: int | None = None
    spent: float | None = None
    spend_limit: float | None = None


Sample: TypeAlias = tuple[str, Mapping[str, str], float]
"""The end of the name, the labels, the value."""
Kind: TypeAlias = Literal["counter", "gauge", "summary", "histogram"]
_STATES = {"granted": 1.0, "denied": 0.0}
"""The states of a permission of which a number can be given."""


@dataclass(frozen=True, slots=True)
class MetricInput:
    """All that metrics are made of: what was counted, and what is so now."""

    totals: MetricTotals
    present: PresentFigures


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """One metric, without the prefix of its name. `labels` are those that its samples have, beside `vault`."""

    name: str
    kind: Kind
    help: str
    samples: Callable[[MetricInput], Iterable[Sample]]
    labels: tuple[str, ...] = ()


def _number(name: str, kind: Kind, what: str, value: Callable[[MetricInput], float | None]) -> MetricFamily:
    """A metric of one sample, or none if its value is not known."""

    def samples(figures: MetricInput) -> Iterator[Sample]:
        found = value(figures)
        if found is not None:
            yield "", {}, found

    return MetricFamily(name, kind, what, samples)


def _counter(name: str, what: str, value: Callable[[MetricTotals], float | None]) -> MetricFamily:
    return _number(name, "counter", what, lambda figures: value(figures.totals))


def _gauge(name: str, what: str, value: Callable[[PresentFigures], float | None]) -> MetricFamily:
    return _number(name, "gauge", what, lambda figures: value(figures.present))


def _counters(
    name: str, what: str, label: str, values: Callable[[MetricTotals], Mapping[str, float | None]]
) -> MetricFamily:
    """A metric with one label; numbers that are not known are left out."""

    def samples(figures: MetricInput) -> Iterator[Sample]:
        for key, value in sorted(values(figures.totals).items()):
            if value is not None:
                yield "", {label: key}, value

    return MetricFamily(name, "counter", what, samples, (label,))


def _histogram(
    name: str, what: str, label: str, series: Callable[[MetricTotals], Mapping[str, Durations]]
) -> MetricFamily:
    """The durations by the value of a label; of an empty label, those under the empty name."""

    def samples(figures: MetricInput) -> Iterator[Sample]:
        for key, durations in series(figures.totals).items():
            labels = {label: key} if label else {}
            for bound, count in durations.cumulated():
                yield "_bucket", {**labels, "le": "+Inf" if bound == "inf" else bound}, count
            yield "_sum", labels, durations.seconds
            yield "_count", labels, durations.count

    return MetricFamily(name, "histogram", what, samples, (label, "le") if label else ("le",))


def _entries(totals: MetricTotals) -> Mapping[str, float | None]:
    return {
        "new": totals.entries_saved,
        "superseding": totals.entries_superseding,
        "known": totals.entries_known,
        "refused": totals.entries_refused,
    }


def _entry_tokens(figures: MetricInput) -> Iterator[Sample]:
    total, count = figures.totals.entry_tokens, figures.totals.counted_entries
    if total is not None and count is not None:
        yield from (("_sum", {}, total), ("_count", {}, count))


def _node_calls(figures: MetricInput) -> Iterator[Sample]:
    for key, number in sorted(figures.totals.node_calls.items()):
        tool, _, status = key.rpartition(" ")
        yield "", {"tool_name": tool, "status": status}, number


def _job_failures(figures: MetricInput) -> Iterator[Sample]:
    for job, number in sorted(figures.present.job_failures.items()):
        yield "", {"job_id": job}, number


def _permissions(figures: MetricInput) -> Iterator[Sample]:
    for name, state in sorted(figures.present.node_permissions.items()):
        if state in _STATES:
            yield "", {"permission_name": name}, _STATES[state]


def _alerts(figures: MetricInput) -> Iterator[Sample]:
    for rule, number in sorted((figures.present.alerts or {}).items()):
        yield "", {"rule": rule}, number


def _opinions(figures: MetricInput) -> Iterator[Sample]:
    opinions = {"helpful": figures.present.patterns_helpful, "not_helpful": figures.present.patterns_not_helpful}
    for opinion, number in opinions.items():
        if number is not None:
            yield "", {"opinion": opinion}, number


FAMILIES: tuple[MetricFamily, ...] = (
    _counters("tool_policy_denied_total", "Calls of tools that the policy denied.", "tool", lambda x: x.denied),
    _counters("tool_policy_profile_selected_total", "Runs, by the profile of the policy.", "profile",
              lambda x: x.profiles),
    _counters("event_bus_publish_total", "Events, by type.", "event_type", lambda x: x.events),
    _counters("event_bus_handler_error_total", "Calls of handlers that failed or were late.", "handler_name",
              lambda x: x.handler_errors),
    _histogram("event_bus_handler_latency_seconds", "Time of a call of a handler.", "handler_name",
               lambda x: x.handlers),
    _counter("memory_flush_saved_total", "Entries saved before a compaction.", lambda x: x.flush_saved),
    _counter("memory_flush_skipped_dedup_total", "Entries before a compaction that were known already.",
             lambda x: x.flush_known),
    _counter("memory_daily_summary_generated_total", "Summaries written into daily notes.",
             lambda x: x.events.get(SUMMARISED)),
    _gauge("memory_longterm_facts_count", "Long-term facts now.", lambda x: x.facts),
    _counters("scheduler_job_run_total", "Runs of jobs, by how they ended.", "status", lambda x: x.job_statuses),
    MetricFamily("scheduler_job_consec_failures", "gauge", "Failures in a row of a job now.", _job_failures,
                 ("job_id",)),
    _gauge("nodehost_connection_status", "1 if the node host answers, 0 if it does not.", lambda x: x.node_connected),
    MetricFamily("nodehost_tool_call_total", "counter", "Calls of the node host's tools, by how they ended.",
                 _node_calls, ("tool_name", "status")),
    _histogram("nodehost_tool_latency_seconds", "Time of a call of a node host's tool.", "tool_name",
               lambda x: x.node_seconds),
    MetricFamily("nodehost_permission_status", "gauge", "1 if a permission is granted to the node host, 0 if denied.",
                 _permissions, ("permission_name",)),
    _counters("recalls_total", "Recalls for a task, by search mode.", "mode", lambda x: x.modes),
    _counter("recalls_with_result_total", "Recalls that gave something.", lambda x: x.recall_hits),
    _counter("recalls_degraded_total", "Recalls in a reduced mode.", lambda x: x.recall_degraded),
    _histogram("recall_seconds", "Time of a recall.", "", lambda x: {"": x.recall} if x.recall.count else {}),
    _counter("answers_given_notes_total", "Answers of runs that were given notes.", lambda x: x.answers_given),
    _counter("answers_used_notes_total", "Answers that used a note they were given.", lambda x: x.answers_used),
    _counters("notices_sent_total", "Notices that were delivered, by channel.", "channel", lambda x: x.notices_sent),
    _counters("notices_suppressed_total", "Notices not sent at once, by what was decided.", "decision",
              lambda x: x.notices_suppressed),
    _counters("patterns_found_total", "Patterns found that were not known, by kind.", "kind", lambda x: x.patterns),
    MetricFamily("pattern_opinions", "gauge", "Opinions of the person about patterns now.", _opinions, ("opinion",)),
    _counters("runs_total", "Runs that ended or paused, by outcome.", "outcome", lambda x: x.outcomes),
    _counters("tokens_total", "Tokens of the models in runs.", "direction",
              lambda x: {"input": x.input_tokens, "output": x.output_tokens}),
    _counters("job_model_runs_total", "Runs of jobs that asked a model, by outcome.", "outcome",
              lambda x: x.job_outcomes),
    _counters("job_tokens_total", "Tokens of the models in runs of jobs.", "direction",
              lambda x: {"input": x.job_input_tokens, "output": x.job_output_tokens}),
    _counters("tool_calls_total", "Calls of tools.", "tool", lambda x: x.used),
    _counters("tool_calls_failed_total", "Calls of tools that failed.", "tool", lambda x: x.failed),
    _counters("entries_total", "Captured entries, by result.", "result", _entries),
    MetricFamily("entry_tokens", "summary", "Tokens of a new entry.", _entry_tokens),
    _counter("captures_failed_total", "Runs of which nothing could be saved.", lambda x: x.capture_problems),
    _counters("injections_total", "Texts that handlers added to a prompt.", "type", lambda x: x.injected),
    _gauge("spend_today_dollars", "What models cost today, in all vaults of this machine.", lambda x: x.spent),
    _gauge("spend_limit_dollars", "The most that models may cost in a day.", lambda x: x.spend_limit),
    MetricFamily("alerts", "gauge", "Alerts that stand now, by rule.", _alerts, ("rule",)),
)  # fmt: skip
"""All metrics, in the order of the text."""


PREFIX = "vault_agent_"


def format_prometheus(totals: MetricTotals, present: PresentFigures, vault: str) -> bytes:
    """The text of all metrics of the vault of this name."""
    figures = MetricInput(totals, present)
    return "".join(_format(each, figures, vault) for each in FAMILIES).encode("utf-8", "replace")


def _format(family: MetricFamily, figures: MetricInput, vault: str) -> str:
    """The lines of one metric; nothing for one without samples."""
    samples = tuple(family.samples(figures))
    if not samples:
        return ""
    name = f"{PREFIX}{family.name}"
    lines = [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}"]
    for end, labels, value in samples:
        label_text = ",".join(f'{key}="{_escaped(text)}"' for key, text in {"vault": vault, **labels}.items())
        lines.append(f"{name}{end}{{{label_text}}} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """The text on one line and without active characters, which a model may put into the name of a tool."""
    return escape_line(text).replace("\\", "\\\\").replace('"', '\\"')
