"""The order of the tasks that wait: the most urgent first, then the one that is due first, each after what it needs."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from agent.schedule.task import Task

_LATE = datetime(9999, 1, 1, tzinfo=UTC)


def in_order(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """The tasks by priority (10 first), then by the moment from which they are due, then by age."""
    return tuple(sorted(tasks, key=_rank))


def ready(tasks: Iterable[Task], completed: Sequence[Task], now: datetime) -> tuple[Task, ...]:
    """The tasks that may be begun now, in order: due, and with all that they need completed. One that is in progress
    is not begun again: its run waits for the person, here or on another machine."""
    found = (each for each in tasks if each.may_begin and (each.due is None or each.due <= now))
    return in_order(each for each in found if not needs(each, completed))


def needs(task: Task, completed: Sequence[Task]) -> tuple[str, ...]:
    """The tasks that have to be completed before this one, as it names them."""
    done = [each for each in completed if each.status == "completed"]
    return tuple(name for name in task.dependencies if not any(each.is_named(name) for each in done))


def _rank(task: Task) -> tuple[int, datetime, datetime, str]:
    born = task.created_at or _LATE
    return -task.priority, task.due or born, born, task.id
