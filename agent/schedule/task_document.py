"""Tasks as documents for JSON, the same for every interface; and what each kind of task does."""

from collections.abc import Mapping
from datetime import datetime

from agent.schedule.procedures import TaskType
from agent.schedule.queue import needs
from agent.schedule.task import Task, TaskProblem
from agent.schedule.task_notes import TaskShelf

TYPES: Mapping[TaskType, str] = {
    "self_reflection": "looks back at the last hours and plans at most five tasks",
    "update_profile": "adds what you said, with its evidence, to a note about you",
    "consolidate": "tends what is remembered, now",
    "discover_patterns": "finds what repeats in your week",
    "learn_from_history": "reads what was said and not read yet, and looks back at yesterday",
    "summarize_period": "sums up a day in its note, or a week in one of its own",
    "explore_topic": "gathers what the vault says on the topic in the title",
    "fill_gap": "finds out, or asks you, something that your notes do not say",
    "health_check": "checks the vault, and says what is new since the last check",
    "cleanup": "puts away what is over: old tasks, expired approvals and questions",
}


def task_document(task: Task, shelf: TaskShelf) -> dict[str, object]:
    """One task for JSON."""
    return {
        "id": task.id,
        "path": task.path,
        "task_type": task.kind,
        "title": task.title,
        "description": task.description,
        "status": task.status,
        "priority": task.priority,
        "due": _iso(task.due),
        "recurring": task.recurring,
        "recurrence_interval": task.recurrence_interval or None,
        "target_file": task.target_file or None,
        "dependencies": list(task.dependencies),
        "needs": list(needs(task, shelf.done)) if task.is_waiting else [],
        "context": task.context,
        "result": task.result,
        "error": task.error,
        "created_at": _iso(task.created_at),
        "started_at": _iso(task.started_at),
        "completed_at": _iso(task.completed_at),
        "execution_time_ms": task.execution_time_ms,
    }


def problem_document(problem: TaskProblem) -> dict[str, object]:
    """A note that is no right task, for JSON."""
    return {"path": problem.path, "key": problem.key, "message": problem.message, "hint": problem.hint}


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
