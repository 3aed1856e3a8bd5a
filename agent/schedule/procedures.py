"""The kinds of work that the agent knows how to do by itself; how each is done is written in `growth.procedures`."""

from typing import Literal, TypeAlias, cast, get_args

from agent.errors import UserError
from agent.markdown.values import Value
from agent.texts import either

TaskType: TypeAlias = Literal[
    "self_reflection",
    "update_profile",
    "consolidate",
    "discover_patterns",
    "learn_from_history",
    "summarize_period",
    "explore_topic",
    "fill_gap",
    "health_check",
    "cleanup",
]
TASK_TYPES: tuple[TaskType, ...] = get_args(TaskType)


def task_type_of(value: Value) -> TaskType:
    """The type of this name; raises `UserError`."""
    if value not in TASK_TYPES:
        raise UserError("no such task type: {name}", hint="{names}", name=str(value)[:60], names=either(TASK_TYPES))
    return cast("TaskType", value)
