"""What the agent did, found and failed at without being asked, since the last briefing: so that none of it ends
unheard. Read from the histories of jobs, the tasks, the notices that were not sent, the history, and what waits for the
evening; what does not work now the daemon says."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from agent.attention.receipts import NoticeLedger
from agent.dataclass import dataclass
from agent.memory import daily
from agent.runs.job_upkeep import job_rows, job_shelf
from agent.runs.status import is_of_growth
from agent.schedule.history import RAN, HistoryRow, Outcome
from agent.schedule.job import Job
from agent.schedule.procedures import WORK_TYPES
from agent.schedule.task_notes import load_tasks
from agent.texts import text, translated
from agent.vault.change import Kind
from agent.vault.folders import LESSONS_NOTE, PROFILE, REFLECTIONS, RESEARCH, SKILL_HISTORY, SKILLS
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.store import Vault
from agent.vault.waiting import waiting_notes
from agent.workspace.workspace import Workspace, load_daemon_state

LONGEST = timedelta(days=3)
"""How far back a briefing tells of, after days without one."""
_TOLD = (PROFILE, LESSONS_NOTE, REFLECTIONS, RESEARCH, SKILLS)
"""Where what the agent finds out by itself stands; logs and records are not told of."""
_ENDS: frozenset[Outcome] = RAN | {"missed"}
_LOGS = frozenset(("_changelog.md", "log.md"))


@dataclass(frozen=True, slots=True)
class UnaskedDeed:
    """Something done unasked, in words, with the note that has it; `has_failed`: it is no result but a failure."""

    words: str
    path: str = ""
    has_failed: bool = False


def last_briefing(workspace: Workspace, job: str) -> datetime:
    """The moment from which a briefing tells: the last one that this job has told. It is that for which it was planned:
    what was missed until it began has an earlier time, too."""
    now = workspace.clock.now()
    done = (row.planned for row in job_rows(workspace.vault, job) if row.outcome == "done")
    briefed = [at for at in done if at <= now]  # a clock may have been set back
    return max([now - LONGEST if briefed else now - timedelta(days=1), *briefed])


def deeds_since(workspace: Workspace, since: datetime, job: str = "") -> tuple[UnaskedDeed, ...]:
    """The unasked deeds since a moment, what failed first; not by the `job` that tells of it. Each thing once."""
    found = (
        *_jobs(workspace, since, job),
        *_tasks(workspace, since),
        *_found(workspace, since),
        *_unsent(workspace, since),
        *_troubles(workspace),
    )
    return tuple(sorted(dict.fromkeys(found), key=lambda each: not each.has_failed))


def _jobs(workspace: Workspace, since: datetime, but: str) -> Iterator[UnaskedDeed]:
    """The last result of each job, if it was since then; a failure that a later run has made good is none."""
    for job in job_shelf(workspace).load().jobs:
        rows = [row for row in job_rows(workspace.vault, job.id) if row.outcome in _ENDS]
        if rows and _over_at(rows[-1]) >= since and job.id != but and not (job.remind or job.only_wakes):
            yield from _of_job(workspace, job, rows[-1])


def _over_at(row: HistoryRow) -> datetime:
    """When an occurrence was over: one may have begun before the last briefing, and failed after it."""
    return row.started + timedelta(seconds=row.seconds) if row.started else row.planned


def _of_job(workspace: Workspace, job: Job, row: HistoryRow) -> Iterator[UnaskedDeed]:
    language = workspace.settings.vault.language
    if row.outcome == "done":
        note = row.delivery if row.delivery.endswith(".md") else row.session
        yield UnaskedDeed(text("briefing.job_done", language, title=job.title), note)
    elif row.outcome in ("failed", "interrupted", "missed"):
        words = text(f"briefing.job_{row.outcome}", language, title=job.title, reason=translated(row.reason, language))
        yield UnaskedDeed(words.rstrip(":： "), job.path, has_failed=True)


def _tasks(workspace: Workspace, since: datetime) -> Iterator[UnaskedDeed]:
    language = workspace.settings.vault.language
    for task in load_tasks(workspace.vault).done:
        if task.completed_at is None or task.completed_at < since:
            continue
        if task.status == "failed":
            words = text("briefing.job_failed", language, title=task.title, reason=task.error)
            yield UnaskedDeed(words.rstrip(":： "), task.path, has_failed=True)
        elif task.status == "completed" and task.result not in {
            text("procedure.nothing", language),
            text("procedure.nothing_about", language, topic=task.title),
        }:
            key = f"done_{task.kind}" if task.kind in WORK_TYPES else "job_done"
            yield UnaskedDeed(text(f"briefing.{key}", language, title=task.title), task.path)


def _found(workspace: Workspace, since: datetime) -> Iterator[UnaskedDeed]:
    """Where something new was written unasked that is a finding, committed or waiting for the evening."""
    vault, language = workspace.vault, workspace.settings.vault.language
    for path in dict.fromkeys(_written_unasked(vault, since)):
        name = PurePosixPath(path).name
        folder = next((each for each in _TOLD if vault.home.holds(path, each)), None)
        if folder is not None and name not in _LOGS and not vault.home.holds(path, SKILL_HISTORY):
            yield UnaskedDeed(text(f"briefing.found_{PurePosixPath(folder).stem}", language), path)


def _is_silent(commit: Commit) -> bool:
    return commit.actor == "agent" and not commit.session


def _written_unasked(vault: Vault, since: datetime) -> Iterator[str]:
    """The notes that the agent has written unasked since then, committed or waiting for the evening."""
    made = (each for each in commits(vault, since=since) if is_of_growth(each.job) or _is_silent(each))
    yield from (change.path for each in made for change in each.files if change.kind is not Kind.DELETED)
    yield from (note.path for note in waiting_notes(vault) if note.since >= since.timestamp())


def _unsent(workspace: Workspace, since: datetime) -> Iterator[UnaskedDeed]:
    """The notices that attention held for the digest, and that ask for nothing."""
    for each in NoticeLedger(workspace.vault.records, workspace.clock).all():
        is_in_digest = each.decision.decided in ("digest", "held") and not each.digest and each.reaction is None
        if each.at >= since and is_in_digest and not each.raised.decides:
            yield UnaskedDeed(each.raised.title)


def _troubles(workspace: Workspace) -> Iterator[UnaskedDeed]:
    """The problems of the daemon now."""
    problem = str((load_daemon_state(workspace) or {}).get("problem") or "")
    if problem:
        yield UnaskedDeed(daily.cut(problem, 160), has_failed=True)
