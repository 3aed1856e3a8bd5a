"""Runs of jobs that are begun by hand in the daemon."""

import logging
from concurrent.futures import Future
from functools import partial

from agent.app.jobs import run_by_hand
from agent.background.failures import failure_text
from agent.background.pool import Pool, Priority
from agent.deeds.jobs import job_to_run
from agent.deeds.result import ResultValue
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


class BegunRun(ResultValue, frozen=True):
    """A run that begins now; its history tells what came of it."""

    job: str
    state: str


def begin_job(workspace: Workspace, pool: Pool, name: str) -> BegunRun:
    """Run a job once now, also one that is paused, asks for a yes, or is only ready."""
    job = job_to_run(workspace, name)
    work = partial(run_by_hand, workspace, job)
    future = pool.submit(work, key=f"asked job {job.id}", priority=Priority.PERSON)
    future.add_done_callback(partial(_log_failure, job.id))
    return BegunRun(job.id, "running")


def _log_failure(job: str, done: "Future[object]") -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        logger.warning("the job %s, begun by hand, did not run: %s", job, failure_text(error))
