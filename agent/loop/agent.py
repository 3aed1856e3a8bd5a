"""The values that all runs of a vault share: models, tools, sources, limits. Built by `app`, used by `run`."""

from collections.abc import Callable
from dataclasses import field

from agent.clock import Clock
from agent.config.run_settings import ContextSettings
from agent.config.run_settings import RunSettings as Limits
from agent.context.budget import Count
from agent.context.source import Source
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.bus import Bus
from agent.llm.messages import Provider
from agent.llm.providers import Providers
from agent.loop.system_messages import SystemMessages
from agent.texts import Language
from agent.tools.registry import Registry
from agent.vault.store import Vault


def all_left() -> float:
    """All: for models that cost nothing."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Models(Providers):
    """The models of one run, metered on its account. `left` returns the part that is left of what the run may spend,
    from 0 to 1. `stand_in` answers a person where the main model fails before it has done anything; None: nothing
    does. `failure` is why it does, None while it does not."""

    left: Callable[[], float] = field(default=all_left, kw_only=True)
    stand_in: Provider | None = field(default=None, kw_only=True)
    failure: AgentError | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Agent:
    """One vault's agent. `models` returns the models for a run's id and its job (empty for none); `system` the system
    messages of sessions; `endnote` returns the text for
    people at the end of a run's note, empty for none."""

    vault: Vault
    clock: Clock
    bus: Bus
    models: Callable[[str, str], Models]
    tools: Registry
    system: SystemMessages
    sources: tuple[Source, ...]
    count: Count
    limits: Limits
    context: ContextSettings
    language: Language
    endnote: Callable[[str], str]
