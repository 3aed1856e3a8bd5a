"""`vault-agent forget`: removes a note or a text wherever the agent wrote it, and prevents its return.

With `--purge` the history is written anew without it, and `--for-good` ends in that nothing can be brought back.
"""

import io
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import click

from agent.app.open import open_workspace
from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.interfaces.cli.language import counted, tr
from agent.interfaces.cli.notes import path_in_vault
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes, fields
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.prompt import agree, confirm
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


@contextmanager
def _progress() -> Iterator[Report]:
    """A bar of progress on a terminal."""
    where = sys.stderr if sys.stderr.isatty() else io.StringIO()
    with click.progressbar(length=100, label="looking", file=where) as bar:
        yield lambda done, total: bar.update(100 * done // max(1, total) - bar.pos)


def _document(forgetting: Forgetting, outcome: Outcome, dry_run: bool) -> Mapping[str, object]:
    """The fields of a forgetting for programs."""
    gone = [*(path for path, _ in forgetting.gone), *forgetting.past]
    changed = [{"path": each.path, "lines": each.gone} for each in forgetting.changed]
    renamed = {each.path: each.to for each in forgetting.changed if each.to}
    found = fields(forgetting, "mentions unread", forgotten=gone, changed=changed, renamed=renamed)
    return fields(outcome, "commit queued", dry_run=dry_run) | found


def _effects(forgetting: Forgetting, home: AgentFolder) -> Iterator[str]:
    """A line for each note that goes, changes, or stays although it says the same."""
    yield from (tr("  goes from the history: {path}", path=path) for path in forgetting.past[:_SHOWN])
    yield from (tr("  goes: {path}", path=path) for path, _ in forgetting.gone[:_SHOWN])
    if len(forgetting.gone) > _SHOWN:
        yield "  " + tr("and {count} more", count=len(forgetting.gone) - _SHOWN)
    for each in forgetting.changed[:_SHOWN]:
        if home.row(each.path).write is WriteRule.PROGRAM:
            lines = counted(len(each.gone), "1 line", "{count} lines")
            redacted = "  redacted in {lines}: {path} (a new name)" if each.to else "  redacted in {lines}: {path}"
            if not each.gone:
                redacted = "  gets another name: {path}" if each.to else "  its links change: {path}"
            yield tr(redacted, lines=lines, path=each.to or each.path)
        else:
            gone = [line.strip() for line in each.gone if line.strip() and not is_mark(line)]
            yield from (tr("  {path} loses: {line}", path=each.path, line=line) for line in gone[:_SHOWN])
            yield from (tr("  gets another name: {to}", to=each.to),) if each.to else ()
    if len(forgetting.changed) > _SHOWN:
        yield tr("  and {count} more lose lines", count=len(forgetting.changed) - _SHOWN)
    yield from (tr("  stays, and says it too: {path}", path=path) for path in forgetting.mentions[:_SHOWN])
    yield from (tr("  could not be read: {path}", path=path) for path in forgetting.unread[:_SHOWN])


FINISH = "vault-agent forget --purge --for-good"
"""The command that deletes what earlier purges have left to bring back."""
_ASKED = "delete it here for good? this cannot be undone"


@dataclass(frozen=True, slots=True)
class PurgeOptions:
    """What the person asked for: only to be told, not to be asked, also where another repository has the commits, and
    that nothing can be brought back."""

    dry_run: bool
    yes: bool
    remote: bool
    for_good: bool


def _purge(output: Output, workspace: Workspace, name: str, wanted: PurgeOptions) -> None:
    """Forget it, write the history anew without it, and delete what the history was if the person wants that."""
    forgetter = Forgetter(workspace.vault, workspace.settings.vault.language, workspace.cache)
    with _progress() as report:
        path, forgetting = forgetter.plan(name, report)
    found = forgetter.preview(path, forgetting, remote=wanted.remote)
    home = workspace.vault.home
    if wanted.dry_run:
        _emit_purge(output, home, forgetting, Outcome(), found, dry_run=True)
        return
    if not wanted.yes:
        lines = [*_format_purge(home, forgetting, found, dry_run=True)]
        question = _ASKED if wanted.for_good else "write the history of this branch anew without it?"
        agree(output, lines, question, Sentence("a purge cannot be undone, so it needs a yes"))
    outcome, done = forgetter.carry_out(
        path, forgetting, remote=wanted.remote, confirmed=wanted.yes, for_good=wanted.for_good
    )
    forgetting = replace(forgetting, mentions=done.mentions)
    if done.is_recoverable and not wanted.yes and _is_asked(output):
        _emit_purge(output, home, forgetting, outcome, done)
        done = _delete_as_well(output, forgetter, done)
    else:
        _emit_purge(output, home, forgetting, outcome, done)
    if done.still_holding:
        raise CheckFailed


def _delete_earlier(output: Output, workspace: Workspace, *, dry_run: bool, yes: bool) -> None:
    """Delete what all earlier purges have taken out of the history."""
    forgetter = Forgetter(workspace.vault, workspace.settings.vault.language, workspace.cache)
    left = forgetter.recoverable()
    lines = [tr("would be deleted for good, with all that leads to it here:"), *(f"  {each}" for each in left)]
    lines = lines if left else [tr("would be deleted for good: what is left here of earlier purges")]
    if dry_run:
        output.emit({"dry_run": True, "backups": list(left)}, lambda: as_lines(lines))
        return
    if not yes:
        agree(output, lines, _ASKED, Sentence("this cannot be undone, so it needs a yes"))
    done = forgetter.delete_for_good()
    output.emit({"dry_run": False, "purged": _purge_fields(done)}, lambda: as_lines(_format_deleted(done)))
    if done.still_holding:
        raise CheckFailed


def _is_asked(output: Output) -> bool:
    return not output.json and sys.stdin.isatty() and sys.stderr.isatty()


def _delete_as_well(output: Output, forgetter: Forgetter, done: Purge) -> Purge:
    """Ask whether what can be brought back is to be deleted; the purge as it then is."""
    if not confirm(tr(_ASKED), error=True):
        return done
    done = forgetter.delete_for_good(done)
    output.note(as_lines(_format_deleted(done)))
    return done


def _emit_purge(
    output: Output, home: AgentFolder, forgetting: Forgetting, outcome: Outcome, done: Purge, *, dry_run: bool = False
) -> None:
    output.emit(
        {**_document(forgetting, outcome, dry_run), "purged": _purge_fields(done)},
        lambda: as_lines(_format_purge(home, forgetting, done, dry_run=dry_run)),
    )


def _purge_fields(found: Purge) -> Mapping[str, object]:
    state = {"complete": not found.still_holding, "recoverable": found.is_recoverable}
    finish = FINISH if found.is_recoverable else ""
    return fields(found, "commits head backup other_refs remaining", **state, finish=finish)


def _format_purge(home: AgentFolder, forgetting: Forgetting, found: Purge, *, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield tr("would forget, and write {commits} commits anew; nothing is changed yet:", commits=found.commits)
    else:
        yield _headline(found)
    yield from _effects(forgetting, home)
    yield from _holders(found)
    if dry_run or not found.is_recoverable:
        return
    backup = found.backup or tr("no reference leads to them any more")
    yield tr("the text can still be brought back from the commits as they were: {backup}", backup=backup)
    yield tr("to end that, when you are sure: {command}", command=FINISH)


def _headline(found: Purge) -> str:
    commits, head = found.commits, found.head[:10]
    if found.still_holding:
        part = "not all of it is gone, and {commits} commits written anew; the branch is at {head}:"
        return tr(part, commits=commits, head=head)
    if found.is_recoverable:
        recoverable = "forgotten, but not gone for good, and {commits} commits written anew; the branch is at {head}:"
        return tr(recoverable, commits=commits, head=head)
    whole = "forgotten and gone for good, and {commits} commits written anew; the branch is at {head}:"
    return tr(whole, commits=commits, head=head)


def _holders(found: Purge) -> Iterator[str]:
    names = dict.fromkeys((*found.other_refs, *found.remaining))
    yield from (tr("  still holds it: {name}", name=tr(name)) for name in names)
    if found.still_holding:
        yield tr("what still holds it is yours to change or remove; then repeat this command")


def _format_deleted(done: Purge) -> Iterator[str]:
    if not done.still_holding:
        yield tr("what was purged is gone for good from this repository")
        return
    yield tr("not all of it is gone:")
    yield from _holders(done)


@click.command(epilog=exit_codes("with --purge: something still holds it, and is named"))
@click.argument("name", metavar="[PATH|ID|TEXT]", required=False, default="")
@click.option("--last", is_flag=True, help="Forget what was remembered last.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--purge", "purged", is_flag=True, help="Remove it from the history too.")
@click.option("--for-good", is_flag=True, help="With --purge: delete what the history was; this cannot be undone.")
@click.option("--yes", is_flag=True, help="Do not ask, also when many notes would go.")
@click.option("--yes-remote", is_flag=True, help="With --purge: also when another repository has the commits.")
@click.pass_obj
def command(
    output: Output, name: str, last: bool, dry_run: bool, purged: bool, for_good: bool, yes: bool, yes_remote: bool
) -> None:
    """Forget the note at PATH or with this ID, or a TEXT wherever the agent has written it.

    Every entry that says the same is removed too, and so are rules that the agent has learned, and the lines of
    MEMORY.md and of daily notes that have no other source. In sessions and other records [forgotten] stands for it.
    What you wrote yourself in other notes stays, and is named. A note in archive/forgotten remains, with fingerprints
    and none of the words; they prevent the same content from being remembered again. An undo restores everything.
    It asks first when it would change notes besides one entry; without a terminal, it then changes nothing without
    --yes.

    With --purge the history of this branch is rewritten without it, also after it was forgotten; the old commits stay
    under a backup ref, from which the text can be brought back. With --for-good they are deleted too, with all that
    leads to them here, which cannot be undone; without a PATH, ID or TEXT that is done for all earlier purges. No
    daemon and no git may be at work on the vault meanwhile. If it is interrupted, the next command finishes it.
    """
    if for_good and not purged:
        raise UserError("--for-good is about the history, so it needs --purge", hint="vault-agent forget --help")
    workspace = open_workspace(output.vault(takes_known=False))
    if for_good and not last and not name.strip():
        _delete_earlier(output, workspace, dry_run=dry_run, yes=yes)
        return
    name = _last(workspace) if last else _named(workspace, name)
    if purged:
        _purge(output, workspace, name, PurgeOptions(dry_run=dry_run, yes=yes, remote=yes_remote, for_good=for_good))
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


def _named(workspace: Workspace, name: str) -> str:
    if not name.strip():
        return name
    return path_in_vault(name, workspace.vault.place.root)


def _last(workspace: Workspace) -> str:
    entry = last_entry(workspace.vault)
    if entry is None:
        raise NoteGone("nothing is remembered", hint="vault-agent remember TEXT keeps something")
    return entry.path


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
            hint="to remove it there too: vault-agent forget {name} --purge --for-good",
            path=path,
            name=shlex.quote(path),
        ) from None


def _language(workspace: Workspace) -> Language:
    return workspace.settings.vault.language


def _format(home: AgentFolder, forgetting: Forgetting, outcome: Outcome, dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield tr("would forget; nothing is changed yet:")
    elif outcome.queued:
        yield tr("waits, because {queued}; it is forgotten when that ends:", queued=tr(outcome.queued))
    else:
        yield tr("forgotten in {commit}:", commit=(outcome.commit or "")[:10])
    yield from _effects(forgetting, home)
    if outcome.commit:
        yield tr("to have it again: vault-agent undo {commit}", commit=outcome.commit[:10])
        yield tr("the history still holds it; --purge --for-good removes it there too")
