"""A program's call as calls of the agent's own tools, and their result as text for the program.

Nothing is decided here: the tools, the policy and the approvals behind them decide.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from agent.dataclass import dataclass
from agent.errors import AgentError, NeedsApproval, StopRun, ToolRetry
from agent.interfaces.mcp.clients import Client, offered
from agent.interfaces.mcp.definitions import DEFINITIONS, Definition, ToolOffer
from agent.interfaces.mcp.searches import Searches
from agent.interfaces.mcp.toolset import toolset
from agent.interfaces.mcp.writing import as_note_call
from agent.llm.messages import Cancelled, JsonObject, ToolCall, never
from agent.tools import arguments
from agent.tools.approval_note import diff
from agent.tools.policy import Policies
from agent.tools.registry import Registry
from agent.tools.schema import problems, with_types
from agent.tools.tool import RunContext, tell_nobody
from agent.tools.wrappers import cut
from agent.vault.change import LEAVE
from agent.workspace.workspace import Workspace

_NAMES = {
    "vault_list or search_vault": "search",
    "vault_edit or vault_append": "old and new, or append",
    **{inner: each.name for each in DEFINITIONS for inner in each.stands_for},
    "vault_list": "search",
}
"""The agent's tools in the words of its errors, and what a program calls them."""
_ANY = "|".join(map(re.escape, sorted(_NAMES, key=len, reverse=True)))
_NAMED = re.compile(rf"(?<![\w/.-])(?:{_ANY})(?![\w/-]|\.\w)")
"""Their names in a sentence, but not in a path."""
_DIFF_CHARACTERS = 16_000


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call; `failed`: it was not carried out. `waits_for` is the note in which the person has to say
    yes before it is."""

    text: str
    failed: bool = False
    waits_for: str = ""


@dataclass(slots=True)
class Calls:
    """The calls of programs on one vault; may be used by several threads."""

    workspace: Workspace
    offer: ToolOffer
    policies: Policies
    searches: Searches
    registry: Registry

    def offered(self, client: Client) -> tuple[Definition, ...]:
        """The tools that the program may use, under the machine's policy."""
        return offered(self.offer, self.policies, client)

    def perform(
        self,
        name: str,
        call: JsonObject,
        client: Client,
        cancelled: Cancelled = never,
        progress: Callable[[str], object] = tell_nobody,
    ) -> CallResult:
        """Perform a call, which ends early once it is `cancelled`, and tells its `progress`; never raises for a call
        that is wrong or fails: the answer says what to do."""
        definition = next((each for each in self.offered(client) if each.name == name), None)
        if definition is None:
            return CallResult(self._unknown(name, client), failed=True)
        call = with_types(call, definition.parameters)
        if found := problems(call, definition.parameters):
            return CallResult("\n".join((f"{name} was not called:", *found)), failed=True)
        try:
            context = replace(client.context, cancelled=cancelled, progress=progress)
            if name in {"read", "write", "move"}:
                with client.lock:  # the base must be that of what is shown
                    return self._perform(definition, call, client, context)
            return self._perform(definition, call, client, context)
        except NeedsApproval as stop:
            return CallResult(self._format_waiting(stop), failed=True, waits_for=stop.path)
        except StopRun as stop:
            return CallResult(stop.message, failed=True)
        except AgentError as error:
            hint = f" ({error.hint})" if error.hint else ""
            return CallResult(_renamed(self.workspace.vault.masked(f"{error.message}{hint}")), failed=True)

    def close(self) -> None:
        """Close the index."""
        self.searches.close()

    def _perform(self, definition: Definition, call: JsonObject, client: Client, context: RunContext) -> CallResult:
        tool, given = self._translated(definition, call, client)
        asked = ToolCall(self.workspace.vault.clock.new_id(), tool, given)
        if call.get("dry_run") is True and tool != "vault_undo":
            return self._preview(asked, client)
        called = self.registry.call(asked, context)
        if called.given is None:
            return CallResult(_renamed(called.result.text), failed=True)
        path = called.given.sources[0].path if tool == "vault_read" and called.given.sources else ""
        path = path or (arguments.text(given, "path") if definition.name == "write" else "")
        base = client.context.shown.version(path) if path else ""
        return CallResult(f"base: {base}\n{called.result.text}" if base else called.result.text)

    def _translated(self, definition: Definition, call: JsonObject, client: Client) -> tuple[str, JsonObject]:
        """The agent's tool for this call, and its arguments."""
        name, vault = definition.name, self.workspace.vault
        if name == "write":
            return as_note_call(vault, call, client.context)
        if name == "inbox" and "text" in call:
            if not arguments.text(call, "text").strip():
                raise ToolRetry("the request is empty; leave text out to list what waits")
            return LEAVE, {"text": arguments.text(call, "text")}
        given = {key: value for key, value in call.items() if key != "dry_run" or name == "undo"}
        return definition.stands_for[0], given

    def _preview(self, asked: ToolCall, client: Client) -> CallResult:
        """The diff of what a call would change."""
        drafts = self.registry.preview(asked, client.context)
        shown = self.workspace.vault.masked(diff(drafts, "en"))
        changes = cut(shown, _DIFF_CHARACTERS) if shown else "nothing would change"
        return CallResult(f"nothing is written yet; this is what would change:\n{changes}")

    def _unknown(self, name: str, client: Client) -> str:
        names = ", ".join(each.name for each in self.offered(client))
        known = any(each.name == name for each in DEFINITIONS)
        why = "is switched off here" if known else "does not exist"
        return f"the tool {ascii(name[:80])[1:-1]} {why}; there are: {names or 'none'}"

    def _format_waiting(self, stop: NeedsApproval) -> str:
        return (
            f"Not done yet: the person has to say yes first. Ask them to tick the box in {stop.path}, or to run "
            f"`vault-agent needs`; then make the same call again.\n{_renamed(stop.message)}"
        )


def open_calls(workspace: Workspace, offer: ToolOffer, policies: Policies) -> Calls:
    """The calls on one vault."""
    searches = Searches(workspace)
    registry = toolset(workspace, searches, policies, read_only=offer.read_only)
    return Calls(workspace, offer, policies, searches, registry)


def _renamed(text: str) -> str:
    """An error of the agent's tools with their names as the program has them."""
    return _NAMED.sub(lambda found: _NAMES[found[0]], text)
