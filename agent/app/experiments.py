"""Proposes variants of skills with the vault's own agent: its models and its tools."""

from agent.app.agent import opened_runs
from agent.growth.lessons.variants import KnownTools, VariantModel, Variants
from agent.llm.messages import Cancelled, never
from agent.runs.service import RunService
from agent.runs.skill_lookup import skills_on_demand
from agent.tools.tool import RunContext
from agent.tools.tool_names import whole_tool
from agent.workspace.workspace import Workspace, reload_settings


def propose_variants(workspace: Workspace, cancelled: Cancelled = never, only: str = "") -> tuple[str, ...]:
    """Put a variant of each skill that may be changed on trial (or `only` of this one), or ask about it; returns the
    paths of the notes. Opens the agent only if there is such a skill.

    Raises `ConfigError`, what a transaction raises, and `Interrupted` when it is cancelled.
    """
    workspace = reload_settings(workspace)
    if not Variants(skills_on_demand(workspace)).candidates():
        return ()
    with opened_runs(workspace) as runs:
        model = VariantModel(runs.account, known_tools(runs))
        return tuple(Variants(runs.following.skills).propose(model, cancelled, only))


def known_tools(runs: RunService) -> KnownTools:
    """The tools that a run of the owner may use."""
    tools = runs.agent.tools.visible(RunContext("", ""))
    harmless = {tool.name for tool in tools if tool.readonly and not tool.egress and not tool.dangerous}
    names = {name for tool in tools for name in (tool.name, whole_tool(tool.name))}
    risky = {name for tool in tools if tool.name not in harmless for name in (tool.name, whole_tool(tool.name))}
    return KnownTools(frozenset(names), frozenset(names - risky))
