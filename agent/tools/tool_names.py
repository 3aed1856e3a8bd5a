"""The names of all tools, and the tools as a model is told of them: the actions of one tool together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from agent.config.settings import SECTIONS
from agent.config.values import meant, setting_types
from agent.llm.messages import Json, JsonObject, ToolCall, ToolSpec
from agent.tools.tool import Tool

ACTION = "action"
"""The argument with which a call names the action."""
ACTIONS = MappingProxyType(
    {
        "jobs": ("list", "add", "change", "pause", "resume", "delete"),
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
        *(
            "research",
            "shell_run",
            "human_ask",
            "delegate",
            "plan",
            "tool_search",
            "agent_ask",
            "inbox_list",
            "inbox_leave",
            "calendar",
        ),
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

SERVED = "mcp_"
"""The beginning of the names of tools that MCP servers bring: `mcp_`, the server's name, and the tool's."""


def is_served(name: str) -> bool:
    """True for the name of a tool that an MCP server brings."""
    return name.startswith(SERVED)


def is_known_tool(name: str) -> bool:
    """True for the name of a tool that there is or was, and for one that the node host or an MCP server may bring."""
    known = name in TOOL_NAMES or name in ACTIONS or name in EARLIER or is_served(name)
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


_LIMITS = frozenset(
    (
        *("minLength", "maxLength", "pattern", "minimum", "maximum", "minItems", "maxItems"),
        *("additionalProperties", "uniqueItems"),
    )
)
"""Keywords of a schema that only limit a value."""


def specs_of(tools: Iterable[Tool]) -> tuple[ToolSpec, ...]:
    """One specification for each tool, in their order; that of a tool with actions stands where its first one is.

    Raises `ValueError` if actions of one tool have different arguments of the same name.
    """
    together: dict[str, list[Tool]] = {}
    for tool in tools:
        together.setdefault(whole_tool(tool.name), []).append(tool)
    return tuple(_spec(name, each) for name, each in together.items())


def _spec(name: str, tools: Sequence[Tool]) -> ToolSpec:
    if tools[0].name == name:
        return ToolSpec(name, tools[0].description, short_schema(tools[0].parameters))
    actions = [each.name.removeprefix(f"{name}.") for each in tools]
    properties: dict[str, Json] = {ACTION: {"type": "string", "enum": actions}}
    lines: list[str] = []
    for action, tool in zip(actions, tools, strict=True):
        schemas = tool.parameters["properties"]
        assert isinstance(schemas, Mapping)
        for argument, schema in schemas.items():
            if properties.setdefault(argument, schema) != schema:
                raise ValueError(f"{tool.name} has another argument {argument} than the actions before it")
        required = tool.parameters.get("required")
        needs = f"({', '.join(map(str, required))})" if isinstance(required, list) and required else ""
        lines.append(f"{action}{needs}: {tool.description}")
    together: JsonObject = {"type": "object", "properties": properties, "required": [ACTION]}
    return ToolSpec(name, "\n".join(lines), short_schema(together))


def short_schema(schema: JsonObject) -> JsonObject:
    """The schema without what only limits a value, and without empty lists of what is required."""
    return {key: _short(key, value) for key, value in schema.items() if key not in _LIMITS and value != []}


def _short(key: str, value: Json) -> Json:
    if not isinstance(value, Mapping):
        return value
    return {name: _short("", each) for name, each in value.items()} if key == "properties" else short_schema(value)
