"""Finds the job that a person names on the command line."""

from agent.runs.job_upkeep import job_shelf
from agent.schedule.job import Job
from agent.workspace.workspace import Workspace


def find_job(workspace: Workspace, name: str) -> Job:
    """The job that a person means; raises `UserError`."""
    return job_shelf(workspace).load().find(name)
