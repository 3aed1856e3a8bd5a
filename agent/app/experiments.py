"""Proposes variants of skills with the vault's own agent: its models, its tools, and the measured gate."""

from functools import partial

from agent.app.agent import opened_runs
from agent.app.replays import measured
from agent.growth.mutations.mutations import KnownTools, MutationModel, Mutations
from agent.llm.provider import Cancelled, never
from agent.runs.service import RunService
from agent.runs.skill_lookup import skills_on_demand
from agent.tools.tool import RunContext
from agent.workspace.workspace import Workspace, reload_settings


def propose_variants(workspace: Workspace, cancelled: Cancelled = never, only: str = "") -> tuple[str, ...]:
    """Put a variant of each skill that may be changed on trial (or `only` of this one), or ask about it; returns the
    paths of the notes. Opens the agent only if there is such a skill.

    Raises `ConfigError`, what a transaction raises, and `Interrupted` when it is cancelled.
    """
    workspace = reload_settings(workspace)
    if not Mutations(skills_on_demand(workspace)).candidates():
        return ()
    with opened_runs(workspace) as runs:
        measure = partial(measured, runs.workspace, lambda: runs.recall.library.chosen, cancelled=cancelled)
        model = MutationModel(runs.account, known_tools(runs), measure)
        return tuple(Mutations(runs.following.skills).propose(model, cancelled, only))


def known_tools(runs: RunService) -> KnownTools:
    """The tools that a run of the owner may use."""
    tools = runs.agent.tools.visible(RunContext("", ""))
    harmless = (tool.name for tool in tools if tool.readonly and not tool.egress and not tool.dangerous)
    return KnownTools(frozenset(tool.name for tool in tools), frozenset(harmless))
