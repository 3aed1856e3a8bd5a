"""`vault-agent hook`: called by the git hooks, not by people; `--help` does not list it."""

import os
from pathlib import Path

import click

from agent.app.open import open_workspace
from agent.errors import AgentError
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import CheckFailed, Output, find_vault
from agent.interfaces.cli.printing import as_lines
from agent.vault.health.staged import StagedProblem, problems
from agent.vault.secrets import EXCUSE


@click.group()
def command() -> None:
    """The commands that the git hooks call."""


@command.command("pre-commit")
@click.pass_obj
def pre_commit(output: Output) -> None:
    """Check the staged notes: no secrets, no marks of a merge in a header; what else is wrong is only said."""
    # Before the vault is opened: that clears git's variables, and `git commit PATH` sets its own index here.
    given = os.environ.get("GIT_INDEX_FILE")
    vault = open_workspace(find_vault(Path.cwd(), output.given)).vault
    index = vault.place.worktree / given if given else None
    found = problems(vault, index)
    listed = [{"path": item.path, "line": item.line, "why": str(item.why), "stops": item.stops} for item in found]
    output.emit({"problems": listed}, lambda: _format(found))
    if any(item.stops for item in found):
        raise CheckFailed


@command.command()
@click.pass_obj
def rescan(output: Output) -> None:
    """Finish the changes that waited for the repository; never fails."""
    try:
        settled = open_workspace(find_vault(Path.cwd(), output.given)).vault.settle()
    except (AgentError, OSError):
        settled = 0
    output.emit({"settled": settled}, "")


def _format(found: list[StagedProblem]) -> str:
    lines = [
        f"{item.path}:{item.line}: {said(item.why) if item.stops else said('{why}; committed as it is', why=item.why)}"
        for item in found
    ]
    if any(item.is_secret for item in found):
        lines.append(said("A line that is no secret is excused by <!-- {mark} --> or %% {mark} %% on it.", mark=EXCUSE))
    return as_lines(lines)
