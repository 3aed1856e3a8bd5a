"""`vault-agent bench`: the figures in the README, measured again on this machine."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar, get_args

import click

from agent.index.keyword import Engine, engine_for
from agent.interfaces.cli.benches import agent as agents
from agent.interfaces.cli.benches import commit as commits
from agent.interfaces.cli.benches import retrieval as questions
from agent.interfaces.cli.benches import scale as scales
from agent.interfaces.cli.benches import speed as speeds
from agent.interfaces.cli.benches import start as starts
from agent.interfaces.cli.benches.figures import Figure
from agent.interfaces.cli.benches.measures import Measure, all_reached
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes
from agent.workspace.workspace import build

_EPILOG = exit_codes("a figure was not reached")
_SHOWN = 10
_Asked = Literal["auto", "whoosh", "tantivy"]
_Measuring = Callable[[Path, int, Engine, int, Callable[[str], None]], list[Measure]]
_Command = TypeVar("_Command", bound=Callable[..., None])
_engine = click.option(
    "--engine",
    type=click.Choice(get_args(_Asked)),
    default="auto",
    show_default=True,
    help="The keyword engine.",
)


def _count(name: str, default: int, said: str, least: int = 1) -> Callable[[_Command], _Command]:
    return click.option(name, type=click.IntRange(least), default=default, show_default=True, help=said)


def _notes(least: int = 1) -> Callable[[_Command], _Command]:
    return _count("--notes", 10_000, "How many notes the vault has.", least)


def _in_one_vault(rounds: int, said: str, least: int = 1) -> Callable[[_Command], _Command]:
    """The options of what is measured against its limits in one vault of `least` notes, in so many `rounds`."""
    notes = _notes(least)
    return lambda command: notes(_count("--rounds", rounds, said)(_engine(command)))


@click.group(short_help="Measure speed on this machine.")
def command() -> None:
    """Measure on vaults made for the purpose; yours is read by `retrieval` alone, and written by none."""


@command.command(epilog=_EPILOG)
@_notes(commits.FEWEST)
@_count("--rounds", 40, "How often each thing is measured.")
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
@_notes()
@_count("--rounds", 15, "How often each thing is measured.")
@click.pass_obj
def start(output: Output, notes: int, rounds: int) -> None:
    """Time commands from a cold start."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        figures = starts.measure(Path(folder), notes, rounds)
    report = {"notes": notes, "figures": [_with_limit(figure) for figure in figures]}
    lines = [f"{notes} notes", *(f"{figure.line()}   at most {_limit(figure):.0f}" for figure in figures)]
    _report(output, report, lines, all(figure.median <= _limit(figure) for figure in figures))


@command.command(epilog=_EPILOG)
@click.argument("fixture", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "-k", "depths", type=click.IntRange(1, 1000), multiple=True, default=(1, 5, 10), show_default=True, help="Depths."
)
@click.option("--at-least", type=click.FloatRange(0, 1), help="What hit at 5 must reach; else nothing is judged.")
@click.pass_obj
def retrieval(output: Output, fixture: Path, depths: tuple[int, ...], at_least: float | None) -> None:
    """Measure what search finds in your vault, for the questions of FIXTURE.

    Each line is {"query": "...", "relevant": ["path", ...]}. Prints hit and recall at each depth (-k, more
    than once if you like), the mean reciprocal rank and the time: of the whole search (hybrid), of the same
    without vectors (keyword mode), of the keyword engine's own ranking (plain BM25), and of grep.
    """
    asked, app = questions.read(fixture), build(output.vault())
    depths = tuple(sorted({*depths, *((5,) if at_least is not None else ())}))
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        found = questions.measure(app, Path(folder), asked, depths)
    judged = [Measure("hit at 5", found[0].hit[5], "", at_least, at_least=True)] if at_least is not None else []
    report: dict[str, object] = {
        "questions": len(asked),
        "figures": [each.document() for each in found],
        "missed": list(found[0].missed),
        "judged": [each.document() for each in judged],
    }
    lines = [f"{len(asked)} questions", *(each.line() for each in found), *(each.line() for each in judged)]
    lines += [f"missed: {query}" for query in found[0].missed[:_SHOWN]]
    _report(output, report, lines, all_reached(judged))


@command.command(epilog=_EPILOG)
@_in_one_vault(20, "How many saves are waited for.")
@click.pass_obj
def speed(output: Output, notes: int, rounds: int, engine: _Asked) -> None:
    """Time the first index, searches, and from a save to its being found.

    The limits are those for 10,000 notes.
    """
    _measured(output, speeds.measure, notes, rounds, engine)


@command.command(epilog=_EPILOG)
@_count("--notes", 100_000, "How many notes are searched.")
@_count("--files", 10_000, "How many files the checkout changes.")
@click.option(
    "--idle",
    type=click.FloatRange(0.1),
    default=60.0,
    show_default=True,
    help="How many seconds the daemon is left alone.",
)
@_engine
@click.pass_obj
def scale(output: Output, notes: int, files: int, idle: float, engine: _Asked) -> None:
    """Measure very many notes, a checkout of every file, and an idle daemon."""
    used = engine_for(engine)
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        measures = scales.measure_daemon(Path(folder) / "daemon", files, idle, used, output.note)
        measures += scales.measure_search(Path(folder) / "search", notes, used, output.note)
    _judge(output, {"notes": notes, "files": files, "engine": used}, measures)


@command.command(epilog=_EPILOG)
@_in_one_vault(5, "How many runs are measured.", agents.FEWEST)
@click.pass_obj
def agent(output: Output, notes: int, rounds: int, engine: _Asked) -> None:
    """Time what a step of a run takes besides the model and the commits.

    The limits are those for 10,000 notes.
    """
    _measured(output, agents.measure, notes, rounds, engine)


def _measured(output: Output, measure: _Measuring, notes: int, rounds: int, asked: _Asked) -> None:
    engine = engine_for(asked)
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        measures = measure(Path(folder), notes, engine, rounds, output.note)
    _judge(output, {"notes": notes, "engine": engine}, measures)


def _judge(output: Output, about: dict[str, object], measures: Sequence[Measure]) -> None:
    report = {**about, "figures": [each.document() for each in measures]}
    head = ", ".join(f"{name} {value}" for name, value in about.items())
    _report(output, report, [head, *(each.line() for each in measures)], all_reached(measures))


def _limit(figure: Figure) -> float:
    return starts.LIMITS_MS[figure.name]


def _with_limit(figure: Figure) -> dict[str, object]:
    return {**figure.document(), "limit_ms": _limit(figure)}


def _report(output: Output, document: dict[str, object], lines: list[str], reached: bool) -> None:
    output.emit({**document, "ok": reached}, "\n".join(lines))
    if not reached:
        raise CheckFailed
