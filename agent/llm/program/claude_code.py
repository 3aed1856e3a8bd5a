"""Claude Code as a model (`claude --print`): its options switch off tools, MCP servers, settings, hooks, memory, skills
and saved sessions, and its first event lists what is left, which has to be nothing."""

from collections.abc import Sequence
from pathlib import Path

from agent.clock import Clock
from agent.errors import Permanent
from agent.llm.messages import JsonObject, Usage, items, mapping, text
from agent.llm.program.client import Heard, own_tool, reduced_environ, refuse_files, tokens
from agent.llm.program.process import Invocation
from agent.platform.here import platform

_ARGUMENTS = (
    *("--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages"),
    *("--tools", "", "--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands", "--safe-mode"),
    *("--no-session-persistence", "--no-chrome", "--name", "vault-agent"),  # without a name it asks for a title
)
_MANAGED = platform().managed("ClaudeCode", "claude-code")
"""What an administrator lays down counts in every mode."""
_OBEYED = ("managed-settings.json", "managed-settings.d", "managed-mcp.json", "CLAUDE.md")


class ClaudeCode:
    """See `ModelProgram`."""

    name, title, command = "claude-code", "Claude Code", "claude"
    probe: Sequence[str] = ("auth", "status")

    def start(self, program: str, folder: Path, model: str, effort: str, clock: Clock) -> Invocation:
        refuse_files(self.title, [_MANAGED / name for name in _OBEYED])
        more = [*(["--model", model] if model else []), *(["--effort", effort] if effort else [])]
        instructions = ["--system-prompt-file", str(folder / "instructions.md")]
        environ = reduced_environ(
            folder,
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_OAUTH_TOKEN",
            CLAUDE_CODE_DISABLE_ATTACHMENTS="1",  # an @path in a text is no request to read that file
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            DISABLE_AUTOUPDATER="1",
        )
        return Invocation([program, *_ARGUMENTS, *more, *instructions], environ, folder)

    def take(self, event: JsonObject, heard: Heard) -> None:
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                for name in ("tools", "mcp_servers", "plugins", "skills"):
                    if name == "tools" and name not in event:
                        raise own_tool(self.title, name)
                    if found := items(event.get(name)):
                        raise own_tool(self.title, f"{name}: {text(found[0]) or '…'}")
                heard.is_checked = True
            case "stream_event":
                self._stream(mapping(event.get("event")), heard)
            case "assistant":
                for each in items(mapping(event.get("message")).get("content")):
                    if "tool" in text(mapping(each).get("type")):
                        raise own_tool(self.title, text(mapping(each).get("name")))
            case "result":
                self._end(event, heard)

    def _stream(self, event: JsonObject, heard: Heard) -> None:
        match event.get("type"):
            case "message_start":
                heard.model, heard.is_cut = text(mapping(event.get("message")).get("model")), False
            case "content_block_start":
                kind = text(mapping(event.get("content_block")).get("type"))
                if "tool" in kind:
                    raise own_tool(self.title, kind)
            case "message_delta":
                heard.is_cut = mapping(event.get("delta")).get("stop_reason") == "max_tokens"
            case "content_block_delta":
                delta = mapping(event.get("delta"))
                if delta.get("type") == "text_delta":
                    self._say(text(delta.get("text")), heard)

    def _say(self, words: str, heard: Heard) -> None:
        if not heard.is_checked:
            raise Permanent("{title} did not say which tools it has", hint="update {title}", title=self.title)
        heard.new.append(words)
        heard.text += words

    def _end(self, event: JsonObject, heard: Heard) -> None:
        usage = mapping(event.get("usage"))
        cached = tokens(usage, "cache_read_input_tokens")
        written = tokens(usage, "cache_creation_input_tokens")
        whole = tokens(usage, "input_tokens") + cached + written
        heard.usage = Usage(whole, tokens(usage, "output_tokens"), cached, written)
        heard.is_over = True
        if heard.is_cut and heard.text:
            return  # what it has said is the begin of the answer, whatever it says of that
        if event.get("is_error") or event.get("subtype") != "success":
            heard.failure = text(event.get("result")) or text(event.get("subtype"))
        elif (answer := text(event.get("result"))).startswith(heard.text):
            self._say(answer[len(heard.text) :], heard)  # where it could not stream, all of it comes here only
