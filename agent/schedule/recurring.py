"""A task that recurs becomes a job, once: what happens at a time is a job's, so that there is one scheduler only."""

import re
from datetime import datetime

from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.schedule import job
from agent.schedule.task import Task
from agent.vault.change import Create
from agent.vault.folders import JOBS
from agent.vault.store import Vault

_DAY = re.compile(r"^\d{4}-\d\d-\d\d-")
"""The day of a task's name: its job is not of one day."""


def job_of_task(vault: Vault, task: Task, now: datetime) -> Create | None:
    """The request for the job that repeats a task from now on; None if the task does not recur, or has its job."""
    if not task.recurring or not task.recurrence_interval:
        return None
    path = job_path(vault, task)
    if vault.read(path) is not None:
        return None
    header: dict[str, Value] = {
        "id": path.rpartition("/")[2].removesuffix(".md"),
        "type": job.TYPE,
        "title": task.title,
        "on": {"every": task.recurrence_interval},
        "task": task.kind,
        "status": "active",
        "priority": task.priority,
    }
    header |= {"target_file": vault.home.at(task.target_file)} if task.target_file else {}
    header["created"] = now.replace(microsecond=0)
    body = f"# {task.title}\n" + (f"\n{task.description}\n" if task.description else "")
    return Create(path, Note.compose(header, body).data)


def job_path(vault: Vault, task: Task) -> str:
    """The path of the job that repeats a task."""
    words = _DAY.sub("", task.id)
    return vault.home.at(f"{JOBS}every-{words}.md")
