"""The eight tools of the node host, and those of them that are on. `fs_read` and `fs_write` are here: files in the
named folders.
"""

from dataclasses import fields

from agent.config.node_settings import NodeToolSettings
from agent.interfaces.node.capture import capture_tools
from agent.interfaces.node.desktop import desktop_tools
from agent.interfaces.node.folders import MOST_LISTED
from agent.interfaces.node.pointing import pointing_tools
from agent.interfaces.node.programs import missing
from agent.interfaces.node.session import bad_arguments
from agent.interfaces.node.tool import Desk, Made, NodeResult, NodeTool
from agent.llm.messages import JsonObject
from agent.tools.arguments import number, schema, text

_MOST_WRITTEN = 4 << 20
_PATH: JsonObject = {"type": "string", "minLength": 1, "maxLength": 4096, "description": "the whole path, or ~/…"}


def file_tools() -> tuple[NodeTool, ...]:
    """The tools for files."""
    read = schema(
        "path", path=_PATH, offset={"type": "integer", "minimum": 0, "description": "the byte to begin at; default 0"}
    )
    write = schema(
        "path",
        "content",
        path=_PATH,
        content={"type": "string", "maxLength": _MOST_WRITTEN},
        mode={"enum": ["create", "replace", "append"], "description": "default create, which changes no file"},
    )
    return (
        NodeTool(
            "fs_read",
            "Read a text file, or list a folder, in the folders that the person has opened.",
            read,
            _read_file,
            permission="full_disk_access",
        ),
        NodeTool(
            "fs_write",
            "Write a text file in the folders that the person has opened.",
            write,
            _write_file,
            permission="full_disk_access",
        ),
    )


def _read_file(call: JsonObject, desk: Desk) -> NodeResult:
    path, offset = text(call, "path"), number(call, "offset", 0)
    names = desk.folders.list(path)
    if names is not None:
        more = [f"[{len(names) - MOST_LISTED:,} more]"] if len(names) > MOST_LISTED else []
        return NodeResult("\n".join([*names[:MOST_LISTED], *more]) or "(an empty folder)")
    data, size = desk.folders.read(path, offset)
    if b"\0" in data[:8_192]:
        raise bad_arguments(f"{path} is no text: {size:,} bytes of something else")
    left = size - offset - len(data)
    rest = f"\n[{left:,} bytes more: offset {offset + len(data)}]" if left > 0 else ""
    return NodeResult(data.decode("utf-8", "replace") + rest)


def _write_file(call: JsonObject, desk: Desk) -> NodeResult:
    path, data = text(call, "path"), text(call, "content").encode()
    desk.folders.write(path, data, mode=text(call, "mode", "create"))
    return NodeResult(f"{path}: {len(data):,} bytes written", (Made(path, "text/plain", len(data)),))


def node_tools(switches: NodeToolSettings) -> dict[str, NodeTool]:
    """The tools that are on, by name, in the order of their settings."""
    every = {tool.name: tool for tool in (*desktop_tools(), *capture_tools(), *pointing_tools(), *file_tools())}
    return {each.name: every[each.name] for each in fields(switches) if getattr(switches, each.name)}


def described(tool: NodeTool) -> dict[str, object]:
    """A tool as `GET /api/v1/tools` shows it."""
    needs = missing(tool.programs())
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "permission": tool.permission or None,
        "available": not needs,
        "install": needs or None,
    }
