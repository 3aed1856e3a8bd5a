"""`vault-agent hook` and `merge-driver`: called by git and its hooks, not by people; `--help` does not list them."""

import os
from pathlib import Path

import click

from agent.app.open import open_workspace
from agent.errors import AgentError
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import CheckFailed, Output, find_vault
from agent.interfaces.cli.printing import as_lines
from agent.vault.health.staged import StagedProblem, problems
from agent.vault.merge_driver import merge_files
from agent.vault.secrets import EXCUSE


@click.group()
def hook() -> None:
    """The commands that the git hooks call."""


@hook.command("pre-commit")
@click.pass_obj
def pre_commit(output: Output) -> None:
    """Check the staged notes: no secrets, no marks of a merge in a header; what else is wrong is only said."""
    # Before the vault is opened: that clears git's variables, and `git commit PATH` sets its own index here.
    index_file = os.environ.get("GIT_INDEX_FILE")
    vault = open_workspace(find_vault(Path.cwd(), output.named)).vault
    index = vault.place.worktree / index_file if index_file else None
    found = problems(vault, index)
    listed = [{"path": item.path, "line": item.line, "why": str(item.why), "stops": item.stops} for item in found]
    output.emit({"problems": listed}, lambda: _format_staged(found))
    if any(item.stops for item in found):
        raise CheckFailed


@hook.command()
@click.pass_obj
def rescan(output: Output) -> None:
    """Finish the changes that waited for the repository; never fails."""
    try:
        settled = open_workspace(find_vault(Path.cwd(), output.named)).vault.settle()
    except (AgentError, OSError):
        settled = 0
    output.emit({"settled": settled}, "")


def _format_staged(found: list[StagedProblem]) -> str:
    lines = [
        f"{item.path}:{item.line}: {tr(item.why) if item.stops else tr('{why}; committed as it is', why=item.why)}"
        for item in found
    ]
    if any(item.is_secret for item in found):
        lines.append(tr("A line that is no secret is excused by <!-- {mark} --> or %% {mark} %% on it.", mark=EXCUSE))
    return as_lines(lines)


_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("base", type=_FILE)
@click.argument("ours", type=_FILE)
@click.argument("theirs", type=_FILE)
@click.argument("path")
@click.pass_obj
def merge_driver(output: Output, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge the files OURS and THEIRS, which come from BASE, into OURS; PATH is the note that they are.

    A version that contradicts the other is kept whole in a file beside the note.
    """
    copy = merge_files(base, ours, theirs, path, Path.cwd())
    sentence = tr("{path}: both sides changed the same place; one version is in {copy}", path=path, copy=copy or "")
    output.emit({"path": path, "copy": copy}, sentence if copy else "")
