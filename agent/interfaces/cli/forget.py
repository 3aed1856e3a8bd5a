"""`vault-agent forget`: removes a note or a text wherever the agent wrote it, and prevents its return."""

import io
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import click

from agent.app.open import open_workspace
from agent.errors import NoteGone
from agent.interfaces.cli.language import counted, said
from agent.interfaces.cli.lookup import path_in_vault
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.prompt import agree
from agent.markdown.session_marks import is_mark
from agent.memory.forgetting.forget import carry_out, plan_named
from agent.memory.forgetting.forget_past import is_in_history
from agent.memory.forgetting.places import Forgetting, Report
from agent.memory.forgetting.purge import Forgetter, Purge
from agent.memory.store import last_entry
from agent.texts import Language, Sentence
from agent.vault.change import Outcome
from agent.vault.folders import AgentFolder, WriteRule
from agent.workspace.workspace import Workspace

_SHOWN = 10


@click.command(
    short_help="Forget a note or a text, and keep it from coming back.",
    epilog=exit_codes("with --purge: something still holds it, and is named"),
)
@click.argument("name", metavar="[PATH|ID|TEXT]", required=False, default="")
@click.option("--last", is_flag=True, help="Forget what was remembered last.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--purge", "purged", is_flag=True, help="Remove it from the history too; this cannot be undone.")
@click.option("--yes", is_flag=True, help="Do not ask, also when many notes would go.")
@click.option("--yes-remote", is_flag=True, help="With --purge: also when another repository has the commits.")
@click.pass_obj
def command(output: Output, name: str, last: bool, dry_run: bool, purged: bool, yes: bool, yes_remote: bool) -> None:
    """Forget the note at PATH or with this ID, or a TEXT wherever the agent has written it.

    Every entry that says the same is removed too, and so are rules that the agent has learned, and the lines of
    MEMORY.md and of daily notes that have no other source. In sessions and other records [forgotten] stands for it.
    What you wrote yourself in other notes stays, and is named. A note in archive/forgotten remains, with fingerprints
    and none of the words; they prevent the same content from being remembered again. An undo restores everything.
    It asks first when it would change notes besides one entry; without a terminal, it then changes nothing without
    --yes.

    With --purge the history of this branch is rewritten without it, also after it was forgotten; the old commits stay
    under a backup ref until you delete them. If it is interrupted, the next command finishes it.
    """
    workspace = open_workspace(output.vault())
    name = _last(workspace) if last else _named(workspace, name)
    if purged:
        _purge(output, workspace, name, dry_run=dry_run, yes=yes, yes_remote=yes_remote)
        return
    with _progress() as report:
        forgetting = _plan(workspace, name, report)
    if not dry_run and not yes and forgetting.should_be_seen(workspace.vault.home):
        lines = [f"forget {name}", *_effects(forgetting, workspace.vault.home)]
        refusal = Sentence("this changes notes besides one entry, so it needs a yes")
        agree(output, lines, "forget all of this?", refusal)
    outcome = Outcome() if dry_run else carry_out(workspace.vault, forgetting, _language(workspace), confirmed=yes)
    output.emit(
        _document(forgetting, outcome, dry_run),
        lambda: as_lines(_format(workspace.vault.home, forgetting, outcome, dry_run)),
    )


def _purge(output: Output, workspace: Workspace, name: str, *, dry_run: bool, yes: bool, yes_remote: bool) -> None:
    forgetter = Forgetter(workspace.vault, _language(workspace), workspace.cache)
    with _progress() as report:
        path, forgetting = forgetter.plan(name, report)
    found = forgetter.preview(path, forgetting, remote=yes_remote)
    if dry_run:
        output.emit(
            _purge_document(forgetting, Outcome(), found, True),
            lambda: as_lines(_format_purge(workspace.vault.home, forgetting, found, True)),
        )
        return
    if not yes:
        lines = [*_format_purge(workspace.vault.home, forgetting, found, True)]
        question = "write the history of this branch anew without it?"
        agree(output, lines, question, Sentence("a purge cannot be undone, so it needs a yes"))
    outcome, done = forgetter.carry_out(path, forgetting, remote=yes_remote, confirmed=yes)
    forgetting = replace(forgetting, mentions=done.mentions)
    output.emit(
        _purge_document(forgetting, outcome, done, False),
        lambda: as_lines(_format_purge(workspace.vault.home, forgetting, done, False)),
    )
    if done.still_holding:
        raise CheckFailed


def _named(workspace: Workspace, name: str) -> str:
    if not name.strip():
        return name
    return path_in_vault(name, workspace.vault.place.root)


def _last(workspace: Workspace) -> str:
    entry = last_entry(workspace.vault)
    if entry is None:
        raise NoteGone("nothing is remembered", hint="vault-agent remember TEXT keeps something")
    return entry.path


