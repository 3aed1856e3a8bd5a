"""Who resumes a run once the person has decided or answered: the daemon where one is at work, else who decided."""

from collections.abc import Callable
from enum import StrEnum

from agent.runs.decisions import ready
from agent.runs.registry import RunMark
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace


class Resumer(StrEnum):
    """Who takes up a run that waited."""

    HERE = "here"
    DAEMON = "daemon"
    LATER = "later"
    NOBODY = "nobody"


def resumer_of(workspace: Workspace, path: str, here: Callable[[], bool]) -> tuple[Resumer, RunMark | None]:
    """Who resumes the run that waited for the note at `path`, and its mark; `NOBODY` and None when no run waits.

    `here` is called only where no daemon is at work: whether the run is to go on in this process.
    """
    mark = next((mark for mark in ready(workspace) if mark.waits_for == path), None)
    if mark is None:
        return Resumer.NOBODY, None
    if is_watched(workspace):
        return Resumer.DAEMON, mark
    return (Resumer.HERE if here() else Resumer.LATER), mark
