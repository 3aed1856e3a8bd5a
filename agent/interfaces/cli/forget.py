"""`vault-agent forget`: removes a note or a text wherever the agent wrote it, and prevents its return."""

import shlex
from collections.abc import Iterator

import click

from agent.app.open import open_workspace
from agent.errors import NoteGone, UserError
from agent.interfaces.cli.forget_purge import Wanted, delete_earlier, document, effects, progress, purge
from agent.interfaces.cli.language import said
from agent.interfaces.cli.lookup import path_in_vault
from agent.interfaces.cli.output import Output, exit_codes
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.prompt import agree
from agent.memory.forgetting.forget import carry_out, plan_named
from agent.memory.forgetting.forget_past import is_in_history
from agent.memory.forgetting.places import Forgetting, Report
from agent.memory.store import last_entry
from agent.texts import Language, Sentence
from agent.vault.change import Outcome
from agent.vault.folders import AgentFolder
from agent.workspace.workspace import Workspace


@click.command(
    epilog=exit_codes("with --purge: something still holds it, and is named"),
)
@click.argument("name", metavar="[PATH|ID|TEXT]", required=False, default="")
@click.option("--last", is_flag=True, help="Forget what was remembered last.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("--purge", "purged", is_flag=True, help="Remove it from the history too.")
@click.option("--for-good", is_flag=True, help="With --purge: delete what the history was; this cannot be undone.")
@click.option("--yes", is_flag=True, help="Do not ask, also when many notes would go.")
@click.option("--yes-remote", is_flag=True, help="With --purge: also when another repository has the commits.")
@click.pass_obj
def command(
    output: Output,
    name: str,
    last: bool,
    dry_run: bool,
    purged: bool,
    for_good: bool,
    yes: bool,
    yes_remote: bool,
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
        delete_earlier(output, workspace, dry_run=dry_run, yes=yes)
        return
    name = _last(workspace) if last else _named(workspace, name)
    if purged:
        purge(output, workspace, name, Wanted(dry_run=dry_run, yes=yes, remote=yes_remote, for_good=for_good))
        return
    with progress() as report:
        forgetting = _plan(workspace, name, report)
    if not dry_run and not yes and forgetting.should_be_seen(workspace.vault.home):
        lines = [f"forget {name}", *effects(forgetting, workspace.vault.home)]
        refusal = Sentence("this changes notes besides one entry, so it needs a yes")
        agree(output, lines, "forget all of this?", refusal)
    outcome = Outcome() if dry_run else carry_out(workspace.vault, forgetting, _language(workspace), confirmed=yes)
    output.emit(
        document(forgetting, outcome, dry_run),
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
        yield said("would forget; nothing is changed yet:")
    elif outcome.queued:
        yield said("waits, because {queued}; it is forgotten when that ends:", queued=said(outcome.queued))
    else:
        yield said("forgotten in {commit}:", commit=(outcome.commit or "")[:10])
    yield from effects(forgetting, home)
    if outcome.commit:
        yield said("to have it again: vault-agent undo {commit}", commit=outcome.commit[:10])
        yield said("the history still holds it; --purge --for-good removes it there too")
