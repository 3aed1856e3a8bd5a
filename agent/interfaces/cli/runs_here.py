"""Runs in this process: the screen that shows them, and the index that they search."""

import sys
from functools import partial
from typing import TYPE_CHECKING

from agent.interfaces.cli.foreground import Foreground
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.progress_bar import indexing
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.workspace.catch_up import catch_up, show_nothing
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.runs.service import RunService
    from agent.workspace.search_index import SearchIndex


def foreground(agent: "RunService", output: Output) -> Foreground:
    """The foreground of this command: live on a terminal, silent in a pipe and with `--json`."""
    screen = screen_of(agent, sys.stdout.isatty() and not output.json)
    return Foreground(screen, is_terminal() and not output.json, agent.close, lambda: agent.workspace)


def screen_of(agent: "RunService", live: bool) -> Screen:
    """The screen for the runs of this agent."""
    model = agent.account.models.main.model
    screen = Screen(live, agent.workspace.settings.vault.language, model.name if model.present else "")
    screen.watch(agent.bus)
    return screen


def update_index(workspace: Workspace, index: "SearchIndex", output: Output, known: str | None = None) -> str | None:
    """Update the index before a run, and say why it stays behind, unless that is `known`: the answer may lack what was
    written last. Returns the reason, None if it is up to date."""
    late = catch_up(workspace, index, shown=show_nothing if output.json else partial(indexing, output))
    if late is not None and late != known:
        output.note(said("degraded: {reason}", reason=said(late)))
    return late
