"""Gemini CLI as a model (`gemini --prompt`): in a home of its own, which has its sign-in and nothing else, and settings
with no tool. An event of a tool ends it. The home goes with the call, and so does what it has recorded there."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent.clock import Clock
from agent.json_value import parse_json
from agent.llm.messages import JsonObject, Usage, mapping, text
from agent.llm.program.client import Heard, own_tool, reduced_environ, refuse_files, tokens
from agent.llm.program.process import Invocation
from agent.platform.here import platform

_NONE = "none"
"""A name that no tool, extension or server has: an empty list would mean all of them."""
_ARGUMENTS = (
    *("--prompt", "", "--output-format", "stream-json", "--extensions", _NONE, "--allowed-mcp-server-names", _NONE),
    *("--approval-mode", "default", "--skip-trust"),
)
_SETTINGS = {
    "tools": {"core": [_NONE]},
    "mcp": {"allowed": [_NONE]},
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "experimental": {"enableAgents": False, "autoMemory": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
}
_SIGN_IN = ("oauth_creds.json", "google_accounts.json", "installation_id")
_SYSTEM = platform().managed("GeminiCli", "gemini-cli")


class GeminiCli:
    """See `ModelProgram`."""

    name, title, command = "gemini-cli", "Gemini CLI", "gemini"
    probe: Sequence[str] = ("--version",)

    def start(self, program: str, folder: Path, model: str, effort: str, clock: Clock) -> Invocation:
        refuse_files(self.title, [_SYSTEM / name for name in ("settings.json", "system-defaults.json")])
        theirs = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"
        ours = folder / "home" / ".gemini"
        ours.mkdir(parents=True)
        for name in _SIGN_IN:
            if (theirs / name).is_file():
                (ours / name).symlink_to(theirs / name)  # a sign-in that is renewed is renewed there, too
        settings = {
            **_SETTINGS,
            "security": {"auth": {"selectedType": _selected(theirs / "settings.json")}},
            "context": {"fileName": f"{folder.name}.md"},  # it obeys such a file of each folder above: nobody has this
        }
        (ours / "settings.json").write_text(json.dumps(settings), "utf-8")
        (folder / ".env").touch()  # it takes its environment from the nearest one above: not from one in /tmp
        environ = reduced_environ(
            folder,
            *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
            "GOOGLE_APPLICATION_CREDENTIALS",
            GEMINI_CLI_HOME=str(folder / "home"),
            GEMINI_SYSTEM_MD=str(folder / "instructions.md"),
        )
        named = ["--model", model] if model else []
        return Invocation([program, *_ARGUMENTS, *named], environ, folder)

    def take(self, event: JsonObject, heard: Heard) -> None:
        match event.get("type"):
            case "tool_use" | "tool_result":
                raise own_tool(self.title, text(event.get("tool_name")) or "tool")
            case "init":
                heard.model = text(event.get("model"))
            case "message" if event.get("role") == "assistant":
                heard.new.append(text(event.get("content")))
            case "result":
                stats = mapping(event.get("stats"))
                if tokens(stats, "tool_calls"):
                    raise own_tool(self.title, "tool_calls")
                heard.usage = Usage(
                    tokens(stats, "input_tokens"), tokens(stats, "output_tokens"), tokens(stats, "cached")
                )
                heard.is_over = True
                if event.get("status") != "success":
                    heard.failure = text(mapping(event.get("error")).get("message")) or text(event.get("status"))


def _selected(file: Path) -> str:
    """The way of signing in that the person has chosen in the program."""
    with suppress(OSError, ValueError):
        security = mapping(mapping(parse_json(file.read_bytes())).get("security"))
        if found := text(mapping(security.get("auth")).get("selectedType")):
            return found
    return "gemini-api-key" if os.environ.get("GEMINI_API_KEY") else "oauth-personal"
