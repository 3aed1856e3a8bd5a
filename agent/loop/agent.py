"""What all runs of a vault share: its models, tools, sources, limits. Built by `app`, used by `run`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.config.run_settings import ContextSettings
from agent.config.run_settings import RunSettings as Limits
from agent.context.budget import Count
from agent.context.choice import Score
from agent.context.source import Source
from agent.events.bus import Bus
from agent.llm.provider import Provider
from agent.texts import Language
from agent.tools.registry import Registry
from agent.tools.tool import RunContext
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Models:
    """The models of one run, metered on its account: `main` for the work, `fast` for summaries."""

    main: Provider
    fast: Provider


@dataclass(frozen=True, slots=True)
class Agent:
    """One vault's agent. `models` gives the models for a run's id and the job it belongs to (empty for none);
    `system` what holds for a new session; `relevance` how well each of some texts
    fits a task; `keep` saves facts that the model wants kept before a compaction; `endnote` says what a person is to
    read at the end of a run's note, empty for nothing."""

    vault: Vault
    clock: Clock
    bus: Bus
    models: Callable[[str, str], Models]
    tools: Registry
    system: Callable[[], str]
    sources: tuple[Source, ...]
    relevance: Score | None
    keep: Callable[[Sequence[str], RunContext], None]
    count: Count
    limits: Limits
    context: ContextSettings
    language: Language
    endnote: Callable[[str], str]
