"""The providers of the settings: the main model, and a small one for summaries.

Without a model, `Offline` is used: no server is asked unless a person has configured one.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from agent.clock import Clock
from agent.config.run_settings import LlmSettings
from agent.llm.offline import Offline
from agent.llm.presets import Role, endpoint
from agent.llm.provider import Provider
from agent.llm.retry import Jitter
from agent.llm.scripted import Scripted

_WIRES = {"anthropic": ("agent.llm.anthropic", "Anthropic"), "openai": ("agent.llm.openai", "OpenAI")}


@dataclass(frozen=True, slots=True)
class Providers:
    """The main model, and the one for small tasks; the same one if only one is configured."""

    main: Provider
    fast: Provider


def providers(llm: LlmSettings, clock: Clock, count: Callable[[str], int], jitter: Jitter = random.random) -> Providers:
    """The models of the settings; `count` returns the tokens of a text. No connection is made yet.

    Raises `ConfigError` for incomplete settings; a missing key is only an error when a model is asked.
    """
    if llm.wire == "scripted":
        scripted = Scripted.load(llm.script, clock=clock)
        return Providers(scripted, scripted)
    main = _provider(llm, "main", clock, count, jitter)
    fast = _provider(llm, "fast", clock, count, jitter)
    return Providers(main, main if main.model == fast.model else fast)


def _provider(llm: LlmSettings, role: Role, clock: Clock, count: Callable[[str], int], jitter: Jitter) -> Provider:
    found = endpoint(llm, role)
    if found is None:
        return Offline()
    wire, place = found
    module, name = _WIRES[wire]
    made = getattr(import_module(module), name)  # only the wire that is used: they are slow to load
    return cast(Provider, made(place, clock, count, jitter))
