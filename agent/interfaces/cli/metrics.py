"""`vault-agent status --metrics`: how well the agent helps by itself, and counts of runs and tools; also for others."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import click

from agent.app.figures import all_figures, present_figures, prometheus_text
from agent.app.open import open_workspace
from agent.interfaces.cli.language import counted, tr
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import columns, padded
from agent.metrics.figures import MetricFigure
from agent.metrics.names import Durations
from agent.metrics.totals import MetricTotals, load_totals
from agent.vault.history.typed_time import parse_time


@click.command()
@click.option("--since", metavar="TIME", help="Only since then: 7d, today, 2026-11-21.")
@click.option("--prometheus", is_flag=True, help="Print all counters in Prometheus' text format.")
@click.pass_obj
def command(output: Output, since: str | None, prometheus: bool) -> None:
    """Show the figures of memory, of notices and of patterns, with their targets, and the counts of runs and tools.

    They are counted on this machine, for whole days. `-` stands for what is not known yet.
    """
    show_metrics(output, since, prometheus)


def show_metrics(output: Output, since: str | None, prometheus: bool) -> None:
    """Print the figures since a time as a person types it, or all counters for Prometheus."""
    if prometheus and (since or output.json):
        raise click.UsageError(tr("--prometheus prints all days as text; leave out --since and --json"))
    workspace = open_workspace(output.vault())
    start = parse_time(since, workspace.clock.now()).date() if since else None
    if prometheus:
        output.emit({}, prometheus_text(workspace))
        return
    totals, present = load_totals(workspace.metrics, start), present_figures(workspace)
    found = all_figures(workspace, totals, present, start)
    document = {"since": start.isoformat() if start else None, **_document(totals, found)}
    output.emit(document, lambda: "\n".join(_format(totals, found)))


def _document(totals: MetricTotals, found: tuple[MetricFigure, ...]) -> Mapping[str, object]:
    times = {
        "recall": _times(totals.recall),
        "handlers": {name: _times(each) for name, each in totals.handlers.items()},
        "node_seconds": {name: _times(each) for name, each in totals.node_seconds.items()},
    }
    rows = [{**asdict(each), "name": each.name.strip(), "status": each.status or None} for each in found]
    return {**asdict(totals), **times, "figures": rows}


def _times(durations: Durations) -> Mapping[str, object]:
    """Durations as a document: their number, and seconds."""
    return fields(durations, "count seconds", p50=durations.quantile(0.5), p95=durations.quantile(0.95))


def _format(totals: MetricTotals, found: tuple[MetricFigure, ...]) -> Iterator[str]:
    families = (
        (tr("runs"), {tr(outcome): number for outcome, number in totals.outcomes.items()}),
        (tr("runs of jobs"), {tr(outcome): number for outcome, number in totals.job_outcomes.items()}),
        (tr("tools used"), totals.used),
        (tr("tools failed"), totals.failed),
        (tr("tools denied"), totals.denied),
        (tr("calls of the node host"), totals.node_calls),
        (tr("profiles of the policy"), totals.profiles),
        (tr("hooks that failed"), totals.handler_errors),
    )
    if totals.unreadable:
        yield counted(
            totals.unreadable,
            "1 day file could not be read and is not in it",
            "{count} day files could not be read and are not in it",
        )
    if not totals.events:
        yield tr("nothing is counted yet")
        return
    yield from _table(found)
    for title, counts in families:
        if counts:
            yield tr("{title}:", title=title)
            yield from _rows(counts)
    if totals.capture_problems:
        yield tr("captures that failed: {capture_problems:g}", capture_problems=totals.capture_problems)
    if totals.input_tokens or totals.output_tokens:
        yield tr(
            "tokens: {input_tokens} in, {output_tokens} out",
            input_tokens=_value(totals.input_tokens),
            output_tokens=_value(totals.output_tokens),
        )
    if totals.job_input_tokens or totals.job_output_tokens:
        yield tr(
            "tokens of jobs: {input_tokens} in, {output_tokens} out",
            input_tokens=_value(totals.job_input_tokens),
            output_tokens=_value(totals.job_output_tokens),
        )


def _table(found: tuple[MetricFigure, ...]) -> Iterator[str]:
    names = [_name(each) for each in found]
    width = max(map(columns, names))
    for name, each in zip(names, found, strict=True):
        target = f"{_target(each):10}{tr(each.status) if each.status else '-'}" if _target(each) else each.about
        yield f"{padded(name, width)}  {_value(each.value, each.unit):>8}  {target}".rstrip()


def _name(figure: MetricFigure) -> str:
    """The name of a figure, with the spaces of one that is a part of another."""
    plain = figure.name.lstrip()
    return " " * (len(figure.name) - len(plain)) + tr(plain)


def _target(figure: MetricFigure) -> str:
    if figure.least is not None:
        return f"> {_value(figure.least, figure.unit)}"
    return f"< {_value(figure.most, figure.unit)}" if figure.most is not None else ""


def _value(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    number = f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"
    return f"{number} {unit}".strip()


def _rows(counts: Mapping[str, float]) -> Iterator[str]:
    width = max(map(columns, counts))
    yield from (f"  {padded(name, width)}  {number:g}" for name, number in sorted(counts.items()))
