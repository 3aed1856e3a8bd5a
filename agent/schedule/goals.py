"""Goals: notes whose header says how often to look at them (`review`); each becomes a job with `source: goal`.

A goal is a note with `type: goal` anywhere among the person's own, or the profile's note of goals; its key results are
tasks in the body. Without `review` nothing runs, since a vault may have such notes for reasons of its own. The caller
gives the notes as this machine knows them to be its person's, never what merely arrived or what the agent wrote.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.schedule.header_fields import plain_id
from agent.schedule.job import Job, JobProblem
from agent.schedule.job_header import parse_job
from agent.schedule.triggers import BadTrigger, cron_of
from agent.texts import Language, text
from agent.vault.folders import OWN_NOTES, PROFILE, AgentFolder

GOAL_TYPE = "goal"
GOALS_NOTE = f"{PROFILE}22-goals-aspirations.md"
"""The profile's note of goals, in the agent's folder."""
_REVIEWS = {"daily": "0 9 * * *", "weekly": "0 9 * * 1", "monthly": "0 9 1 * *"}
_OVER = frozenset({"done", "completed", "achieved", "paused", "cancelled", "dropped", "archived"})
_KEPT = (
    *("timezone", "priority", "channel", "spend", "timeout", "run_on", "active_days"),
    *("approval_required", "catch_up", "created"),
)
"""The fields of a job that a goal's note may have, too."""


def is_goal(path: str, note: Note, home: AgentFolder) -> bool:
    """True if the note at `path` is a goal."""
    is_own = home.row(path) is OWN_NOTES and note.type == GOAL_TYPE
    return is_own or home.name_of(path) == GOALS_NOTE


def is_over(note: Note) -> bool:
    """True for a goal that was reached, or that nobody works towards now."""
    return str(note.header.get("status", "")).casefold() in _OVER


def goal_job(path: str, data: bytes, home: AgentFolder, language: Language, digest: str) -> Job | JobProblem | None:
    """The job of a goal's note; None for a note that is no goal, is over, or is not to be looked at."""
    note = Note.parse(data)
    review = note.header.get("review")
    if not is_goal(path, note, home) or review in (None, "", "off", False):
        return None
    if is_over(note):
        return None
    try:
        cron = _cron(review)
    except BadTrigger as error:
        return JobProblem(path, "review", error.message, error.hint)
    title = note.title(path)
    header: Mapping[str, Value] = {
        **{key: note.header[key] for key in _KEPT if key in note.header},
        "id": f"goal-{plain_id(note.id or PurePosixPath(path).stem, GOAL_TYPE)}",
        "type": "job",
        "title": text("goal_job.title", language, title=title),
        "on": {"cron": cron},
        "source": "goal",
    }
    task = text("goal_job.task", language, link=f"[[{path.removesuffix('.md')}]]")
    return parse_job(path, Note.compose(header, f"{task}\n").data, digest)


def _cron(review: Value) -> str:
    """The expression of `weekly` and its like, or a given one; once a day at most. Raises `BadTrigger`."""
    hint = "daily, weekly, monthly, or a cron expression for once a day at most"
    if not isinstance(review, str):
        raise BadTrigger("{value} is no time to look at a goal", hint=hint, value=str(review)[:80])
    cron = _REVIEWS.get(review.strip().casefold()) or cron_of(review)
    minute, hour, *_ = cron.split()
    if not (minute.isdigit() and hour.isdigit()):
        raise BadTrigger("{value} is no time to look at a goal", hint=hint, value=review[:80])
    return cron
