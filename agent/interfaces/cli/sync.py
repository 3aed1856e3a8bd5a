"""`vault-agent sync`: keeps the vault equal on several machines through git remotes, and says how they stand."""

import shlex
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.deeds.sync import end_conflict, sync_status
from agent.errors import UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, tr
from agent.interfaces.cli.notes import named_note
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.status_page import last_commit
from agent.interfaces.cli.sync_rounds import finish, go_round, left_out_lines, setup
from agent.interfaces.cli.sync_status import found_standings, long_lines
from agent.lazy import later
from agent.runs.machines import note_machine
from agent.runs.sync_questions import settle_questions
from agent.vault.health.status import status as vault_status
from agent.vault.sync.checks import sync_checks
from agent.vault.sync.permission import RemoteChoice, RemotePermission
from agent.vault.sync.resolve import ConflictSide, conflicted_note
from agent.vault.sync.rounds import chosen, pause
from agent.vault.sync.setup import remove
from agent.vault.sync.state import sync_state
from agent.workspace.machine import this_machine
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:
    from agent.interfaces.cli.doctor import emit_checks
else:
    emit_checks = later("agent.interfaces.cli.doctor", "emit_checks")

_EXIT = exit_codes("not synced: the message says why")


@click.group(invoke_without_command=True, epilog=_EXIT)
@click.option("--remote", default="", metavar="NAME", help="Only this remote.")
@click.option("--yes", is_flag=True, help="Also when many notes would be deleted or emptied, here or there.")
@click.option("--keep", is_flag=True, help="The remote was rewritten: keep what is here, and send it again.")
@click.option("--take", is_flag=True, help="The remote was rewritten: take what is there, with your newer changes.")
@click.option("--join", is_flag=True, help="The remote has another vault: put both together.")
@click.pass_context
def command(ctx: click.Context, remote: str, yes: bool, keep: bool, take: bool, join: bool) -> None:
    """Take in what is new on each remote, and send what is new here: once, now.

    Notes that were changed on both sides are merged; what cannot be merged stays in a copy beside the note. Nothing is
    lost: whatever arrives can be undone, and no remote is overwritten.
    """
    if ctx.invoked_subcommand is not None:
        return
    if keep and take:
        raise UserError("either --keep or --take", hint="vault-agent sync --help says what they do")
    output: Output = ctx.obj
    workspace = open_workspace(output.vault())
    remotes = chosen(workspace.vault, remote)
    if sync_state(workspace.vault).is_paused:
        paused = tr("sync is paused: vault-agent sync resume")
        output.emit({"ok": False, "paused": True, "synced": False, "rounds": []}, paused)
        raise CheckFailed
    choice = RemoteChoice.KEEP if keep else RemoteChoice.TAKE if take else RemoteChoice.ASK
    reports = go_round(output, workspace, remotes, RemotePermission(choice, yes, join))
    finish(output, workspace, reports, {"paused": False})


command.add_command(setup)


@command.command("status", short_help="Show how this machine and each remote stand.")
@in_vault
def show_status(output: Output, workspace: Workspace) -> None:
    """Show what is saved and committed here, what each remote has and since when, and what is wrong; asks no
    network."""
    found = vault_status(workspace.vault.whole)
    remotes, paused = found_standings(workspace, len(found.dirty))
    now = workspace.clock.now()
    lines = [line for each in remotes for line in long_lines(each, last_commit(found, now), now)]
    lines += [tr("no remote is set up: vault-agent sync setup ADDRESS")] if not remotes else []
    lines += [
        tr("conflict  {path}: vault-agent sync resolve {note}", path=path, note=shlex.quote(path))
        for path in found.conflicts
    ]
    lines += [*left_out_lines(found.left_out)] if remotes else []
    lines += [tr("sync is paused: vault-agent sync resume")] if paused else []
    output.emit(lambda: sync_status(workspace.whole), as_lines(lines))


@command.command("pause", short_help="Send and take in nothing until `sync resume`.")
@click.pass_obj
def stop(output: Output) -> None:
    """Stop all sync of this vault on this machine, also the daemon's."""
    _pause(output, True, tr("sync is paused: vault-agent sync resume"))


