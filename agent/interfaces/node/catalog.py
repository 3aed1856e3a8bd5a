"""The eight tools of the node host, and those of them that are on."""

from dataclasses import fields

from agent.config.node_settings import NodeToolSettings
from agent.interfaces.node.capture import capture_tools
from agent.interfaces.node.desktop import desktop_tools
from agent.interfaces.node.files import file_tools
from agent.interfaces.node.pointing import pointing_tools
from agent.interfaces.node.programs import missing
from agent.interfaces.node.tool import NodeTool


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
