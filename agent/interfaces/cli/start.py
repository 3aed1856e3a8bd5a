"""`vault-agent` without a command: how the vault is and what to try, or how to get a vault."""

import os
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from agent.app.open import open_workspace
from agent.app.welcome import question_for
from agent.errors import NotAVault
from agent.interfaces.cli.language import counted, row, tr
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.time_format import format_time
from agent.runs.status import agent_status
from agent.vault.health.status import status
from agent.vault.worktree.paths import is_note
from agent.workspace.workspace import Workspace, is_watched

ABOUT = (
    "vault-agent: a personal agent that lives in your Markdown vault. "
    "Every change is a note you can read and a commit you can undo."
)
_MOST = 1_000
"""The most notes that are counted."""


def show_start(output: Output) -> None:
    """Print the state of the vault in three lines and what to try; or, where there is none, the next step."""
    try:
        root = output.vault()
    except NotAVault:
        if output.named is not None:
            raise
        _show_no_vault(output)
        return
    workspace = open_workspace(root)
    lines, tries = _state(workspace), _tries(workspace, output.named)
    document = {"vault": str(root), "state": lines, "next": tries}
    output.emit(document, lambda: as_lines([*lines, "", tr("Try:"), *(f"  {each}" for each in tries)]))


def _show_no_vault(output: Output) -> None:
    here = Path.cwd()
    number = sum(1 for _ in islice(_notes(here), _MOST)) if here != Path.home() else 0
    if number:
        found = tr(
            "This folder has {notes}. "
            "To make it a vault (it says first what it does, and your notes stay as they are):",
            notes=tr("{count} or more Markdown notes", count=number)
            if number == _MOST
            else counted(number, "1 Markdown note", "{count} Markdown notes"),
        )
        tries = [f"{PROGRAM} init ."]
    else:
        found = tr("There is no vault here. Make one of a new folder or of your notes, or name the one you have:")
        tries = [f"{PROGRAM} init ~/notes", f"{PROGRAM} --vault PATH status"]
    tries.append(f"{PROGRAM} --help")
    lines = [tr(ABOUT), "", found, *(f"  {each}" for each in tries)]
    output.emit({"vault": None, "notes": number, "next": tries}, lambda: as_lines(lines))


def _notes(here: Path) -> Iterator[str]:
    """The notes in this folder and the folders in it, without hidden ones."""
    for folder, folders, names in os.walk(here):
        deep = folder != str(here)
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        yield from (name for name in names if is_note(name))


def _state(workspace: Workspace) -> list[str]:
    found, agent = status(workspace.vault), agent_status(workspace)
    last = ""
    if found.last:
        when = format_time(found.last.when, workspace.clock.now())
        last = tr("; last change {when}: {subject}", when=when, subject=found.last.subject)
    model = agent.misconfigured[:1] or (agent.problem,)
    named = agent.model or tr("none yet: `ask` quotes your notes; vault-agent config set llm.preset NAME")
    waits = agent.approvals + agent.questions
    daemon = tr("running") if is_watched(workspace) else tr("not running; vault-agent daemon starts it")
    if waits:
        daemon += tr("; {count} wait for your answer: vault-agent status", count=waits)
    return [row("vault", f"{found.root}{last}"), row("model", tr(model[0]) or named), row("daemon", daemon)]


def _tries(workspace: Workspace, named: Path | None) -> list[str]:
    call = PROGRAM if named is None else f"{PROGRAM} --vault {shlex.quote(str(named))}"
    question = question_for(workspace.vault.place.root, workspace.vault.home, workspace.settings.vault.language)
    return [f"{call} ask {shlex.quote(question)}", f"{call} chat", f"{call} status", f"{call} --help"]
