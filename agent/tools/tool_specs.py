"""The tools as a model is told of them: few words, and the actions of one tool together.

What a call may not be is not among these words: a call that is too long or has an unknown argument is answered with
what is wrong (`schema`), while each word here is sent with every request.
"""

from collections.abc import Iterable, Mapping, Sequence

from agent.llm.messages import Json, JsonObject, ToolSpec
from agent.tools.tool import Tool
from agent.tools.tool_names import ACTION, whole_tool

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
        given = tool.parameters["properties"]
        assert isinstance(given, Mapping)
        for argument, schema in given.items():
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
