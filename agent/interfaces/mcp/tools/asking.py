"""A task for the vault's own agent, which runs under the policy for programs."""

from collections.abc import Iterator
from contextlib import closing

from agent.app.agent import build_runs
from agent.errors import AgentError, ToolFailed
from agent.events.runs import Speaker
from agent.llm.messages import JsonObject
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.request import RunRequest
from agent.loop.session import load_session
from agent.runs.crash_recovery import close_cut_off
from agent.runs.run_io import RunIO
from agent.tools import arguments
from agent.tools.note_access import check_readable
from agent.tools.tool import RunContext, ToolOutput
from agent.workspace.catch_up import catch_up
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace, reload_settings

_SOURCES = 12


def ask_agent(workspace: Workspace, call: JsonObject, context: RunContext) -> ToolOutput:
    """The agent's answer; the agent is built for each task, and closed after it."""
    task, session = arguments.text(call, "task").strip(), arguments.text(call, "session")
    if session:
        session = check_readable(session if session.endswith(".md") else f"{session}.md")
    ended = _run(workspace, RunRequest(task, Speaker(context.channel)), session, context)
    if ended.failure is not None:
        reason = ended.failure.message if isinstance(ended.failure, AgentError) else ended.reason
        raise ToolFailed(f"the agent could not do it: {reason}; the run is in {ended.session}")
    untrusted = "; ".join(load_session(workspace.vault, ended.session).untrusted)
    return ToolOutput("\n".join(_lines(ended)), ended.sources, ended.commits, untrusted)


def _run(workspace: Workspace, asked: RunRequest, session: str, context: RunContext) -> Ended:
    """One run with the current settings; what the program has read from strangers taints it."""
    fresh = reload_settings(workspace)
    with closing(open_index(fresh)) as index:
        close_cut_off(fresh)
        catch_up(fresh, index)
        with closing(build_runs(fresh, index)) as runs:
            untrusted = "; ".join(context.taint.sources)
            return runs.ask(asked, session, RunIO(cancelled=context.cancelled), untrusted)


def _lines(ended: Ended) -> Iterator[str]:
    yield ended.answer or "(no answer)"
    yield ""
    if ended.outcome.waits:
        yield f"It waits for the person, who decides in {ended.waits_for}; then the agent goes on by itself."
    elif ended.outcome is not RunOutcome.FINISHED:
        yield f"It ended early ({ended.outcome.value}): {ended.reason}"
    if ended.queued:
        yield f"What it changed waits to be written: {ended.queued}"
    sources = dict.fromkeys(each.path for each in (*ended.used, *ended.sources))
    if sources:
        yield f"Sources: {', '.join([*sources][:_SOURCES])}"
    yield f"Session: {ended.session}"
