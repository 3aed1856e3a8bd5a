"""Rounds of sync at a terminal: what goes on is shown, what moved is printed, and the exit code says how they ended.
`vault-agent sync setup` is a remote that is kept in step, from its address to the first round.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

import click

from agent.app.setup import hook_program
from agent.errors import LockHeld, UserError
from agent.interfaces.cli.click_texts import wrap_text
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, first_lines, listed, tr
from agent.interfaces.cli.output import CheckFailed, Output, fields, progress
from agent.interfaces.cli.printing import as_lines, size
from agent.interfaces.cli.progress_bar import progress_bar
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.screen import is_terminal
from agent.runs.arrivals import arrival_state
from agent.runs.sync_rounds import rounds_with_questions
from agent.vault import merge_driver_setup
from agent.vault.health.status import status
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.remote_head import settle_head
from agent.vault.sync.round import RoundEnd, RoundReport
from agent.vault.sync.setup import Candidate, check_repository, examine, record, remotes_of_git
from agent.vault.sync.state import SyncedRemote
from agent.workspace.workspace import Workspace

_STEPS = {
    "fetch": "asking the remote …",
    "merge": "putting both together …",
    "write": "writing what has come …",
    "push": "sending …",
}


def go_round(
    output: Output, workspace: Workspace, remotes: Sequence[SyncedRemote], allowed: RemotePermission
) -> list[RoundReport]:
    """One round with each remote; raises `LockHeld` while another process syncs this vault."""
    with progress_bar(output, tr("files")) as moved:
        found = []
        for report in rounds_with_questions(workspace, remotes, allowed, _show, moved):
            if report.end is RoundEnd.TAKEN:
                raise LockHeld(report.trouble, hint=report.hint)
            found.append(report)
    return found


def _show(step: str) -> None:
    progress(_STEPS[step])


def finish(
    output: Output,
    workspace: Workspace,
    reports: Sequence[RoundReport],
    beside: Mapping[str, object],
    after: Sequence[str] = (),
) -> None:
    """Print the rounds; raises `CheckFailed` unless all remotes have all that is here. `after` follows if they have."""
    synced = all(each.end is RoundEnd.SYNCED for each in {each.remote: each for each in reports}.values())
    steering = arrival_state(workspace).steering if any(each.received for each in reports) else ()
    lines = [line for each in reports for line in report_lines(each)]
    lines += [tr("  {path} steers me when you have looked: vault-agent trust", path=path) for path in steering]
    left_out = status(workspace.vault.whole).left_out
    lines += left_out_lines(left_out)
    document = {
        **beside,
        "left_out": dict(left_out),
        "synced": synced,
        "rounds": [report_document(each) for each in reports],
    }
    output.emit({"ok": synced, **document}, as_lines([*lines, *(after if synced else ())]))
    if not synced:
        raise CheckFailed


def left_out_lines(found: Mapping[str, str]) -> Iterator[str]:
    """A line with the person's files that no commit has, and so no other machine; none if there are none."""
    named = [tr("{path} ({reason})", path=path, reason=tr(why)) for path, why in found.items()]
    if named:
        one, more = "1 file stays on this machine: {files}", "{count} files stay on this machine: {files}"
        yield counted(len(named), one, more, files=listed(named, _NAMED))


SHOWN, _NAMED = 10, 3


def report_document(report: RoundReport) -> dict[str, object]:
    """One round for `--json`."""
    conflicts = [{"note": path, "copy": copy or None} for path, copy in report.conflicts.items()]
    wait = fields(report.wait, "kind", notes=report.wait.paths) if report.wait is not None else None
    trouble = {"rescued": report.rescued or None, "problem": report.trouble or None, "hint": report.hint or None}
    return fields(report, "remote end received sent kept numbered held", conflicts=conflicts, wait=wait, **trouble)


def report_lines(report: RoundReport) -> Iterator[str]:
    """One round, line by line."""
    name = report.remote
    received = counted(len(report.received), "received 1 file", "received {count} files")
    sent = counted(len(report.sent), "sent 1 file", "sent {count} files")
    moved = [*([received] if report.received else []), *([sent] if report.sent else [])]
    if report.end is RoundEnd.SYNCED and not moved:
        yield tr("{name}: it has all that is here", name=name)
    elif moved:
        yield tr("{name}: {moved}", name=name, moved=listed(moved))
    yield from first_lines(report.received, SHOWN, "  < ")
    yield from first_lines(report.sent, SHOWN, "  > ")
    for path, copy in report.conflicts.items():
        if copy:
            one = "  two versions of {path}: the other is in {copy}; vault-agent sync resolve {note}"
            yield tr(one, path=path, copy=copy, note=quote(path))
        else:
            yield tr("  look at {path}, written because you saved meanwhile", path=path)
    yield from (tr("  kept {path}: one side deleted it, the other changed it", path=path) for path in report.kept)
    for wanted, path in report.numbered.items():
        yield tr("  both made {wanted}: one is {path} now", wanted=wanted, path=path)
    if report.held:
        one = "  held back 1 file until you have looked at it: vault-agent trust"
        yield counted(
            len(report.held), one, "  held back {count} files until you have looked at them: vault-agent trust"
        )
        yield from first_lines(report.held, SHOWN, "  ! ")
    if report.rescued:
        yield tr("  what was here before is kept: git log {ref}", ref=report.rescued)
    if report.trouble:
        yield tr("{name}: not synced: {reason}", name=name, reason=tr(report.trouble))
        yield tr("  hint: {hint}", hint=tr(report.hint))
    paths = report.wait.paths if report.wait is not None else ()
    yield from first_lines(paths, SHOWN, "  ")


