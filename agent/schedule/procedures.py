"""The kinds of work that are planned: for the person, and the agent's own; how each is done is written in
`growth.procedures`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, get_args

from agent.errors import BadPath, UserError
from agent.markdown.yaml_write import Value
from agent.texts import either
from agent.vault.folders import RESEARCH, AgentFolder
from agent.vault.worktree.paths import check

WorkType: TypeAlias = Literal["prepare", "draft", "chase", "explore_topic"]
"""The person's work: what a model may plan."""
TaskType: TypeAlias = Literal["prepare", "draft", "chase", "explore_topic", "self_reflection", "upkeep"]
WORK_TYPES: tuple[WorkType, ...] = get_args(WorkType)
TASK_TYPES: tuple[TaskType, ...] = get_args(TaskType)
TYPES: Mapping[TaskType, str] = MappingProxyType(
    {
        "prepare": "prepares a meeting or a day from your notes",
        "draft": "drafts what is due, from your notes",
        "chase": "words what you could send about a promise or an answer that is open",
        "explore_topic": "gathers what the vault says on the topic in the title",
        "self_reflection": "looks at what happened and what comes, and plans such work for you",
        "upkeep": "tends memory and vault in silence, and says only what is wrong with the vault",
    }
)
"""What each kind does, in one line."""
_OLDER: Mapping[str, TaskType] = MappingProxyType(
    {
        **dict.fromkeys(("update_profile", "consolidate", "discover_patterns", "learn_from_history"), "upkeep"),
        **dict.fromkeys(("summarize_period", "fill_gap", "health_check", "cleanup"), "upkeep"),
    }
)
"""The kinds that older notes name, and what does their work now."""


TASK_NAMES = frozenset((*TASK_TYPES, *_OLDER))
"""What a person may type for a kind, also as older notes name it."""


def task_type_of(value: Value) -> TaskType:
    """The type of this name, also of one in an older note; raises `UserError`."""
    if isinstance(value, str) and value in _OLDER:
        return _OLDER[value]
    if value not in TASK_TYPES:
        raise UserError("no such task type: {name}", hint="{names}", name=str(value)[:60], names=either(TASK_TYPES))
    return cast("TaskType", value)


def target_name(kind: TaskType, text: str, home: AgentFolder) -> str:
    """The note that a task works on, as the table of folders names it, such as `research/tea.md`; the person may leave
    out the folder and the ending. Raises `BadPath` for a note that is not in the folder of its kind; upkeep works on no
    note of its own, whatever an older note names."""
    plain = text.strip().lstrip("/")
    if not plain or kind == "upkeep":
        return ""
    if kind != "explore_topic":
        raise BadPath("a task of the type {kind} works on no note of its own", kind=kind)
    plain = plain if plain.endswith(".md") else f"{plain}.md"
    named = home.name_of(plain)
    name = named if named.startswith(RESEARCH) else plain
    name = name if "/" in name else RESEARCH + name
    check(home.at(name))
    if not name.startswith(RESEARCH):
        raise BadPath("{path} is not in {folder}", path=text, folder=RESEARCH)
    return name