@command.command("resume", short_help="Let sync go on.")
@click.pass_obj
def go_on(output: Output) -> None:
    """Let sync go on after a pause."""
    _pause(output, False, tr("sync goes on: the daemon does it by itself, and vault-agent sync does it now"))


def _pause(output: Output, paused: bool, words: str) -> None:
    vault = open_workspace(output.vault()).vault
    pause(vault, paused)
    output.emit({"paused": paused}, words)


@command.command("remove", short_help="Take a remote out; it keeps all that it has.")
@click.argument("name")
@in_vault
def take_out(output: Output, workspace: Workspace, name: str) -> None:
    """Keep the remote NAME in step no longer, and take it out of git's settings.

    Nothing is deleted there. What came from it stays here, and counts as before. Your answer to who writes there is
    forgotten, and so are the claims that this machine has there.
    """
    removed = remove(workspace.vault, name)
    settle_questions(workspace)
    lines = [tr("{name} is kept in step no longer; {address} keeps all that it has", name=name,
                  address=removed.address)]  # fmt: skip
    unsent = counted(removed.unsent, "1 commit here was never sent there", "{count} commits here were never sent there")
    lines += [unsent] if removed.unsent else []
    lines += [tr("to have it back: vault-agent sync setup {address} --name {name}", name=name,
                   address=shlex.quote(removed.address))]  # fmt: skip
    output.emit({"remote": name, "address": removed.address, "unsent": removed.unsent}, as_lines(lines))


@command.command(
    "doctor", short_help="Check git, the repository and each remote.", epilog=exit_codes("something is bad")
)
@in_vault
def check(output: Output, workspace: Workspace) -> None:
    """Check git's version, the repository, large files, and that each remote can be reached and written."""
    vault = workspace.vault
    emit_checks(output, sync_checks(vault), vault.place.root)


@command.command("resolve", short_help="End a conflict: one version, the other, or both.")
@click.argument("note")
@click.option("--ours", "side", flag_value="ours", help="Keep the note as it is, and delete the copy.")
@click.option("--theirs", "side", flag_value="theirs", help="The copy's text becomes the note.")
@click.option("--both", "side", flag_value="both", help="The copy's text comes below the note's, with a heading.")
@in_vault
def resolve(output: Output, workspace: Workspace, note: str, side: str | None) -> None:
    """End the conflict in NOTE, or of the conflict copy NOTE; one commit, which `vault-agent undo` takes back."""
    vault = workspace.vault.whole
    conflict = conflicted_note(vault, named_note(vault, note))
    if side is None:
        raise UserError(
            "which version of {path}?", hint="--ours, --theirs or --both; the other one is in {copy}",
            path=conflict.path, copy=", ".join(conflict.copies),
        )  # fmt: skip
    found = end_conflict(workspace, conflict, ConflictSide(side))
    if found.queued:
        output.emit(found, tr("not committed yet: {queued}", queued=tr(found.queued)))
        return
    done = tr("{path} is one note again; to have it as before: vault-agent undo {commit}", path=conflict.path,
                commit=(found.commit or "")[:10])  # fmt: skip
    output.emit(found, done)


@command.command("sign", short_help="Sign what is committed on this machine.")
@click.option("--off", is_flag=True, help="Sign no more; the key is kept.")
@in_vault
def sign(output: Output, workspace: Workspace, off: bool) -> None:
    """Sign the commits that this program makes on this machine, so that your other machines know them for yours.

    For a remote to which others write as well. The key is made here and stays here. Its public half is shown, and
    stands in this machine's note; it counts on another machine when you have approved it there.
    """
    key, name = workspace.vault.signing_key, this_machine(workspace).name
    if off:
        key.turn_off()
        note_machine(workspace, has_daemon=is_watched(workspace))
        output.emit({"machine": name, "signs": False}, tr("commits made here are not signed from now on"))
        return
    public = key.turn_on()
    note_machine(workspace, has_daemon=is_watched(workspace))
    document = {"machine": name, "signs": True, "public_key": public.line, "fingerprint": public.fingerprint}
    lines = [
        tr("commits made here are signed from now on, with the key of this machine, {name}:", name=name),
        f"  {public.line}",
        tr("on each of your other machines: vault-agent trust --key {key}", key=public.fingerprint),
    ]
    output.emit(document, as_lines(lines))
