"""`web_search` and `research`: a model in a conversation looks something up, by the person's search engines.

A research runs within the call, with the limits and the spend that `vault-agent research` has; its report is a note.
What either finds is a stranger's text.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from agent.errors import ToolFailed, ToolRetry
from agent.lazy import later
from agent.llm.messages import JsonObject
from agent.tools import arguments
from agent.tools.builtin.web import NETWORK, WebNetwork
from agent.tools.tool import Cited, RunContext, Tool, ToolOutput
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:  # few runs look anything up
    from agent.growth.research.findings import Research, ResearchCall, ResearchKind
    from agent.growth.research.reading import Reading
    from agent.growth.research.research import commit_research, research
    from agent.growth.research.web_source import WebSource, engines_of
    from agent.runs.service import RunService
else:
    engines_of = later("agent.growth.research.web_source", "engines_of")
    commit_research = later("agent.growth.research.research", "commit_research")
    research = later("agent.growth.research.research", "research")
    ResearchCall = later("agent.growth.research.findings", "ResearchCall")
    WebSource = later("agent.growth.research.web_source", "WebSource")

_FOUND = 8
_EXCERPT = 300
_KINDS = ("topic", "fact", "deep")
"""A repository is read from a folder outside of the vault, which only its person names."""


def research_tools(
    workspace: Workspace, runs: Callable[[], "RunService"], network: WebNetwork = NETWORK
) -> tuple[Tool, ...]:
    """The tools; `web_search` only where a search engine is set. `runs` gives the service whose runs call them."""
    topic: JsonObject = {"type": "string", "minLength": 3, "maxLength": 1_000}
    kind: JsonObject = {"type": "string", "enum": list(_KINDS)}

    def look_up(call: JsonObject, context: RunContext) -> ToolOutput:
        return _research(runs(), call, context, network)

    tool = Tool(
        "research",
        "Research a topic or check a fact in the vault and on the web, in minutes; writes a report with sources.",
        arguments.schema("topic", topic=topic, kind=kind),
        look_up,
        frozenset({"web", "orchestration"}),
        egress=True,
        timeout=0,
        seldom=True,
    )
    return (_web_search(workspace, network), tool) if workspace.settings.research.has_engine else (tool,)


def _web_search(workspace: Workspace, network: WebNetwork) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        query, clock, known = arguments.text(call, "query").strip(), workspace.vault.clock, workspace.vault.known
        engines = engines_of(workspace.settings.research, clock)
        web = WebSource(query, engines, (), clock, lambda: known.values, network)
        found = web.search(query, _FOUND, context.cancelled)
        if not found:
            return ToolOutput("nothing was found; try other words")
        rows = "\n".join(_format_found(number, each) for number, each in enumerate(found, 1))
        return ToolOutput(f"{rows}\n\nweb_fetch reads a page.", untrusted=web.name)

    schema = arguments.schema("query", query={"type": "string", "minLength": 1, "maxLength": 400})
    group = frozenset({"web"})
    return Tool("web_search", "Search the web.", schema, perform, group, readonly=True, egress=True, seldom=True)


def _format_found(number: int, found: "Reading") -> str:
    excerpt = f"{found.excerpt[:_EXCERPT]}…" if len(found.excerpt) > _EXCERPT else found.excerpt
    day = f" ({found.date})" if found.date else ""
    return "\n   ".join(filter(None, (f"{number}. {found.title}{day}", found.address, excerpt)))


def _research(runs: "RunService", call: JsonObject, context: RunContext, network: WebNetwork) -> ToolOutput:
    """Do a research within a run."""
    if context.writes is not None or context.role != "owner":
        raise ToolRetry("this run may not write a report; read the notes and pages that you need yourself")
    asked = ResearchCall(
        arguments.text(call, "topic").strip(),
        cast("ResearchKind", arguments.text(call, "kind") or "topic"),
        job=context.job,
        spend=context.spend,
        cancelled=context.cancelled,
        network=network,
    )
    found = research(runs, asked)
    commits = commit_research(runs, found, asked)
    if found.end == "stopped":
        raise ToolFailed(f"the research was stopped; what was found until then is in {found.path}")
    cited = (Cited(found.path, (1, 1)),) if runs.workspace.vault.read(found.path) is not None else ()
    return ToolOutput(_format_research(found), cited, bool(commits), untrusted=", ".join(found.strangers[:_FOUND]))


def _format_research(found: "Research") -> str:
    """Where the report is, what it says in short, and what it is not."""
    head = f"report: {found.path}; {len(found.sources)} sources, {found.calls} of {found.most} calls"
    cited = [each for each in found.sources if each.number in found.findings.cited] or found.sources
    sources = "\n".join(f"[{each.number}] {each.title} {each.address}" for each in cited)
    missing = "" if found.sources else "nothing was found"
    gaps = "\n".join(f"left open: {each.words}" for each in found.findings.gaps[:_FOUND])
    how = "\n".join(found.remarks)
    return "\n\n".join(filter(None, (head, how, found.why, missing, found.short or found.text, gaps, sources)))
