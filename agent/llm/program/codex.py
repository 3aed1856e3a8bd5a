"""Codex as a model (`codex exec`): all its features are switched off, whatever they are called in this version; its
settings, rules and sessions are left out. An item that is neither an answer nor a thought ends it."""

import os
from collections.abc import Sequence
from pathlib import Path

from agent.clock import Clock
from agent.llm.messages import JsonObject, Usage, mapping, text
from agent.llm.program.client import Heard, failure_of, own_tool, reduced_environ, refuse_files, tokens
from agent.llm.program.process import Invocation, output_of

_ARGUMENTS = (
    *("--json", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"),
    *("--sandbox", "read-only"),
)
_SETTINGS = (
    *("web_search=disabled", "project_doc_max_bytes=0", "skills.include_instructions=false"),
    *("skills.bundled.enabled=false", "include_permissions_instructions=false", "include_apps_instructions=false"),
    *("include_environment_context=false", "include_collaboration_mode_instructions=false"),
)
_SYSTEM = Path("/etc/codex")
_HARMLESS = frozenset({"agent_message", "reasoning", "error"})


class Codex:
    """See `ModelProgram`."""

    name, title, command = "codex", "Codex", "codex"
    probe: Sequence[str] = ("login", "status")

    def start(self, program: str, folder: Path, model: str, effort: str, clock: Clock) -> Invocation:
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        obeyed = [home / name for name in ("AGENTS.md", "AGENTS.override.md")]
        refuse_files(self.title, [*obeyed, *(_SYSTEM / name for name in ("config.toml", "managed_config.toml"))])
        environ = reduced_environ(folder, "CODEX_HOME")
        features = self._features(Invocation([program, "features", "list"], environ, folder), clock)
        off = [word for name in features for word in ("--disable", name)]
        settings = [*_SETTINGS, f"model_instructions_file={folder / 'instructions.md'}"]
        settings += [f"model_reasoning_effort={effort}"] if effort else []
        options = [word for each in settings for word in ("-c", each)]
        named = ["--model", model] if model else []
        return Invocation([program, "exec", *_ARGUMENTS, *off, *options, *named, "-"], environ, folder)

    def take(self, event: JsonObject, heard: Heard) -> None:
        item = mapping(event.get("item"))
        kind = text(item.get("type"))
        match event.get("type"):
            case "item.started" | "item.updated" | "item.completed" if kind not in _HARMLESS:
                raise own_tool(self.title, kind)
            case "item.completed" if kind == "agent_message":
                heard.new.append(text(item.get("text")))
            case "turn.completed":
                usage = mapping(event.get("usage"))
                cached, written = tokens(usage, "cached_input_tokens"), tokens(usage, "cache_write_input_tokens")
                heard.usage = Usage(tokens(usage, "input_tokens"), tokens(usage, "output_tokens"), cached, written)
                heard.is_over = True
            case "turn.failed":
                heard.failure = text(mapping(event.get("error")).get("message")) or "turn.failed"
                heard.is_over = True

    def _features(self, run: Invocation, clock: Clock) -> list[str]:
        """The features, apart from those that this version has no more: rows of a name, a stage and a value. The value
        is that of the person's settings, which do not count in the call: one that is off there may be on here."""
        rows = [line.split() for line in output_of(run, clock)[1].splitlines()]
        known = [row for row in rows if len(row) >= 3 and row[-1] in ("true", "false")]
        if not any(row[0] == "shell_tool" for row in known):
            raise failure_of(self, "`codex features list` does not list shell_tool")
        return [row[0] for row in known if "removed" not in row]