@contextmanager
def _progress() -> Iterator[Report]:
    """A bar of progress on a terminal."""
    where = sys.stderr if sys.stderr.isatty() else io.StringIO()
    with click.progressbar(length=100, label="looking", file=where) as bar:
        yield lambda done, total: bar.update(100 * done // max(1, total) - bar.pos)


def _plan(workspace: Workspace, name: str, report: Report) -> Forgetting:
    """The plan; raises `NoteGone`, with a hint if only the history contains the note."""
    try:
        return plan_named(workspace.vault, name, _language(workspace), report)
    except NoteGone:
        path = next((path for path in (name, f"{name}.md") if is_in_history(workspace.vault, path)), "")
        if not path:
            raise
        raise NoteGone(
            "{path} is gone already, and only the history still has it",
            hint="to remove it there too: vault-agent forget {name} --purge",
            path=path,
            name=shlex.quote(path),
        ) from None


def _language(workspace: Workspace) -> Language:
    return workspace.settings.vault.language


def _document(forgetting: Forgetting, outcome: Outcome, dry_run: bool) -> Mapping[str, object]:
    return {
        "dry_run": dry_run,
        "commit": outcome.commit,
        "queued": outcome.queued,
        "forgotten": [*(path for path, _ in forgetting.gone), *forgetting.past],
        "changed": [{"path": each.path, "lines": list(each.gone)} for each in forgetting.changed],
        "mentions": list(forgetting.mentions),
        "unread": list(forgetting.unread),
        "renamed": {each.path: each.to for each in forgetting.changed if each.to},
    }


def _purge_document(forgetting: Forgetting, outcome: Outcome, found: Purge, dry_run: bool) -> Mapping[str, object]:
    return {
        **_document(forgetting, outcome, dry_run),
        "purged": {
            "commits": found.commits,
            "head": found.head,
            "backup": found.backup,
            "other_refs": list(found.other_refs),
            "drop": list(found.drop),
            "drop_waits": found.busy,
            "remaining": list(found.remaining),
            "complete": not found.still_holding,
        },
    }


def _effects(forgetting: Forgetting, home: AgentFolder) -> Iterator[str]:
    yield from (said("  goes from the history: {path}", path=path) for path in forgetting.past[:_SHOWN])
    yield from (said("  goes: {path}", path=path) for path, _ in forgetting.gone[:_SHOWN])
    if len(forgetting.gone) > _SHOWN:
        yield "  " + said("and {count} more", count=len(forgetting.gone) - _SHOWN)
    for each in forgetting.changed[:_SHOWN]:
        if home.row(each.path).write is WriteRule.PROGRAM:
            lines = counted(len(each.gone), "1 line", "{count} lines")
            redacted = "  redacted in {lines}: {path} (a new name)" if each.to else "  redacted in {lines}: {path}"
            if not each.gone:
                redacted = "  gets another name: {path}" if each.to else "  its links change: {path}"
            yield said(redacted, lines=lines, path=each.to or each.path)
        else:
            gone = [line.strip() for line in each.gone if line.strip() and not is_mark(line)]
            yield from (said("  {path} loses: {line}", path=each.path, line=line) for line in gone[:_SHOWN])
            yield from (said("  gets another name: {to}", to=each.to),) if each.to else ()
    if len(forgetting.changed) > _SHOWN:
        yield said("  and {count} more lose lines", count=len(forgetting.changed) - _SHOWN)
    yield from (said("  stays, and says it too: {path}", path=path) for path in forgetting.mentions[:_SHOWN])
    yield from (said("  could not be read: {path}", path=path) for path in forgetting.unread[:_SHOWN])


def _format(home: AgentFolder, forgetting: Forgetting, outcome: Outcome, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield said("would forget; nothing is changed yet:")
    elif outcome.queued:
        yield said("waits, because {queued}; it is forgotten when that ends:", queued=said(outcome.queued))
    else:
        yield said("forgotten in {commit}:", commit=(outcome.commit or "")[:10])
    yield from _effects(forgetting, home)
    if outcome.commit:
        yield said("to have it again: vault-agent undo {commit}", commit=outcome.commit[:10])
        yield said("the history still holds it; --purge removes it there too")


def _format_purge(home: AgentFolder, forgetting: Forgetting, found: Purge, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield said("would forget, and write {commits} commits anew; nothing is changed yet:", commits=found.commits)
    else:
        part = "not all of it is gone, and {commits} commits written anew; the branch is at {head}:"
        whole = "forgotten, and {commits} commits written anew; the branch is at {head}:"
        yield said(part if found.still_holding else whole, commits=found.commits, head=found.head[:10])
    yield from _effects(forgetting, home)
    yield from (
        said("  still holds it: {name}", name=name) for name in dict.fromkeys((*found.other_refs, *found.remaining))
    )
    if not dry_run and found.still_holding:
        yield said("what still holds it is yours to change or remove; then repeat this command")
    if not dry_run and (found.backup or found.is_unreferenced):
        backup = found.backup or said("no reference leads to them any more")
        yield said("the commits as they were: {backup}", backup=backup)
        if found.busy:
            yield said("to drop them for good: {busy}; then repeat this command, which says how", busy=said(found.busy))
            return
        yield said("to drop them for good, when you are sure and nothing else writes to the vault:")
        yield from (f"  {line}" for line in found.drop)
