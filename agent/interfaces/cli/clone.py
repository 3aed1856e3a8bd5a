"""`vault-agent sync clone`: a vault here of one on a remote, indexed, and untrusted until its person has looked."""

import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from agent.app.open import open_workspace
from agent.app.setup import hook_program, ignore_rules
from agent.config.directories import directories, process_clock
from agent.config.load import load_settings, vault_folder_in
from agent.errors import ConfigError, UserError
from agent.interfaces.cli.click_texts import NamedPath
from agent.interfaces.cli.language import counted, listed, tr
from agent.interfaces.cli.output import PROGRAM, Output, fields, progress
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.interfaces.cli.sync_rounds import record_writers
from agent.runs.arrivals import arrival_state
from agent.vault import merge_driver_setup
from agent.vault.folders import AT_ROOT, SKILLS, AgentFolder, agent_folder
from agent.vault.initialise import keep_passing_files_out
from agent.vault.provenance.remotes import plain_address
from agent.vault.receiving.release import release_own
from agent.vault.sync.cloning import clone, remember
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace, options

_SHOWN = 5


@click.command()
@click.argument("address")
@click.argument("path", type=NamedPath())
@click.option("--name", default="origin", show_default=True, help="The name of a new remote.")
@click.option("--branch", default="", help="The branch to take, if it is not the usual one.")
@click.option("--only-me", "mine", is_flag=True, help="Only you write there, from your other devices.")
@click.option("--others", is_flag=True, help="Others write there, too.")
@click.pass_obj
def command(output: Output, address: str, path: Path, name: str, branch: str, mine: bool, others: bool) -> None:
    """Fetch the vault at ADDRESS into PATH, a new or empty folder, index it, and keep both in step from then on.

    What waits for your look before it steers the agent is listed at the end: skills and jobs and, unless only you write
    there, the standing instructions. No program that the repository names is run.
    """
    if mine and others:
        raise UserError("either --only-me or --others", hint="vault-agent trust lists the remotes")
    clock, settings = process_clock(), load_settings(None).settings
    with progress_bar(output, tr("files")) as moved:
        steps = {"fetch": "asking the remote …", "write": "writing what has come …"}
        made = clone(address, path, directories().state, options(settings), name=name, branch=branch,
                     mine=mine, home_in=_home_in, step=lambda step: progress(steps[step]), progress=moved)  # fmt: skip
    workspace = open_workspace(made.root)
    remember(workspace.vault, made, clock)
    merge_driver_setup.install(workspace.vault, hook_program())
    keep_passing_files_out(workspace.vault, ignore_rules())
    record_writers(output, workspace, made.name, made.address, mine, others)
    release_own(workspace.vault)
    progress("indexing …")
    with closing(open_index(workspace)) as index:
        indexed = index.refresh().indexed
    state = arrival_state(workspace)
    steering, held = state.steering, tuple(each.path for each in state.held)
    skills = _skills(workspace)
    document = fields(made, "branch commit files", vault=str(made.root), remote=made.name)
    document |= {"address": plain_address(made.address), "indexed": indexed, "steering": steering, "held": held}
    document |= {"skills": skills}
    output.emit(document, lambda: as_lines(_format(made.root, made.files, indexed, steering, skills, held)))


def _home_in(settings: bytes) -> AgentFolder:
    """Where the agent's folders lie, by the settings of a vault; at its root if they cannot be read."""
    try:
        return agent_folder(vault_folder_in(settings))
    except ConfigError:
        return AT_ROOT


def _skills(workspace: Workspace) -> int:
    home = workspace.vault.home
    paths = workspace.vault.note_paths()
    return sum(1 for path in paths if home.holds(path, SKILLS) and path.endswith("/SKILL.md"))


def _format(
    root: Path, files: int, indexed: int, steering: tuple[str, ...], skills: int, held: tuple[str, ...]
) -> Iterator[str]:
    call = f"{PROGRAM} --vault {shlex.quote(str(root))}"
    came = counted(files, "1 file", "{count} files")
    yield tr("{root} is a vault now: {files}, {count} notes found by search", root=root, files=came, count=indexed)
    if steering:
        names = listed(steering, _SHOWN)
        yield tr("  these steer me only when you have looked: {names}: {call} trust", names=names, call=call)
    if held:
        names = listed(held, _SHOWN)
        yield tr("  these are held back until you have looked: {names}: {call} trust", names=names, call=call)
    if skills:
        yield counted(skills, "  1 skill waits for your look: {call} skills review",
                      "  {count} skills wait for your look: {call} skills review", call=call)  # fmt: skip
    yield tr("  it is kept in step by the daemon, or by {call} sync", call=call)
