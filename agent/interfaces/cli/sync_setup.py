"""`vault-agent sync setup`: a remote that is kept in step, from its address to the first round."""

import sys

import click

from agent.app.setup import hook_program
from agent.errors import UserError
from agent.interfaces.cli.click_texts import wrap_text
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output, progress
from agent.interfaces.cli.printing import size
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.screen import is_terminal
from agent.interfaces.cli.sync_rounds import finish, go_round
from agent.vault import merge_driver_setup
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.setup import Candidate, check_repository, examine, record, remotes_of_git
from agent.workspace.workspace import Workspace

_WAYS = (
    "a server of your own: ssh me@server git init --bare notes.git",
    "  then: vault-agent sync setup ssh://me@server/~/notes.git",
    "a private repository at GitHub, GitLab, Codeberg or Gitee, without any file in it",
    "  then: vault-agent sync setup git@github.com:me/notes.git",
    "a folder on a disk or a network drive: git init --bare /media/disk/notes.git",
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
        _show_ways(output)
    progress("asking the remote …")
    candidate = examine(vault, address, name, branch)
    remote = record(vault, candidate)
    no_driver = merge_driver_setup.install(vault, hook_program())
    _advise(output, candidate)
    record_writers(output, workspace, candidate.name, candidate.address, mine, others)
    reports = go_round(output, workspace, [remote], RemotePermission())
    document = {"remote": remote.name, "address": plain_address(remote.address), "branch": remote.branch,
                "new": candidate.is_new, "refuses_refs": candidate.refuses_refs,
                "merge_driver": not no_driver}  # fmt: skip
    done = said("{name} is kept in step from now on; the daemon does it by itself", name=remote.name)
    finish(output, workspace, reports, document, [done])


def _show_ways(output: Output) -> None:
    """Say how to get a remote; raises `UserError`."""
    for line in _WAYS:
        output.note(said(line))
    raise UserError("no remote is set up, and git has none", hint="vault-agent sync setup ADDRESS")


def _advise(output: Output, candidate: Candidate) -> None:
    """Remarks about a public host, and about one that takes only branches."""
    width = min(size(error=True)[0], 80) if sys.stderr.isatty() else 10_000
    if candidate.forge:
        private = (
            "the repository must be private, for these are your notes; look at its settings there ({page} makes one)"
        )
        output.note(wrap_text(said(private, page=candidate.forge), width))
    if candidate.refuses_refs:
        only = (
            "it takes only branches: whether you may write there shows with the first round, "
            "and rescued commits stay here"
        )
        output.note(wrap_text(said(only), width))


def record_writers(output: Output, workspace: Workspace, name: str, address: str, mine: bool, others: bool) -> None:
    """Record who writes there, and ask a person who has not said it."""
    answers, address = workspace.vault.provenance.answers, plain_address(address)
    if mine or others:
        answers.answer(address, Writers.ME if mine else Writers.OTHERS)
    elif address not in answers.load().writers:
        if output.json or not is_terminal():
            output.note(said("who writes there? vault-agent trust {name} --only-me, or --others", name=name))
            return
        question = said("Do only you write there, from your own devices?")
        answers.answer(address, Writers.ME if confirm(question) else Writers.OTHERS)
