"""The kinds of work that the agent knows how to do by itself; how each is done is written in `growth.procedures`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, get_args

from agent.errors import BadPath, UserError
from agent.markdown.yaml_write import Value
from agent.texts import either
from agent.vault.folders import PROFILE, RESEARCH, AgentFolder
from agent.vault.worktree.paths import check

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
TYPES: Mapping[TaskType, str] = MappingProxyType(
    {
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
)
"""What each kind does, in one line."""
_TARGETS: Mapping[TaskType, str] = MappingProxyType(
    {"update_profile": PROFILE, "discover_patterns": PROFILE, "fill_gap": PROFILE, "explore_topic": RESEARCH}
)
"""The folder of the notes that a kind of task may work on; the others work on no note that a task can name."""
_TOPICS = "topics/"
"""The folder in `profile/` that a person may name without it."""
SUBJECT_IN_TITLE: frozenset[TaskType] = frozenset(("explore_topic", "fill_gap", "summarize_period"))
"""Kinds whose subject is their title: two of them on one day with other titles are two tasks."""


def task_type_of(value: Value) -> TaskType:
    """The type of this name; raises `UserError`."""
    if value not in TASK_TYPES:
        raise UserError("no such task type: {name}", hint="{names}", name=str(value)[:60], names=either(TASK_TYPES))
    return cast("TaskType", value)


def target_name(kind: TaskType, text: str, home: AgentFolder) -> str:
    """The note that a task works on, as the table of folders names it, such as `profile/20-skills-abilities.md`; the
    person may leave out the folder and the ending. Raises `BadPath` for a note that is not in the folder of its kind.
    """
    plain = text.strip().lstrip("/")
    if not plain:
        return ""
    folder = _TARGETS.get(kind)
    if folder is None:
        raise BadPath("a task of the type {kind} works on no note of its own", kind=kind)
    plain = plain if plain.endswith(".md") else f"{plain}.md"
    named = home.name_of(plain)
    name = named if named.startswith(folder) else plain
    if "/" not in name or name.startswith(_TOPICS):
        name = folder + name
    check(home.at(name))
    if not name.startswith(folder):
        raise BadPath("{path} is not in {folder}", path=text, folder=folder)
    return name
