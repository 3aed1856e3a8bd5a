"""The providers of the settings: the main model, and those for other kinds of work.

Without a model, `Offline` is used: no server is asked unless a person has configured one.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from importlib import import_module
from typing import Self, cast

from agent.clock import Clock
from agent.config.run_settings import LlmSettings
from agent.dataclass import dataclass
from agent.llm.endpoint import Endpoint
from agent.llm.known_models import ModelMemory
from agent.llm.messages import Provider
from agent.llm.offline import Offline
from agent.llm.presets import ALL_KINDS, KINDS, ModelKind, WireName, endpoint
from agent.llm.retry import Jitter, OnRetry, ignore_retry
from agent.llm.scripted import Scripted

_WIRES = {
    "anthropic": ("agent.llm.anthropic", "Anthropic"),
    "openai": ("agent.llm.openai", "OpenAI"),
    "responses": ("agent.llm.responses", "Responses"),
    "program": ("agent.llm.program.provider", "ProgramModel"),
}


@dataclass(frozen=True, slots=True)
class Providers:
    """The models by kind of work: `main` for the work itself, `fast` for summaries and other small tasks. `others` has
    those of further kinds; without one, the main model is used. `fallback` does any work whose model does not answer;
    None: nothing does."""

    main: Provider
    fast: Provider
    others: Mapping[ModelKind, Provider] = field(default_factory=dict)
    fallback: Provider | None = None

    def of(self, kind: ModelKind) -> Provider:
        """The model for a kind of work."""
        found = {"main": self.main, "fast": self.fast, "fallback": self.fallback, **self.others}
        return found.get(kind) or self.main

    def doing(self, kind: ModelKind) -> Self:
        """The same models for work of a kind, which is done by its model in place of the main one."""
        return replace(self, main=self.of(kind))

    def wrapped(self, wrap: Callable[[Provider], Provider]) -> Self:
        """The same models, each wrapped."""
        others = {kind: wrap(each) for kind, each in self.others.items()}
        fallback = None if self.fallback is None else wrap(self.fallback)
        return replace(self, main=wrap(self.main), fast=wrap(self.fast), others=others, fallback=fallback)


def providers(
    llm: LlmSettings,
    clock: Clock,
    count: Callable[[str], int],
    jitter: Jitter = random.random,
    on_retry: OnRetry = ignore_retry,
    memory: ModelMemory | None = None,
) -> Providers:
    """The models of the settings; `count` returns the tokens of a text, `memory` has what was learned of models before.
    No connection is made yet.

    Equal endpoints share one provider. Raises `ConfigError` for incomplete settings; a missing key is only an error
    when a model is asked.
    """
    if llm.wire == "scripted":
        scripted = Scripted.load(llm.script, clock=clock)
        return Providers(scripted, scripted)
    endpoints = {kind: endpoint(llm, kind) for kind in ALL_KINDS}
    made: list[tuple[tuple[WireName, Endpoint] | None, Provider]] = []

    def provider(kind: ModelKind) -> Provider:
        for place, known in made:
            if place == endpoints[kind]:
                return known
        made.append((endpoints[kind], open_provider(endpoints[kind], clock, count, jitter, on_retry, memory)))
        return made[-1][1]

    main, fast = provider("main"), provider("fast")
    others = {kind: provider(kind) for kind in KINDS[2:] if provider(kind) is not main}
    return Providers(main, fast, others, provider("fallback") if endpoints["fallback"] else None)


def open_provider(
    found: tuple[WireName, Endpoint] | None,
    clock: Clock,
    count: Callable[[str], int],
    jitter: Jitter,
    on_retry: OnRetry = ignore_retry,
    memory: ModelMemory | None = None,
) -> Provider:
    """The provider of an endpoint; the offline one for None."""
    if found is None:
        return Offline()
    wire, place = found
    module, name = _WIRES[wire]
    made = getattr(import_module(module), name)  # only the wire that is used: they are slow to load
    return cast(Provider, made(place, clock, count, jitter, on_retry, memory))
