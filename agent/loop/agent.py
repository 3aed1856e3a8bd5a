"""The values that all runs of a vault share: models, tools, sources, limits. Built by `app`, used by `run`."""

from collections.abc import Callable, Sequence
from dataclasses import field

from agent.clock import Clock
from agent.config.run_settings import ContextSettings
from agent.config.run_settings import RunSettings as Limits
from agent.context.budget import Count
from agent.context.source import Source
from agent.context.tool_choice import Score
from agent.dataclass import dataclass
from agent.events.bus import Bus
from agent.llm.providers import Providers
from agent.loop.system_messages import SystemMessages
from agent.texts import Language
from agent.tools.registry import Registry
from agent.tools.tool import RunContext
from agent.vault.store import Vault


def all_left() -> float:
    """All: for models that cost nothing."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Models(Providers):
    """The models of one run, metered on its account. `left` returns the part that is left of what the run may spend,
    from 0 to 1."""

    left: Callable[[], float] = field(default=all_left, kw_only=True)


@dataclass(frozen=True, slots=True)
class Agent:
    """One vault's agent. `models` returns the models for a run's id and its job (empty for none); `system` the system
    messages of sessions; `relevance` the fit of texts to a task; `names_tool` is True for a tool that a skill of
    the run names; `keep` saves facts that the model selected before a compaction; `endnote` returns the text for people
    at the end of a run's note, empty for none."""

    vault: Vault
    clock: Clock
    bus: Bus
    models: Callable[[str, str], Models]
    tools: Registry
    system: SystemMessages
    sources: tuple[Source, ...]
    relevance: Score | None
    names_tool: Callable[[str, RunContext], bool]
    keep: Callable[[Sequence[str], RunContext], None]
    count: Count
    limits: Limits
    context: ContextSettings
    language: Language
    endnote: Callable[[str], str]
