"""`vault-agent metrics`: the counts of events, tools, runs and memories."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.time_format import parse_time
from agent.metrics.totals import MetricTotals, load_totals


@click.command(short_help="Show what happened, counted.")
@click.option("--since", metavar="TIME", help="Only since then: 7d, today, 2026-11-21.")
@click.pass_obj
def command(output: Output, since: str | None) -> None:
    """Show the counts of events, tools, runs and memories, for whole days, on this machine."""
    workspace = open_workspace(output.vault())
    start = parse_time(since, workspace.clock.now()).date() if since else None
    totals = load_totals(workspace.metrics, start)
    document = {"since": start.isoformat() if start else None, **asdict(totals)}
    output.emit(document, lambda: "\n".join(_format(totals)))


def _format(totals: MetricTotals) -> Iterator[str]:
    families = (
        ("events", totals.events),
        ("tools used", totals.used),
        ("tools failed", totals.failed),
        ("runs", totals.outcomes),
        ("subscribers that failed", totals.handler_errors),
    )
    if totals.unreadable:
        yield f"{totals.unreadable} day files could not be read and are not in it"
    if not any(figures for _, figures in families):
        yield "nothing is counted yet"
        return
    for title, figures in families:
        if figures:
            yield f"{title}:"
            yield from _rows(figures)
    yield "sums:"
    yield from _rows(
        {
            "run seconds": round(totals.run_seconds, 1),
            "tool seconds": round(totals.tool_seconds, 1),
            "steps": totals.steps,
            "input tokens": totals.input_tokens,
            "output tokens": totals.output_tokens,
            "recalls that found something": totals.recall_hits,
            "captures that failed": totals.capture_problems,
            "memory.flush saved": totals.flush_saved,
            "memory.flush known": totals.flush_known,
        }
    )


def _rows(figures: Mapping[str, float]) -> Iterator[str]:
    width = max(len(name) for name in figures)
    yield from (f"  {name:{width}}  {number:g}" for name, number in sorted(figures.items()))