_WAYS = (
    "a server of your own: ssh me@server git init --bare -b main notes.git",
    "  then: vault-agent sync setup ssh://me@server/~/notes.git",
    "a private repository at GitHub, GitLab, Codeberg or Gitee, without any file in it",
    "  then: vault-agent sync setup git@github.com:me/notes.git",
    "a folder on a disk or a network drive: git init --bare -b main /media/disk/notes.git",
    "  then: vault-agent sync setup /media/disk/notes.git",
)


@click.command("setup", short_help="Keep a remote in step from now on.")
@click.argument("address", required=False, default="", metavar="[ADDRESS|REMOTE]")
@click.option("--name", default="origin", show_default=True, help="The name of a new remote.")
@click.option("--branch", default="", help="Make this branch there, beside the ones it has.")
@click.option("--only-me", "mine", is_flag=True, help="Only you write there, from your other devices.")
@click.option("--others", is_flag=True, help="Others write there, too.")
@in_vault
def setup(output: Output, workspace: Workspace, address: str, name: str, branch: str, mine: bool, others: bool) -> None:
    """Try that a remote can be reached and written, add it to git's settings if it is new, and sync once.

    ADDRESS is all that git can push to: ssh, https, or a folder. Logins are those that git has: none is asked for here.
    Without an address, the remote that git has is taken; without one, it says how to get one.
    """
    vault = workspace.vault
    if mine and others:
        raise UserError("either --only-me or --others", hint="vault-agent trust lists the remotes")
    if not address and not remotes_of_git(vault):
        check_repository(vault)
        _show_commands(output)
    progress("asking the remote …")
    candidate = examine(vault, address, name, branch)
    remote = record(vault, candidate)
    no_driver = merge_driver_setup.install(vault, hook_program())
    _advise(output, candidate)
    record_writers(output, workspace, candidate.name, candidate.address, mine, others)
    reports = go_round(output, workspace, [remote], RemotePermission())
    if clones := settle_head(vault, remote):
        output.note(tr(clones))
    document = {"remote": remote.name, "address": plain_address(remote.address), "branch": remote.branch,
                "new": candidate.is_new, "refuses_refs": candidate.refuses_refs,
                "merge_driver": not no_driver}  # fmt: skip
    done = tr("{name} is kept in step from now on; the daemon does it by itself", name=remote.name)
    finish(output, workspace, reports, document, [done])


def _show_commands(output: Output) -> None:
    """Say how to get a remote; raises `UserError`."""
    for line in _WAYS:
        output.note(tr(line))
    raise UserError("no remote is set up, and git has none", hint="vault-agent sync setup ADDRESS")


def _advise(output: Output, candidate: Candidate) -> None:
    """Remarks about a public host, and about one that takes only branches."""
    width = min(size(error=True)[0], 80) if sys.stderr.isatty() else 10_000
    if candidate.forge:
        private = (
            "the repository must be private, for these are your notes; look at its settings there ({page} makes one)"
        )
        output.note(wrap_text(tr(private, page=candidate.forge), width))
    if candidate.refuses_refs:
        only = (
            "it takes only branches: whether you may write there shows with the first round, "
            "and rescued commits stay here"
        )
        output.note(wrap_text(tr(only), width))


def record_writers(output: Output, workspace: Workspace, name: str, address: str, mine: bool, others: bool) -> None:
    """Record who writes there, and ask a person who has not said it."""
    answers, address = workspace.vault.provenance.answers, plain_address(address)
    if mine or others:
        answers.answer(address, Writers.ME if mine else Writers.OTHERS)
    elif address not in answers.load().writers:
        if output.json or not is_terminal():
            output.note(tr("who writes there? vault-agent trust {name} --only-me, or --others", name=name))
            return
        question = tr("Do only you write there, from your own devices?")
        answers.answer(address, Writers.ME if confirm(question) else Writers.OTHERS)
