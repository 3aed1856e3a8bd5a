"""All tools behind those that programs see, under the machine's policy, with a person's approval where it is needed."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from agent.interfaces.mcp.searches import Searches
from agent.llm.messages import JsonObject
from agent.memory.remember import SameWords
from agent.runs.decisions import approvals
from agent.runs.left_requests import GROUPS, is_answered_by_daemon, request_draft, request_subject
from agent.tools import arguments
from agent.tools.builtin.changes import log_tool, undo_tool
from agent.tools.builtin.memory import MemoryTools
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.search import recall_tool, search_tool
from agent.tools.builtin.vault import vault_tools
from agent.tools.policy import Policies
from agent.tools.registry import Registry
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import Draft, Effect, RunContext, Tool, ToolOutput
from agent.vault.change import LEAVE
from agent.workspace.workspace import Workspace, is_watched

_TEXT: JsonObject = {"type": "string", "minLength": 1, "maxLength": 2_000}
_TASK: JsonObject = {**_TEXT, "maxLength": 20_000}


def toolset(workspace: Workspace, searches: Searches, policies: Policies, *, read_only: bool) -> Registry:
    """The tools for programs; with `read_only` only those that change nothing."""
    vault = workspace.vault
    notes = Notes(vault, text_origin_of(vault), workspace.texts)
    schema = arguments.schema
    jobs, inbox = _late(workspace, "waiting", "list_jobs"), _late(workspace, "waiting", "list_inbox")
    ask = _late(workspace, "asking", "ask_agent")
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
        Tool("agent_ask", "Give the agent a task.", schema("task", task=_TASK, session=_TEXT), ask,
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


def _late(workspace: Workspace, module: str, function: str) -> Callable[[JsonObject, RunContext], Any]:
    """A function of a module in `tools/`, which is loaded when it is called: few programs call it."""

    def call(given: JsonObject, context: RunContext) -> Any:
        found = getattr(import_module(f"agent.interfaces.mcp.tools.{module}"), function)
        return found(workspace, given, context)

    return call
