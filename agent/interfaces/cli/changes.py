"""The commands about changes: `log` lists the commits, described by their changes in the notes; `diff` shows one line
by line; `undo` takes changes back and keeps later edits; `commit` commits the person's own edits at once.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.errors import Unknown, UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, first_lines, listed, row, tr
from agent.interfaces.cli.notes import path_with_changes
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import Printed, Styled, as_lines, patch_line
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.lazy import later
from agent.vault.change import Outcome
from agent.vault.history.commit_index import HUMAN, is_commit_id
from agent.vault.history.commits import Commit, resolve
from agent.vault.history.difference import FileDifference, describe, of_commit, of_working_tree, summary
from agent.vault.history.find import commits, indexed_commits, refuse_unknown_run
from agent.vault.history.typed_time import parse_time
from agent.vault.history.undo import Undone
from agent.vault.history.undo_choice import Selection, last_change
from agent.vault.history.undo_plan import Reason
from agent.vault.store import Vault
from agent.vault.waiting import commit_waiting, commit_work, waiting_notes
from agent.vault.worktree.survey import Dirty, DirtyKind
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.deeds.changes import ChangeLines, diff_of, logged_commit, take_back, undo_report
else:  # `log` and `diff` need them only for --json
    diff_of = later("agent.deeds.changes", "diff_of")
    logged_commit = later("agent.deeds.changes", "logged_commit")
    take_back = later("agent.deeds.changes", "take_back")
    undo_report = later("agent.deeds.changes", "undo_report")

_LINE_END = b"\n"
_PATCH_BYTES = 100_000
"""The most bytes of the patch of one file on a terminal: about thirty screens."""


@click.command(
    help="Show what a change did to the notes.\n\nWith COMMIT, what it changed; without, what is not committed yet, "
    "new notes included."
)
@click.argument("commit", required=False)
@click.option("--path", metavar="P", help="Only this note or folder.")
@click.option("--raw", is_flag=True, help="Into a pipe or file byte for byte, control characters included.")
@in_vault
def diff(output: Output, workspace: Workspace, commit: str | None, path: str | None, raw: bool) -> None:
    vault = workspace.vault.whole
    oid: str | None = None
    if commit is None:
        found = of_working_tree(vault)
    else:
        oid = resolve(vault, commit)
        found = of_commit(vault, oid)
    if path:
        found = [item for item in found if item.is_in(path_with_changes(path, vault))]
    output.emit(lambda: diff_of(oid, found), lambda: _patch(found), raw=raw)
    if not found:
        output.note(tr("everything is committed") if commit is None and not path else tr("no note was changed"))


def _patch(found: Sequence[FileDifference]) -> Printed | bytes:
    """The patch as git wrote it, byte for byte; on a terminal coloured, and only the beginning of a long one."""
    if not sys.stdout.isatty():
        return b"".join(item.patch for item in found)
    lines = [line for item in found for line in _patch_lines(item)]
    return [piece for line in lines for piece in ("\n", line)][1:]


def _patch_lines(item: FileDifference) -> Iterator[Styled]:
    patch = item.patch
    end = len(patch) if len(patch) <= _PATCH_BYTES else patch.rfind(_LINE_END, 0, _PATCH_BYTES) + 1 or _PATCH_BYTES
    for line in patch[:end].decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
        yield patch_line(line)
    if end < len(patch):
        left = f"{patch.count(_LINE_END, end):,}"
        yield Styled(tr("… more lines: {count}. A pipe gets all of them: … | less", count=left), dim=True)


_FILES, _LINES = 8, 6
"""The most notes of a commit, and lines about a note, in the text; JSON has all of them."""


@click.command(
    help="List the changes: who, when, why and what.\n\nPATH is a note, whose renames are followed, or a folder. "
    "Times: 2h, 30m, 1d, today, yesterday, 2026-11-21 or 2026-11-21T14:30.\n\n--squash keeps your own commits, merges "
    "and undos, and the notes as they are. Ids change from the first joined commit on, and a run that was joined with "
    "others cannot be undone by itself any more. The history as it was is kept in a bundle outside the vault and under "
    "a rescue ref; to get space back, remove both and run git gc."
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
def log(
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
            raise click.UsageError(tr("--pack and --squash stand alone"))
        history = import_module("agent.interfaces.cli.history")  # hardly ever typed
        if pack:
            history.pack_now(output, workspace)
        else:
            history.squash_now(output, workspace, history.SquashWish(squash, dry_run, yes, yes_remote))
        return
    if dry_run or yes or yes_remote:
        raise click.UsageError(tr("--dry-run, --yes and --yes-remote go with --squash"))
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
    commits_listed = found[:count] if count else found
    described = iter(describe(vault, [change for commit in commits_listed for change in commit.files]))
    entries = [(commit, [next(described) for _ in commit.files]) for commit in commits_listed]
    output.emit(lambda: {"commits": [logged_commit(*entry) for entry in entries]}, lambda: _format_log(entries, now))
    if not commits_listed:
        output.note(tr("no changes") if not any((path, actor, run, job, since, until)) else tr("no change fits"))
    if waiting := waiting_notes(vault):
        subjects = dict.fromkeys(subject for note in waiting for subject in note.changes)
        one = "1 change of the agent's waits for the evening's commit; vault-agent commit commits it now"
        more = "{count} changes of the agent's wait for the evening's commit; vault-agent commit commits them now"
        output.note(counted(len(subjects), one, more))
        for subject in list(subjects)[:_FILES]:
            output.note(f"  {subject}")
    if len(found) > len(commits_listed):
        output.note(tr("there is more: -n {count}, or -n 0 for all", count=count * 2))


def _refuse_unknown(vault: Vault, run: str | None, path: str | None) -> None:
    """Raise `Unknown` for a run or a path that nothing here has or had."""
    if run:
        refuse_unknown_run(vault, run)
    if path and not (vault.place.root / path).exists() and not indexed_commits(vault, path):
        hint = "name it with its folder and its .md; vault-agent search WORDS finds a path"
        raise Unknown("no change here is of a note or folder {path}", hint=hint, path=path)


def _format_log(entries: "Sequence[tuple[Commit, ChangeLines]]", now: datetime) -> list[str | Styled]:
    pieces: list[str | Styled] = []
    for commit, changes in entries:
        text = as_lines(_entry_lines(commit, changes, now))
        pieces += ["\n\n" if pieces else "", Styled(commit.id[:8], colour="yellow"), text]
    return pieces


def _who(commit: Commit) -> str:
    if commit.is_by_command:
        return tr("you")
    return commit.author if commit.actor == HUMAN else commit.actor


def _entry_lines(commit: Commit, changes: "ChangeLines", now: datetime) -> Iterator[str]:
    """The lines about a commit, the first without its id."""
    who = _who(commit)
    claims = tr("claims to be {claims}, not made on this machine", claims=commit.claims) if commit.claims else ""
    parts = [who, claims, tr("run {run}", run=commit.run) if commit.run else "", commit.tool]
    when = f"{format_ago(commit.when, now)} ({format_time(commit.when, now)})"
    yield f"  {when}  {listed(filter(None, parts))}"
    yield f"  {commit.subject}"
    for oid in commit.undoes[:_LINES]:
        yield "    " + tr("undoes {commit}", commit=oid[:8])
    for change, lines in [*zip(commit.files, changes, strict=True)][:_FILES]:
        yield f"    {tr(summary(change))}"
        yield from first_lines(map(tr, lines), _LINES, "      ")
    if len(commit.files) > _FILES:
        yield "    " + tr("and {count} more", count=len(commit.files) - _FILES)


_UNDONE_SHOWN, _NAMED = 40, 5
_LOOKED_AT = 500
"""The newest commits among which `--last` looks."""


@click.command(
    help="Take changes back and keep later edits.\n\nName commits, or one of --last, --run, --job, --actor, "
    "--since; --job or --actor with --since takes back what the job, or a program such as mcp:claude-code, did since "
    "then. The undo is a "
    "commit of its own: undo that one to have the changes again. Where the same lines were changed since, nothing is "
    "done and the notes are named; --partial leaves those as they are and undoes the rest."
)
@click.argument("named", metavar="[COMMIT]...", nargs=-1)
@click.option("--run", metavar="ID", default="", help="Everything this run did.")
@click.option("--job", "jobs", metavar="ID", multiple=True, help="Everything this job did; may be given several times.")
@click.option("--actor", metavar="WHO", default="", help="Everything of agent, http, job:ID or mcp:CLIENT.")
@click.option("--since", metavar="TIME", help="All since then but your own: 2h, 1d, today, 2026-11-21.")
@click.option("--last", is_flag=True, help="The last change that was not your own: all of its run.")
@click.option("--note", "notes", metavar="PATH", multiple=True, help="Only this note; may be given several times.")
@click.option("--include-human", is_flag=True, help="With --since: your own commits too.")
@click.option("--partial", is_flag=True, help="Undo what can be undone, leave the rest.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--yes", is_flag=True, help="Also when many notes would go.")
@click.pass_obj
def undo(
    output: Output,
    named: tuple[str, ...],
    run: str,
    jobs: tuple[str, ...],
    actor: str,
    since: str | None,
    last: bool,
    notes: tuple[str, ...],
    include_human: bool,
    partial: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    if sum(map(bool, (named, run, jobs or actor or since, last))) != 1 or (jobs and actor):
        which = "say what to undo: COMMIT..., --last, --run ID, --job ID, --actor WHO or --since TIME, one of them"
        raise click.UsageError(tr(which))
    if actor == HUMAN:
        raise click.UsageError(tr("your own commits are undone by name, or with --since and --include-human"))
    if include_human and (jobs or actor or not since):
        raise click.UsageError(tr("--include-human goes with --since"))
    workspace = open_workspace(output.vault(takes_known=False)).whole
    start = parse_time(since, workspace.clock.now()) if since else None
    if last:
        commit_work(workspace.vault, lambda _: True)
    found = last_change(commits(workspace.vault, limit=_LOOKED_AT), workspace.vault.home) if last else None
    if last and found is None:
        raise UserError("there is no change of the agent's to take back", hint="vault-agent log lists the changes")
    selection = replace(
        found or Selection(named, run, jobs, start, include_human, actor),
        notes=tuple(path_with_changes(each, workspace.vault) for each in notes),
    )
    result = take_back(workspace.vault, selection, partial=partial, confirmed=yes, dry_run=dry_run)
    output.emit(lambda: undo_report(result, dry_run), lambda: as_lines(format_undone(result, dry_run)))


def format_undone(result: Undone, dry_run: bool) -> Iterator[str]:
    """The report of an undo, as lines."""
    yield _outcome(result, dry_run)
    yield from first_lines((tr(summary(each)) for each in result.files), _UNDONE_SHOWN, "  ")
    yield from (tr("  kept: {about}: {reason}", about=word.about, reason=tr(word.reason)) for word in result.kept)
    yield from (
        tr("  not undone: {about}: {reason}", about=word.about, reason=tr(word.reason)) for word in result.refused
    )
    yield from _skipped(result.skipped)
    yield from (tr("  look at: {path}, written because you saved meanwhile", path=path) for path in result.conflicts)
    if result.human_commits_kept:
        one, more = "  1 of your own commits was kept", "  {count} of your own commits were kept"
        yield counted(result.human_commits_kept, one, more)
    if result.commit:
        yield tr("to have it again: vault-agent undo {commit}", commit=result.commit[:10])


def _skipped(words: Sequence[Reason]) -> Iterator[str]:
    """A line for each reason: with the names if they are few, else with their number."""
    reasons: dict[str, list[str]] = {}
    for word in words:
        reasons.setdefault(word.reason, []).append(word.about[:8] if is_commit_id(word.about) else word.about)
    for reason, names in reasons.items():
        yield tr("  skipped: {names}: {reason}", names=listed(names, _NAMED), reason=tr(reason))


def _outcome(result: Undone, dry_run: bool) -> str:
    count = len(result.undone) + len(result.partial) + result.waiting
    what = counted(count, "1 commit", "{count} commits") + (tr(", some only in part") if result.partial else "")
    if not result.files:
        return tr("nothing to undo")
    if dry_run:
        return tr("would undo {commits}; nothing is changed yet:", commits=what)
    if result.queued:
        waits = "the undo of {commits} waits, because {queued}; it is done when that ends:"
        return tr(waits, commits=what, queued=tr(result.queued))
    return tr("undid {commits} in {commit}:", commits=what, commit=(result.commit or "")[:10])


_LEFT_SHOWN = 10


@click.command()
@click.option("-y", "--yes", "confirmed", is_flag=True, help="Go on even if many notes would be deleted or emptied.")
@in_vault
def commit(output: Output, workspace: Workspace, confirmed: bool) -> None:
    """Commit every note and file you changed by hand, in your name, as one commit.

    Changes that you have staged with `git add` are left for you to commit, and so are new files that are large or no
    text (`git.largest_megabytes`, `git.binaries`). A file that another program keeps open is
    left until it is closed, or committed as it is after some minutes. What the agent has written without being asked,
    and what waits for the evening, is committed too, apart and in the agent's name.
    """
    vault = workspace.vault
    commit_waiting(vault, apart=True)
    outcome = vault.commit_human(confirmed=confirmed, drafts=True)
    left = vault.changed_files()
    left_out = [fields(each, "path kind") for each in left]
    document = fields(outcome, "open unread left_out queued", commit=outcome.human, files=outcome.paths, left=left_out)
    output.emit(document, lambda: _format_commit(outcome, left))


def _format_commit(outcome: Outcome, left: list[Dirty]) -> str:
    if outcome.queued:
        return tr("not committed yet: {queued}", queued=tr(outcome.queued))
    lines = [tr("nothing committed") if outcome.unread or outcome.open else tr("nothing to commit")]
    if outcome.human:
        lines = [
            counted(
                len(outcome.paths),
                "commit {human}: 1 of your files",
                "commit {human}: {count} of your files",
                human=outcome.human[:12],
            ),
            *outcome.paths[:20],
        ]
    staged = sum(1 for item in left if item.kind is DirtyKind.STAGED)
    if staged:
        lines.append(tr("{count} staged by you, left for your own `git commit`", count=staged))
    lines += [row("left", tr("{path}: another program keeps it open", path=path)) for path in outcome.open]
    lines += [row("unknown", tr("{path}: cannot be looked at", path=path)) for path in outcome.unread]
    adds = "{path}: {why}; `git add` takes it"
    out = [*outcome.left_out.items()]
    lines += [row("left", tr(adds, path=path, why=tr(why))) for path, why in out[:_LEFT_SHOWN]]
    lines += [row("left", tr("{count} more: see --json", count=len(out) - _LEFT_SHOWN))] if out[_LEFT_SHOWN:] else []
    named = {*outcome.open, *outcome.unread, *outcome.left_out}
    others = sum(1 for item in left if item.kind is not DirtyKind.STAGED and item.path not in named)
    if others:
        lines.append(tr("{count} left alone (saved a moment ago, or handled by a git filter)", count=others))
    return as_lines(lines)
