"""The person's feedback on skills without a command: boxes ticked in the notes of runs, edits of text that runs wrote,
and their next words, of thanks or of complaint.

Read from the notes and the git history on demand, so that feedback counts even if no process was running when it was
given. Once it is in the skill's history, it is not searched for again.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from agent.clock import time_on_clock
from agent.runs.corrections import LOOKED_BACK
from agent.runs.reactions import opinions_on_runs, ticked_boxes
from agent.skills.history.feedback import record_corrections, record_opinion
from agent.skills.history.usage import Use, history_path, load_uses, merge_opinions
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace


def gather_feedback(workspace: Workspace, names: Iterable[str]) -> tuple[Use, ...]:
    """Record the person's new feedback on these skills; returns the recorded rows."""
    vault, now = workspace.vault, workspace.clock.now()
    unsaid = [use for name in names for use in _unsaid(vault, name, now - LOOKED_BACK)]
    found = [*_by_boxes(workspace, unsaid)]
    answered = {(use.name, use.run) for use in found}
    left = [use for use in unsaid if (use.name, use.run) not in answered]
    if left and workspace.settings.skills.corrections:
        found += _by_reactions(vault, left, now)
    return tuple(found)


def _by_reactions(vault: Vault, left: Sequence[Use], now: datetime) -> Iterator[Use]:
    """Record what the person's reactions to the runs say of these uses."""
    opinions = opinions_on_runs(vault, {use.run: use.session for use in left})
    runs = {run for run, opinion in opinions.items() if opinion == "corrected"}
    yield from record_corrections(vault, dict.fromkeys(use.name for use in left if use.run in runs), runs, now)
    for use in left:
        if opinions.get(use.run) == "helpful":
            yield record_opinion(vault, use.name, "helpful", now, use.run, use.run)


def _unsaid(vault: Vault, name: str, since: datetime) -> Iterator[Use]:
    """The uses of a skill since then that have no feedback."""
    try:
        written = Path(vault.place.root, vault.home.at(history_path(name))).lstat().st_mtime
        if time_on_clock(vault.clock, written) < since.timestamp():
            return
    except OSError:
        return
    yield from (use for use in merge_opinions(load_uses(vault, name)) if not use.feedback and use.time >= since)


def _by_boxes(workspace: Workspace, unsaid: Sequence[Use]) -> Iterator[Use]:
    boxes = ticked_boxes(workspace.vault, {use.run: use.session for use in unsaid})
    for use in unsaid:
        if opinion := boxes[use.run].get(use.name):
            yield record_opinion(workspace.vault, use.name, opinion, workspace.clock.now(), use.run, use.run)
