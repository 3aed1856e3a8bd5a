"""`vault-agent undo`: takes changes back by commit, run, actor or time, and keeps later edits."""

from collections.abc import Iterator, Sequence

import click

from agent.app.open import open_workspace
from agent.deeds.changes import take_back, undo_report
from agent.errors import UserError
from agent.interfaces.cli.language import counted, listed, said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.vault.history.commit_index import HUMAN, is_commit_id
from agent.vault.history.difference import summary
from agent.vault.history.find import commits as recent_commits
from agent.vault.history.typed_time import parse_time
from agent.vault.history.undo import Undone
from agent.vault.history.undo_choice import Selection, last_change
from agent.vault.history.undo_plan import Reason

_SHOWN, _NAMED = 40, 5
_LOOKED_AT = 500
"""The newest commits among which `--last` looks."""


@click.command(
    help="Take changes back and keep later edits.\n\nName commits, or one of --last, --run, --job, --actor, "
    "--since; --job or --actor with --since takes back what the job, or a program such as mcp:claude-code, did since "
    "then. The undo is a "
    "commit of its own: undo that one to have the changes again. Where the same lines were changed since, nothing is "
    "done and the notes are named; --partial leaves those as they are and undoes the rest.",
)
@click.argument("commits", metavar="[COMMIT]...", nargs=-1)
@click.option("--run", metavar="ID", default="", help="Everything this run did.")
@click.option("--job", "jobs", metavar="ID", multiple=True, help="Everything this job did; may be given several times.")
@click.option("--actor", metavar="WHO", default="", help="Everything of agent, http, job:ID or mcp:CLIENT.")
@click.option("--since", metavar="TIME", help="All since then but your own: 2h, 1d, today, 2026-11-21.")
@click.option("--last", is_flag=True, help="The last change that was not your own: all of its run.")
@click.option("--include-human", is_flag=True, help="With --since: your own commits too.")
@click.option("--partial", is_flag=True, help="Undo what can be undone, leave the rest.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--yes", is_flag=True, help="Also when many notes would go.")
@click.pass_obj
def command(
    output: Output,
    commits: tuple[str, ...],
    run: str,
    jobs: tuple[str, ...],
    actor: str,
    since: str | None,
    last: bool,
    include_human: bool,
    partial: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    if sum(map(bool, (commits, run, jobs or actor or since, last))) != 1 or (jobs and actor):
        which = "say what to undo: COMMIT..., --last, --run ID, --job ID, --actor WHO or --since TIME, one of them"
        raise click.UsageError(said(which))
    if actor == HUMAN:
        raise click.UsageError(said("your own commits are undone by name, or with --since and --include-human"))
    if include_human and (jobs or actor or not since):
        raise click.UsageError(said("--include-human goes with --since"))
    workspace = open_workspace(output.vault(takes_known=False)).whole
    start = parse_time(since, workspace.clock.now()) if since else None
    found = last_change(recent_commits(workspace.vault, limit=_LOOKED_AT), workspace.vault.home) if last else None
    if last and found is None:
        raise UserError("there is no change of the agent's to take back", hint="vault-agent log lists the changes")
    selection = found or Selection(commits, run, jobs, start, include_human, actor)
    result = take_back(workspace.vault, selection, partial=partial, confirmed=yes, dry_run=dry_run)
    output.emit(lambda: undo_report(result, dry_run), lambda: as_lines(format_undone(result, dry_run)))


def format_undone(result: Undone, dry_run: bool) -> Iterator[str]:
    """The report of an undo, as lines."""
    yield _outcome(result, dry_run)
    yield from (f"  {said(summary(change))}" for change in result.files[:_SHOWN])
    if len(result.files) > _SHOWN:
        yield "  " + said("and {count} more", count=len(result.files) - _SHOWN)
    yield from (said("  kept: {about}: {reason}", about=word.about, reason=said(word.reason)) for word in result.kept)
    yield from (
        said("  not undone: {about}: {reason}", about=word.about, reason=said(word.reason)) for word in result.refused
    )
    yield from _skipped(result.skipped)
    yield from (said("  look at: {path}, written because you saved meanwhile", path=path) for path in result.conflicts)
    if result.human_commits_kept:
        one, more = "  1 of your own commits was kept", "  {count} of your own commits were kept"
        yield counted(result.human_commits_kept, one, more)
    if result.commit:
        yield said("to have it again: vault-agent undo {commit}", commit=result.commit[:10])


def _skipped(words: Sequence[Reason]) -> Iterator[str]:
    """A line for each reason: with the names if they are few, else with their number."""
    reasons: dict[str, list[str]] = {}
    for word in words:
        reasons.setdefault(word.reason, []).append(word.about[:8] if is_commit_id(word.about) else word.about)
    for reason, names in reasons.items():
        yield said("  skipped: {names}: {reason}", names=listed(names, _NAMED), reason=said(reason))


def _outcome(result: Undone, dry_run: bool) -> str:
    count = len(result.undone) + len(result.partial) + result.waiting
    what = counted(count, "1 commit", "{count} commits") + (said(", some only in part") if result.partial else "")
    if not result.files:
        return said("nothing to undo")
    if dry_run:
        return said("would undo {commits}; nothing is changed yet:", commits=what)
    if result.queued:
        waits = "the undo of {commits} waits, because {queued}; it is done when that ends:"
        return said(waits, commits=what, queued=said(result.queued))
    return said("undid {commits} in {commit}:", commits=what, commit=(result.commit or "")[:10])
