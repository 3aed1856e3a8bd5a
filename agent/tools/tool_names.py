"""The names of all tools, whatever the settings switch on: a rule about another name would be a rule about nothing.

A tool with actions is one tool for a model, which names the action in each call. Everywhere else each of its actions is
a tool of its own, such as `jobs.add`: for the policy, approvals, skills, the history and figures.
"""

from dataclasses import replace
from types import MappingProxyType

from agent.config.near_words import meant
from agent.config.settings import SECTIONS
from agent.config.values import setting_types
from agent.llm.messages import ToolCall

ACTION = "action"
"""The argument with which a call names the action."""
ACTIONS = MappingProxyType(
    {
        "jobs": ("list", "add", "change", "pause", "delete"),
        "profile": ("list", "read", "search", "summary", "write", "create", "delete"),
        "skills": ("list", "show", "feedback"),
    }
)
"""The tools that have actions."""
TOOL_NAMES = frozenset(
    (
        *("vault_list", "vault_read", "vault_write", "vault_edit", "vault_append", "vault_move", "vault_log"),
        *("vault_grep", "open_tasks", "vault_undo"),
        *("search_vault", "memory_recall", "memory_save", "memory_update", "memory_forget", "search_episodic_memory"),
        *("search_semantic_memory", "get_recent_activity", "time_filter", "web_fetch", "web_search"),
        *("research", "shell_run", "human_ask", "delegate", "tool_search", "agent_ask", "inbox_list", "inbox_leave"),
        *("create_task", "get_pending_tasks", "get_recent_task_history", "get_profile_status"),
        *(f"{tool}.{action}" for tool, actions in ACTIONS.items() for action in actions),
    )
)
EARLIER = MappingProxyType(
    {
        **{f"schedule_{action}": f"jobs.{action}" for action in ("list", "pause", "delete")},
        "schedule_create": "jobs.add",
        "jobs_list": "jobs.list",
        **{f"skill_{action}": f"skills.{action}" for action in ACTIONS["skills"]},
        **{f"{action}_profile": f"profile.{action}" for action in ("read", "search", "write", "create", "delete")},
        "list_profile_files": "profile.list",
        "get_profile_summary": "profile.summary",
    }
)
"""Names that tools had before, with those of today: a policy, a skill or a session may still have them."""
FOREIGN = "node_"
"""The beginning of the names of tools that the node host brings, which may have more than those of this version."""


def is_known_tool(name: str) -> bool:
    """True for the name of a tool that there is or was, and for one that the node host may bring."""
    known = name in TOOL_NAMES or name in ACTIONS or name in EARLIER
    return known or (name.startswith(FOREIGN) and meant(name, node_tools()) in ("", name))


def node_tools() -> tuple[str, ...]:
    """The names of the tools that the node host has in this version."""
    inside = (key.partition(".") for key in setting_types(SECTIONS["node"].dataclass))
    return tuple(FOREIGN + name for section, _, name in inside if section == "tools")


def whole_tool(name: str) -> str:
    """The tool that a model sees: `jobs` for `jobs.add`, and the name itself for a tool without actions."""
    return name.partition(".")[0]


def names_of(name: str) -> tuple[str, ...]:
    """Every name that stands for a tool in what people have written: its own, the whole tool's and earlier ones."""
    return (name, whole_tool(name), *(before for before, now in EARLIER.items() if now == name))


def resolved(call: ToolCall) -> ToolCall:
    """The call of an action as one of `jobs.add` without the argument `action`; any other call as it is."""
    name, arguments = EARLIER.get(call.name, call.name), dict(call.arguments)
    if name in ACTIONS and isinstance(action := arguments.get(ACTION), str):
        del arguments[ACTION]
        return replace(call, name=f"{name}.{action}", arguments=arguments)
    return replace(call, name=name)
