"""`vault-agent undo`: takes changes back by commit, run, job or time, and keeps later edits."""

from collections.abc import Iterator, Mapping, Sequence

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.time_format import parse_time
from agent.vault.history.commits import is_commit_id
from agent.vault.history.difference import summary
from agent.vault.history.undo import Undone, undo
from agent.vault.history.undo_choice import Selection
from agent.vault.history.undo_plan import Reason

_SHOWN, _NAMED = 40, 5


@click.command(
    short_help="Take changes back and keep later edits.",
    help="Take changes back and keep later edits.\n\nName commits, or one of --run, --job, --since. The undo is a "
    "commit of its own: undo that one to have the changes again. Where the same lines were changed since, nothing is "
    "done and the notes are named; --partial leaves those as they are and undoes the rest.",
)
@click.argument("commits", metavar="[COMMIT]...", nargs=-1)
@click.option("--run", metavar="ID", default="", help="Everything this run did.")
@click.option("--job", metavar="ID", default="", help="Everything this job did.")
@click.option("--since", metavar="TIME", help="All since then but your own: 2h, 1d, today, 2026-11-21.")
@click.option("--include-human", is_flag=True, help="With --since: your own commits too.")
@click.option("--partial", is_flag=True, help="Undo what can be undone, leave the rest.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--yes", is_flag=True, help="Also when many notes would go.")
@click.pass_obj
def command(
    output: Output,
    commits: tuple[str, ...],
    run: str,
    job: str,
    since: str | None,
    include_human: bool,
    partial: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    if sum(map(bool, (commits, run, job, since))) != 1:
        raise click.UsageError("say what to undo: COMMIT..., --run ID, --job ID or --since TIME, one of them")
    if include_human and not since:
        raise click.UsageError("--include-human goes with --since")
    workspace = open_workspace(output.vault())
    start = parse_time(since, workspace.clock.now()) if since else None
    selection = Selection(commits, run, job, start, include_human)
    result = undo(workspace.vault, selection, partial=partial, confirmed=yes, dry_run=dry_run)
    output.emit(_document(result, dry_run), lambda: as_lines(format_undone(result, dry_run)))


def _document(result: Undone, dry_run: bool) -> Mapping[str, object]:
    return {
        "commit": result.commit,
        "dry_run": dry_run,
        "queued": result.queued,
        "undone": list(result.undone),
        "partial": list(result.partial),
        "files": [{"kind": item.kind, "path": item.path, "old_path": item.old_path} for item in result.files],
        "kept": [{"path": word.about, "reason": word.reason} for word in result.kept],
        "refused": [{"path": word.about, "reason": word.reason} for word in result.refused],
        "skipped": [{"about": word.about, "reason": word.reason} for word in result.skipped],
        "conflicts": list(result.conflicts),
        "human_commits_kept": result.human_commits_kept,
    }


def format_undone(result: Undone, dry_run: bool) -> Iterator[str]:
    """The report of an undo, as lines."""
    yield _outcome(result, dry_run)
    yield from (f"  {summary(change)}" for change in result.files[:_SHOWN])
    if len(result.files) > _SHOWN:
        yield f"  and {len(result.files) - _SHOWN} more"
    yield from (f"  kept: {word.about}: {word.reason}" for word in result.kept)
    yield from (f"  not undone: {word.about}: {word.reason}" for word in result.refused)
    yield from _skipped(result.skipped)
    yield from (f"  look at: {path}, written because you saved meanwhile" for path in result.conflicts)
    if result.human_commits_kept:
        count = result.human_commits_kept
        yield f"  {count} of your own commits {'was' if count == 1 else 'were'} kept"
    if result.commit:
        yield f"to have it again: vault-agent undo {result.commit[:10]}"


def _skipped(words: Sequence[Reason]) -> Iterator[str]:
    """A line for each reason: with the names if they are few, else with their number."""
    reasons: dict[str, list[str]] = {}
    for word in words:
        reasons.setdefault(word.reason, []).append(word.about[:8] if is_commit_id(word.about) else word.about)
    for reason, names in reasons.items():
        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        yield f"  skipped: {shown}: {reason}"


def _outcome(result: Undone, dry_run: bool) -> str:
    count = len(result.undone) + len(result.partial)
    what = f"{count} commit{'' if count == 1 else 's'}" + (", some only in part" if result.partial else "")
    if not result.files:
        return "nothing to undo"
    if dry_run:
        return f"would undo {what}; nothing is changed yet:"
    if result.queued:
        return f"the undo of {what} waits, because {result.queued}; it is done when that ends:"
    return f"undid {what} in {(result.commit or '')[:10]}:"
