"""A program's call as calls of the agent's own tools, and their result as text for the program.

Nothing is decided here: the tools, the policy and the approvals behind them decide.

`write` as a call of one of the agent's tools: which way is meant, and whether the version is the current one.

A program replaces only what it has read: it gives the base that it read, or has read those lines through this server.

All tools behind those that programs see, under the machine's policy, with a person's approval where it is needed.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.errors import AgentError, NeedsApproval, StopRun, ToolRetry
from agent.interfaces.mcp.clients import Client, offered
from agent.interfaces.mcp.definitions import DEFINITIONS, Definition, ToolOffer
from agent.interfaces.mcp.searches import Searches
from agent.lazy import later
from agent.llm.messages import Cancelled, JsonObject, ToolCall, never
from agent.memory.remember import SameWords
from agent.runs.decisions import approvals
from agent.runs.left_requests import GROUPS, is_answered_by_daemon, request_draft, request_subject
from agent.tools import arguments
from agent.tools.approval_note import diff
from agent.tools.arguments import problems, with_types
from agent.tools.builtin.changes import log_tool, undo_tool
from agent.tools.builtin.memory import MemoryTools
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.search import recall_tool, search_tool
from agent.tools.builtin.vault import find_section, vault_tools
from agent.tools.note_access import check_readable
from agent.tools.policy import Policies
from agent.tools.registry import Registry
from agent.tools.seen_notes import version_of
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import Draft, Effect, RunContext, Tool, ToolOutput, ignore_progress
from agent.tools.wrappers import cut
from agent.vault.change import LEAVE
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:
    from agent.interfaces.mcp.asked_tasks import AskedTasks, ask_agent
    from agent.interfaces.mcp.late_tools import list_inbox, list_jobs
else:  # few programs call them
    ask_agent = later("agent.interfaces.mcp.asked_tasks", "ask_agent")
    list_inbox = later("agent.interfaces.mcp.late_tools", "list_inbox")
    list_jobs = later("agent.interfaces.mcp.late_tools", "list_jobs")

_SHORTEST = 6
_WAYS = "give content, or old and new, or append"


def as_note_call(vault: Vault, call: JsonObject, context: RunContext) -> tuple[str, JsonObject]:
    """The tool and its arguments; raises `ToolRetry` with what to do, and what reading the note raises."""
    path, heading = arguments.text(call, "path"), arguments.text(call, "heading")
    forms = [name for name in ("content", "append") if name in call]
    forms += ["old and new"] if "old" in call or "new" in call else []
    if len(forms) != 1:
        raise ToolRetry(f"{_WAYS}: one of them" + (f", not {' and '.join(forms)}" if forms else ""))
    data = vault.read(check_readable(path))
    if "base" in call:
        _check_base(path, data, arguments.text(call, "base"), context)
    if "append" in call:
        more: JsonObject = {"heading": heading} if heading else {}
        return "vault_append", {"path": path, "text": arguments.text(call, "append"), **more}
    if "content" not in call:
        if heading or not ("old" in call and "new" in call):
            raise ToolRetry("to replace a piece of text give old and new, and no heading")
        return "vault_edit", {"path": path, "old": arguments.text(call, "old"), "new": arguments.text(call, "new")}
    content = arguments.text(call, "content")
    if heading:
        return "vault_edit", _section_call(path, data, heading, content, context)
    if data is not None and not context.seen.is_whole(path, data) and data != content.encode():
        raise ToolRetry(
            f"{path} exists: read it, then write with the base that read gives; or change a part with old and new, "
            "or append"
        )
    return "vault_write", {"path": path, "content": content}


def _check_base(path: str, data: bytes | None, base: str, context: RunContext) -> None:
    """Note that the program knows the version `data`, if `base` names it; raises `ToolRetry` otherwise."""
    if data is None:
        raise ToolRetry(f"there is no note {path} any more; log says what became of it, or write it without base")
    now = version_of(data)
    if len(base) < _SHORTEST or not now.startswith(base[: len(now)].lower()):
        raise ToolRetry(
            f"nothing was written: {path} is at base {now}, not {base}. Read it again, bring your change into what is "
            "there now, and write with the new base"
        )
    context.seen.add(path, data)


def _section_call(path: str, data: bytes | None, heading: str, content: str, context: RunContext) -> JsonObject:
    """The arguments that replace the text of a section, and keep its heading."""
    if data is None:
        raise ToolRetry(f"there is no note {path}: write it without heading")
    section = find_section(data, heading, path)
    if not context.seen.has_lines(path, data, section.lines):
        raise ToolRetry(f"read that section of {path} first: what you have not seen would be lost")
    try:
        rows = data.decode().split("\n")[section.lines[0] - 1 : section.lines[1]]
    except UnicodeDecodeError as error:
        raise ToolRetry(f"{path} is not UTF-8 text and cannot be edited") from error
    while len(rows) > 1 and not rows[-1].strip():
        rows.pop()
    body = content.strip("\n")
    first = body.partition("\n")[0]
    whole = body if " ".join(first.split()) == section.heading else f"{rows[0].rstrip()}\n\n{body}"
    return {"path": path, "old": "\n".join(rows), "new": whole}


_TEXT: JsonObject = {"type": "string", "minLength": 1, "maxLength": 2_000}
_TASK: JsonObject = {**_TEXT, "maxLength": 20_000}


def toolset(
    workspace: Workspace, searches: Searches, tasks: "AskedTasks", policies: Policies, *, read_only: bool
) -> Registry:
    """The tools for programs; with `read_only` only those that change nothing. `tasks` are those of the agent."""
    vault = workspace.vault
    notes = Notes(vault, text_origin_of(vault), workspace.texts)
    schema = arguments.schema
    jobs, inbox = partial(list_jobs, workspace), partial(list_inbox, workspace)
    ask = partial(ask_agent, workspace, tasks)
    tools = [
        *vault_tools(notes),
        search_tool(notes, searches.search),
        recall_tool(notes, searches.remembered),
        *MemoryTools(notes, vault.clock, SameWords(vault), workspace.settings.vault.language).tools(),
        log_tool(vault),
        undo_tool(vault),
        Tool("jobs.list", "List the jobs.", schema(id=_TEXT), jobs, frozenset({"schedule"}), readonly=True),
        Tool("inbox_list", "List what waits.", schema(), inbox, frozenset({"human"}), readonly=True),
        _leave_tool(workspace, notes),
        Tool("agent_ask", "Give the agent a task.", schema(task=_TASK, session=_TEXT), ask,
             frozenset({"orchestration"}), timeout=0),
    ]  # fmt: skip

    def may_use(tool: Tool, context: RunContext) -> bool:
        return tool.readonly or not read_only

    return Registry(tools, policies, approvals(workspace).guard, vault.clock, may_use, vault.masked)


def _leave_tool(workspace: Workspace, notes: Notes) -> Tool:
    """`inbox_leave`; what a program read from strangers taints the run that answers, as it does its note."""

    def plan(call: JsonObject, context: RunContext) -> tuple[Draft, ...]:
        return (request_draft(workspace, arguments.text(call, "text")),)

    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        (draft,) = drafts = plan(call, context)
        done = notes.commit(LEAVE, context, request_subject(draft), drafts)
        by = "the daemon answers in it" if is_watched(workspace) else "no daemon is at work: the next one answers in it"
        if not is_answered_by_daemon(workspace, draft.path):
            by = f"by the settings nobody answers by itself: vault-agent ask --note '{draft.path}' does"
        return replace(done, text=f"{done.text}\nthe request is in {draft.path}; {by}")

    def paths(call: JsonObject) -> tuple[str, ...]:
        return (request_draft(workspace, arguments.text(call, "text")).path,)

    schema = arguments.schema("text", text=_TASK)
    effect = Effect(paths, plan, notes.done)
    return Tool(LEAVE, "Leave a request.", schema, perform, GROUPS, effect=effect)


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
    tasks: "AskedTasks"

    def offered(self, client: Client) -> tuple[Definition, ...]:
        """The tools that the program may use, under the machine's policy."""
        return offered(self.offer, self.policies, client)

    def perform(
        self,
        name: str,
        call: JsonObject,
        client: Client,
        cancelled: Cancelled = never,
        progress: Callable[[str], object] = ignore_progress,
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
        """Close the index, and leave the tasks of the agent to themselves."""
        self.searches.close()
        for each in self.tasks.values():
            each.close()

    def _perform(self, definition: Definition, call: JsonObject, client: Client, context: RunContext) -> CallResult:
        tool, values = self._translated(definition, call, client)
        asked = ToolCall(self.workspace.vault.clock.new_id(), tool, values)
        if call.get("dry_run") is True and tool != "vault_undo":
            return self._preview(asked, client)
        called = self.registry.call(asked, context)
        if called.output is None:
            return CallResult(_renamed(called.result.text), failed=True)
        path = called.output.sources[0].path if tool == "vault_read" and called.output.sources else ""
        path = path or (arguments.text(values, "path") if definition.name == "write" else "")
        base = client.context.seen.version(path) if path else ""
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
        own = {key: value for key, value in call.items() if key != "dry_run" or name == "undo"}
        return definition.stands_for[0], own

    def _preview(self, asked: ToolCall, client: Client) -> CallResult:
        """The diff of what a call would change."""
        drafts = self.registry.preview(asked, client.context)
        change = self.workspace.vault.masked(diff(drafts, "en"))
        changes = cut(change, _DIFF_CHARACTERS) if change else "nothing would change"
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
    tasks: AskedTasks = {}
    registry = toolset(workspace, searches, tasks, policies, read_only=offer.read_only)
    return Calls(workspace, offer, policies, searches, registry, tasks)


def _renamed(text: str) -> str:
    """An error of the agent's tools with their names as the program has them."""
    return _NAMED.sub(lambda found: _NAMES[found[0]], text)
