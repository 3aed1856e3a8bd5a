"""What a server says of its tools, made safe and short, and kept in the cache, which describes one that does not run.

A name is `mcp_`, the server's name and the tool's, so it is never that of a built-in tool.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.llm.messages import JsonObject
from agent.tools.tool_names import SERVED

MOST_TOOLS = 128
_MOST_WORDS, _MOST_WORDS_INSIDE = 600, 200
"""The most characters of what is said of a tool, and of one of its arguments."""
_MOST_SCHEMA = 8_000
_LONGEST_NAME = 64
"""What providers of models take."""
_DROPPED = frozenset(("$schema", "$id", "$comment", "title", "examples", "pattern", "patternProperties", "format"))
"""Keywords that are left out: a pattern may freeze the program, and the others are only words."""
_NAMED = frozenset(("properties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose value has schemas by names of the server's own."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server lists it; `schema` is JSON. `is_readonly`: the server says that it changes nothing."""

    name: str
    description: str
    schema: str
    is_readonly: bool = False

    @property
    def parameters(self) -> JsonObject:
        """The JSON schema of its arguments."""
        found: JsonObject = parse_json(self.schema)
        return found


def server_tool(name: str, description: str, schema: object, *, is_readonly: bool) -> ServerTool | None:
    """The tool as it is kept; None for one whose schema is no object or far too long."""
    cleaned = _cleaned(schema)
    if not name or not isinstance(cleaned, dict) or cleaned.get("type", "object") != "object":
        return None
    written = json.dumps({"type": "object", "properties": {}, **cleaned}, sort_keys=True, default=str)
    if len(written) > _MOST_SCHEMA or len(name) > 200:
        return None
    return ServerTool(name, _words(description or name, _MOST_WORDS), written, is_readonly)


def _words(statement: object, most: int) -> str:
    """What a server says of something, on one line and short."""
    return " ".join("".join(each if each.isprintable() else " " for each in str(statement)).split())[:most]


def _cleaned(schema: object, depth: int = 0) -> object:
    if isinstance(schema, Mapping) and depth < 12:
        return {
            str(key): _words(value, _MOST_WORDS_INSIDE)
            if key == "description"
            else {str(name): _cleaned(each, depth + 1) for name, each in value.items()}
            if key in _NAMED and isinstance(value, Mapping)
            else _cleaned(value, depth + 1)
            for key, value in schema.items()
            if key not in _DROPPED
        }
    if isinstance(schema, list | tuple) and depth < 12:
        return [_cleaned(each, depth + 1) for each in schema]
    return schema if schema is None or isinstance(schema, bool | int | float | str) else None


def named(server: str, tools: Iterable[ServerTool]) -> Iterator[tuple[str, ServerTool]]:
    """The tools with the names that the agent has for them, each name once."""
    taken = set[str]()
    for tool in tools:
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool.name)
        words = re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_") or "tool"
        name = f"{SERVED}{server}_{words}"
        if len(name) > _LONGEST_NAME or name in taken:
            mark = sha256(tool.name.encode("utf-8", "replace")).hexdigest()[:6]
            name = f"{name[: _LONGEST_NAME - 7].rstrip('_')}_{mark}"
        if name not in taken:
            taken.add(name)
            yield name, tool


@dataclass(frozen=True, slots=True)
class ToolListing:
    """The tools that a server with this configuration (`digest`) had when it was started last."""

    digest: str = ""
    tools: tuple[ServerTool, ...] = ()


def load_listing(path: Path) -> ToolListing:
    """The listing in a file; an empty one if there is none, or a damaged one."""
    try:
        found = parse_json(path.read_bytes())
        rows = [ServerTool(**{**row, "is_readonly": row["is_readonly"] is True}) for row in found["tools"]]
        if not all(isinstance(each.parameters, dict) for each in rows):
            return ToolListing()
        return ToolListing(str(found["digest"]), tuple(rows))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ToolListing()


def save_listing(path: Path, listing: ToolListing) -> None:
    """Keep a listing, in place of the one before."""
    make_folder(path.parent)
    replace(path, json.dumps(asdict(listing)))
