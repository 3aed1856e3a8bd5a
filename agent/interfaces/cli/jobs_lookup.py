"""Finds the job that a person names on the command line."""

from agent.schedule.job import Job
from agent.schedule.shelf import JobShelf
from agent.workspace.workspace import Workspace


def find_job(workspace: Workspace, name: str) -> Job:
    """The job that a person means; raises `UserError`."""
    return JobShelf(workspace.vault).load().find(name)
