"""`vault-agent bench`: the figures in the README, measured again on this machine."""

import tempfile
from pathlib import Path

import click

from agent.interfaces.cli.benches import commit as commits
from agent.interfaces.cli.benches import start as starts
from agent.interfaces.cli.benches.figures import Figure
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes

_EPILOG = exit_codes("a figure was not reached")


@click.group(short_help="Measure speed on this machine.")
def command() -> None:
    """Measure on vaults made for the purpose; yours is not touched."""


@command.command(epilog=_EPILOG)
@click.option("--notes", default=10_000, show_default=True, help="How many notes the vault has.")
@click.option("--rounds", default=40, show_default=True, help="How often each thing is measured.")
@click.pass_obj
def commit(output: Output, notes: int, rounds: int) -> None:
    """Time one small durable change against git add and git commit."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        ours, theirs = commits.measure(Path(folder), notes, rounds)
    ratio = ours.median / theirs.median
    report = {"notes": notes, "figures": [ours.document(), theirs.document()], "ratio": ratio, "limit": commits.RATIO}
    lines = [f"{notes} notes", ours.line(), theirs.line(), f"ratio {ratio:.2f} (at most {commits.RATIO})"]
    _report(output, report, lines, ratio <= commits.RATIO)


@command.command(epilog=_EPILOG)
@click.option("--notes", default=10_000, show_default=True, help="How many notes the vault has.")
@click.option("--rounds", default=15, show_default=True, help="How often each thing is measured.")
@click.pass_obj
def start(output: Output, notes: int, rounds: int) -> None:
    """Time commands from a cold start."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        figures = starts.measure(Path(folder), notes, rounds)
    report = {"notes": notes, "figures": [_with_limit(figure) for figure in figures]}
    lines = [f"{notes} notes", *(f"{figure.line()}   at most {_limit(figure):.0f}" for figure in figures)]
    _report(output, report, lines, all(figure.median <= _limit(figure) for figure in figures))


def _limit(figure: Figure) -> float:
    return starts.LIMITS_MS[figure.name]


def _with_limit(figure: Figure) -> dict[str, object]:
    return {**figure.document(), "limit_ms": _limit(figure)}


def _report(output: Output, document: dict[str, object], lines: list[str], reached: bool) -> None:
    output.emit({**document, "ok": reached}, "\n".join(lines))
    if not reached:
        raise CheckFailed
