"""The choice of the process that resumes a run after a decision or answer: the daemon if one runs, else this one."""

from collections.abc import Callable
from enum import StrEnum

from agent.runs.decisions import ready_after
from agent.runs.registry import RunMark
from agent.workspace.workspace import Workspace, is_watched


class Resumer(StrEnum):
    """The process that resumes a waiting run."""

    HERE = "here"
    DAEMON = "daemon"
    LATER = "later"
    NOBODY = "nobody"


def resumer_of(workspace: Workspace, path: str, here: Callable[[], bool]) -> tuple[Resumer, RunMark | None]:
    """The process that resumes the run that waited for the note at `path`, and its mark; `NOBODY` and None if no run
    can resume.

    `here` is called only if no daemon runs; it returns True if the run is to resume in this process.
    """
    mark = ready_after(workspace, path)
    if mark is None:
        return Resumer.NOBODY, None
    if is_watched(workspace):
        return Resumer.DAEMON, mark
    return (Resumer.HERE if here() else Resumer.LATER), mark
