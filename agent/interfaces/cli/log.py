"""`vault-agent log`: the commits of the vault, newest first, described by their changes in the notes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

import click

from agent.errors import Unknown
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, listed, said
from agent.interfaces.cli.lookup import path_with_changes
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import Styled, as_lines
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.lazy import later
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit
from agent.vault.history.difference import describe, summary
from agent.vault.history.find import commits, indexed_commits, refuse_unknown_run
from agent.vault.history.typed_time import parse_time
from agent.vault.store import Vault
from agent.vault.waiting import waiting_notes
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.deeds.changes import ChangeLines, logged_commit
else:  # only for --json
    logged_commit = later("agent.deeds.changes", "logged_commit")

_FILES, _LINES = 8, 6
"""The most notes of a commit, and lines about a note, in the text; JSON has all of them."""


@click.command(
    help="List the changes: who, when, why and what.\n\nPATH is a note, whose renames are followed, or a folder. "
    "Times: 2h, 30m, 1d, today, yesterday, 2026-11-21 or 2026-11-21T14:30.\n\n--squash keeps your own commits, merges "
    "and undos, and the notes as they are. Ids change from the first joined commit on, and a run that was joined with "
    "others cannot be undone by itself any more. The history as it was is kept in a bundle outside the vault and under "
    "a rescue ref; to get space back, remove both and run git gc.",
)
@click.argument("path", required=False)
@click.option("--actor", metavar="WHO", help="human, agent, http, job:ID or mcp:CLIENT.")
@click.option("--run", metavar="ID", help="Only what this run did.")
@click.option("--job", metavar="ID", help="Only what this job did.")
@click.option("--since", metavar="TIME", help="Only from this time on.")
@click.option("--until", metavar="TIME", help="Only up to this time; a day counts whole.")
@click.option(
    "-n", "count", metavar="N", type=click.IntRange(0), default=20, show_default=True, help="At most N; 0: all."
)
@click.option("--pack", is_flag=True, help="Pack the history now, as the daemon does; nothing is deleted.")
@click.option("--squash", metavar="AGE", help="Join the agent's older commits of a day into one: 90d, 12w, 6mo, 1y.")
@click.option("--dry-run", is_flag=True, help="With --squash: only say what would happen.")
@click.option("--yes", is_flag=True, help="With --squash: do not ask.")
@click.option("--yes-remote", is_flag=True, help="With --squash: also when your other repositories have the commits.")
@in_vault
def command(
    output: Output,
    workspace: Workspace,
    path: str | None,
    actor: str | None,
    run: str | None,
    job: str | None,
    since: str | None,
    until: str | None,
    count: int,
    pack: bool,
    squash: str | None,
    dry_run: bool,
    yes: bool,
    yes_remote: bool,
) -> None:
    if pack or squash:
        if (pack and squash) or any((path, actor, run, job, since, until)):
            raise click.UsageError(said("--pack and --squash stand alone"))
        history = import_module("agent.interfaces.cli.history")  # hardly ever typed
        if pack:
            history.pack_now(output, workspace)
        else:
            history.squash_now(output, workspace, history.SquashWish(squash, dry_run, yes, yes_remote))
        return
    if dry_run or yes or yes_remote:
        raise click.UsageError(said("--dry-run, --yes and --yes-remote go with --squash"))
    vault, now = workspace.vault.whole, workspace.clock.now()
    named = path_with_changes(path, vault) if path else None
    found = commits(
        vault,
        actor=actor,
        run=run,
        job=job,
        path=named,
        since=parse_time(since, now) if since else None,
        until=parse_time(until, now, end=True) if until else None,
        limit=count + 1 if count else None,
    )
    if not found:
        _refuse_unknown(vault, run, named)
    shown = found[:count] if count else found
    described = iter(describe(vault, [change for commit in shown for change in commit.files]))
    entries = [(commit, [next(described) for _ in commit.files]) for commit in shown]
    output.emit(lambda: {"commits": [logged_commit(*entry) for entry in entries]}, lambda: _format(entries, now))
    if not shown:
        output.note(said("no changes") if not any((path, actor, run, job, since, until)) else said("no change fits"))
    if waiting := waiting_notes(vault):
        subjects = dict.fromkeys(subject for note in waiting for subject in note.unasked)
        one = "1 change of the agent's waits for the evening's commit; vault-agent commit commits it now"
        more = "{count} changes of the agent's wait for the evening's commit; vault-agent commit commits them now"
        output.note(counted(len(subjects), one, more))
        for subject in list(subjects)[:_FILES]:
            output.note(f"  {subject}")
    if len(found) > len(shown):
        output.note(said("there is more: -n {count}, or -n 0 for all", count=count * 2))


def _refuse_unknown(vault: Vault, run: str | None, path: str | None) -> None:
    """Raise `Unknown` for a run or a path that nothing here has or had."""
    if run:
        refuse_unknown_run(vault, run)
    if path and not (vault.place.root / path).exists() and not indexed_commits(vault, path):
        hint = "name it with its folder and its .md; vault-agent search WORDS finds a path"
        raise Unknown("no change here is of a note or folder {path}", hint=hint, path=path)


def _format(entries: "Sequence[tuple[Commit, ChangeLines]]", now: datetime) -> list[str | Styled]:
    pieces: list[str | Styled] = []
    for commit, changes in entries:
        text = as_lines(_entry(commit, changes, now))
        pieces += ["\n\n" if pieces else "", Styled(commit.id[:8], colour="yellow"), text]
    return pieces


def _who(commit: Commit) -> str:
    if commit.is_by_command:
        return said("you")
    return commit.author if commit.actor == HUMAN else commit.actor


def _entry(commit: Commit, changes: "ChangeLines", now: datetime) -> Iterator[str]:
    """The lines about a commit, the first without its id."""
    who = _who(commit)
    claims = said("claims to be {claims}, not made on this machine", claims=commit.claims) if commit.claims else ""
    parts = [who, claims, said("run {run}", run=commit.run) if commit.run else "", commit.tool]
    when = f"{format_ago(commit.when, now)} ({format_time(commit.when, now)})"
    yield f"  {when}  {listed(filter(None, parts))}"
    yield f"  {commit.subject}"
    for oid in commit.undoes[:_LINES]:
        yield "    " + said("undoes {commit}", commit=oid[:8])
    for change, lines in [*zip(commit.files, changes, strict=True)][:_FILES]:
        yield f"    {said(summary(change))}"
        yield from (f"      {said(line)}" for line in lines[:_LINES])
        if len(lines) > _LINES:
            yield "      " + said("and {count} more", count=len(lines) - _LINES)
    if len(commit.files) > _FILES:
        yield "    " + said("and {count} more", count=len(commit.files) - _FILES)
