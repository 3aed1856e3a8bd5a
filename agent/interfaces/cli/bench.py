"""`vault-agent bench`: the figures that a person can measure on this machine, or on a vault of their own.

Measurements of the program itself (a run's steps, very many notes) are in the repository: `python -m tests.bench`.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar, get_args

import click

from agent.app.open import open_workspace
from agent.benches import history as histories
from agent.benches import retrieval as cases
from agent.benches import speed as speeds
from agent.benches import speed as starts
from agent.benches import sync as syncs
from agent.benches import vaults as commits
from agent.benches.figures import Measure, all_reached
from agent.index.keyword import engine_for
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes

_EPILOG = exit_codes("a figure was not reached")
_SHOWN = 10
_EngineChoice = Literal["auto", "whoosh", "tantivy"]
_Command = TypeVar("_Command", bound=Callable[..., None])


def _count(name: str, default: int, text: str, least: int = 1) -> Callable[[_Command], _Command]:
    return click.option(name, type=click.IntRange(least), default=default, show_default=True, help=text)


def _notes(least: int = 1) -> Callable[[_Command], _Command]:
    return _count("--notes", 10_000, "How many notes the vault has.", least)


@click.group()
def command() -> None:
    """Measure on generated vaults. Only `retrieval` reads your vault, and nothing writes to it."""


@command.command(epilog=_EPILOG)
@_notes(commits.FEWEST)
@_count("--rounds", 40, "How often each thing is measured.")
@click.pass_obj
def commit(output: Output, notes: int, rounds: int) -> None:
    """Time one small durable change against git add and git commit."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        ours, theirs = commits.measure_commits(Path(folder), notes, rounds)
    ratio = ours.median / theirs.median
    report = {"notes": notes, "figures": [ours.document(), theirs.document()], "ratio": ratio, "limit": commits.RATIO}
    lines = [f"{notes} notes", ours.line(), theirs.line(), f"ratio {ratio:.2f} (at most {commits.RATIO})"]
    _report(output, report, lines, ratio <= commits.RATIO)


@command.command(epilog=_EPILOG)
@_notes()
@_count("--rounds", 15, "How often each thing is measured.")
@click.pass_obj
def start(output: Output, notes: int, rounds: int) -> None:
    """Time commands from a cold start, without a daemon."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        figures = starts.measure_starts(Path(folder), notes, rounds)
    limited = [(figure, starts.LIMITS_MS[figure.name]) for figure in figures]
    report = {"notes": notes, "figures": [{**figure.document(), "limit_ms": limit} for figure, limit in limited]}
    lines = [f"{notes} notes", *(f"{figure.line()}   at most {limit:.0f}" for figure, limit in limited)]
    _report(output, report, lines, all(figure.median <= limit for figure, limit in limited))


@command.command(epilog=_EPILOG)
@click.argument("fixture", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "-k", "depths", type=click.IntRange(1, 1000), multiple=True, default=(1, 5, 10), show_default=True, help="Depths."
)
@click.option("--at-least", type=click.FloatRange(0, 1), help="What hit at 5 must reach; else nothing is judged.")
@click.pass_obj
def retrieval(output: Output, fixture: Path, depths: tuple[int, ...], at_least: float | None) -> None:
    """Measure the search quality in your vault, for the questions of FIXTURE.

    Each line is {"query": "...", "relevant": ["path", ...]}. Prints hit and recall at each depth (-k, may be repeated),
    the mean reciprocal rank and the time: of the whole search (hybrid), of the search without vectors (keyword mode),
    and of grep.
    """
    asked, workspace = cases.load_cases(fixture), open_workspace(output.vault())
    depths = tuple(sorted({*depths, *((5,) if at_least is not None else ())}))
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        found = cases.measure(workspace, Path(folder), asked, depths)
    judged = [Measure("hit at 5", found[0].hit[5], "", at_least, at_least=True)] if at_least is not None else []
    report = {
        "questions": len(asked),
        "figures": [each.document() for each in found],
        "missed": list(found[0].missed),
        "judged": [each.document() for each in judged],
    }
    lines = [f"{len(asked)} questions", *(each.line() for each in found), *(each.line() for each in judged)]
    lines += [f"missed: {query}" for query in found[0].missed[:_SHOWN]]
    _report(output, report, lines, all_reached(judged))


@command.command(epilog=_EPILOG)
@_notes()
@_count("--rounds", 20, "How many saves are waited for.")
@click.option(
    "--engine",
    type=click.Choice(get_args(_EngineChoice)),
    default="auto",
    show_default=True,
    help="The keyword engine.",
)
@click.pass_obj
def speed(output: Output, notes: int, rounds: int, engine: _EngineChoice) -> None:
    """Time the first index, searches, and the delay from a save to its first search hit.

    The limits are those for 10,000 notes.
    """
    used = engine_for(engine)
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        measures = speeds.measure(Path(folder), notes, used, rounds, output.note)
    report = {"notes": notes, "engine": used, "figures": [each.document() for each in measures]}
    lines = [f"notes {notes}, engine {used}", *(each.line() for each in measures)]
    _report(output, report, lines, all_reached(measures))


@command.command(epilog=_EPILOG)
@_count("--commits", 100_000, "How many commits the vault has.", 2_000)
@_notes(200)
@_count("--rounds", 5, "How often each command is measured.")
@click.pass_obj
def history(output: Output, commits: int, notes: int, rounds: int) -> None:
    """Time commands that read a long history, and writes while it is packed.

    The vault is kept in the folder for temporary files, since it takes minutes to make. The limits are those for
    100,000 commits.
    """
    measures = histories.measure(commits, notes, rounds, output.note)
    report = {"commits": commits, "notes": notes, "figures": [each.document() for each in measures]}
    lines = [f"{commits} commits, {notes} notes", *(each.line() for each in measures)]
    _report(output, report, lines, all_reached(measures))


@command.command(epilog=_EPILOG)
@_notes()
@_count("--rounds", 9, "How often the small syncs are measured.")
@click.pass_obj
def sync(output: Output, notes: int, rounds: int) -> None:
    """Time syncs with a remote on this disk, against git pull and git push.

    The limits are those for 10,000 notes.
    """
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        measures = syncs.measure(Path(folder), notes, rounds, output.note)
    report = {"notes": notes, "figures": [each.document() for each in measures]}
    _report(output, report, [f"{notes} notes", *(each.line() for each in measures)], all_reached(measures))


def _report(output: Output, document: Mapping[str, object], lines: list[str], reached: bool) -> None:
    output.emit({**document, "ok": reached}, "\n".join(lines))
    if not reached:
        raise CheckFailed
