"""The programs whose configuration is known: where its file is, and how a server stands in it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.platform.here import platform

Form: TypeAlias = Literal["json", "toml"]


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A program: its `name` here, what people call it, and in which of its file's tables its servers are. `typed`: an
    entry says that it is of the kind `stdio`."""

    name: str
    title: str
    table: str
    form: Form = "json"
    typed: bool = False


PROGRAMS = (
    ClientProgram("claude-code", "Claude Code", "mcpServers", typed=True),
    ClientProgram("claude-desktop", "Claude Desktop", "mcpServers"),
    ClientProgram("cursor", "Cursor", "mcpServers"),
    ClientProgram("vscode", "VS Code", "servers", typed=True),
    ClientProgram("codex", "Codex", "mcp_servers", "toml"),
    ClientProgram("gemini", "Gemini CLI", "mcpServers"),
)
NAMES = tuple(each.name for each in PROGRAMS)


def program_named(name: str) -> ClientProgram:
    """The program with this name; raises `StopIteration` for another one."""
    return next(each for each in PROGRAMS if each.name == name)


def config_file(program: ClientProgram, home: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The person's own configuration file of the program, on this system."""
    match program.name:
        case "claude-code":
            folder = environ.get("CLAUDE_CONFIG_DIR")
            return Path(folder) / ".claude.json" if folder else home / ".claude.json"
        case "claude-desktop":
            return _applications(home, environ) / "Claude" / "claude_desktop_config.json"
        case "vscode":
            return _applications(home, environ) / "Code" / "User" / "mcp.json"
        case "codex":
            return Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml"
        case "gemini":
            return home / ".gemini" / "settings.json"
        case _:
            return home / ".cursor" / "mcp.json"


def _applications(home: Path, environ: Mapping[str, str]) -> Path:
    """The folder in which programs keep their settings."""
    return platform().applications(home, environ)
