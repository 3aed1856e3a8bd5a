"""Looks whether the model's server answers.

The server is asked which models it has, which costs nothing and sends no text; a program, whether it is signed in.
"""

import random
from dataclasses import replace

from agent.clock import Clock
from agent.config.run_settings import LlmSettings
from agent.dataclass import dataclass
from agent.errors import AgentError, ConfigError, Interrupted, Retryable
from agent.llm.endpoint import Endpoint
from agent.llm.presets import ModelKind, WireName, endpoint
from agent.llm.program.provider import ProgramModel
from agent.llm.providers import open_provider
from agent.llm.wire import Wire

SECONDS = 6.0
"""The longest time to wait for the server: a person waits for it at the terminal."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A server that has answered. `model` is the model that will be asked there, empty if none is set yet; `models` are
    the names that the server lists, empty if it lists none."""

    place: str
    model: str
    models: tuple[str, ...]
    seconds: float

    @property
    def lists_model(self) -> bool:
        """True if the server lists the model, or lists nothing; a longer name, with a date or a size, is the same."""
        return not self.models or any(name.startswith(self.model) for name in self.models)


def try_connection(llm: LlmSettings, kind: ModelKind, clock: Clock) -> Connection | None:
    """Ask the server of the model for a kind of work what it has; None if no server is configured.

    Raises `ConfigError` for settings that name no server, `MissingKey`, `Permanent` for a server that refuses, and
    `Retryable` for one that cannot be reached within `SECONDS`.
    """
    named = True
    try:
        found = endpoint(llm, kind)
    except ConfigError:
        if not (llm.preset or llm.base_url):
            raise
        named = False
        found = endpoint(replace(llm, model="any"), kind)  # only the model's name is missing, or this raises again
    if found is None:
        return None
    wire, place = found
    began = clock.monotonic()
    models = _listed(wire, place, clock)
    return Connection(place.place, place.model.name if named else "", models, clock.monotonic() - began)


def own_models(llm: LlmSettings, preset: str, clock: Clock) -> tuple[str, ...]:
    """The names of the models that the person's own server of a preset has; none for a service of somebody else, which
    is not asked, and for a server that does not answer."""
    try:
        found = endpoint(replace(llm, preset=preset, model="any"), "main")
        if found is None or found[0] == "program" or found[1].hosted:
            return ()
        return _listed(*found, clock)
    except AgentError:
        return ()


def _listed(wire: WireName, place: Endpoint, clock: Clock) -> tuple[str, ...]:
    provider = open_provider((wire, replace(place, timeout=SECONDS, retries=0)), clock, len, random.random)
    if isinstance(provider, ProgramModel):
        provider.check()
        return ()
    assert isinstance(provider, Wire)
    began = clock.monotonic()
    try:
        return provider.models(lambda: clock.monotonic() - began > SECONDS)
    except Interrupted as error:
        raise Retryable(
            "{place} has not answered within {seconds:g} s",
            hint="check your network",
            place=place.place,
            seconds=SECONDS,
        ) from error
