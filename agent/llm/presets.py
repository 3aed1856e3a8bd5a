"""Presets: providers from `configs/models.yaml`, loaded once and combined with the settings.

Returns a model's endpoint and wire; `providers` builds the providers. What is known of a model is in `known_models`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Literal, TypeAlias, get_args

from agent.config.resources import resource
from agent.config.run_settings import LlmSettings, ModelSettings
from agent.config.secrets import Secret
from agent.config.values import quote_for_message
from agent.dataclass import dataclass
from agent.errors import ConfigError, Permanent
from agent.llm.endpoint import Endpoint, Limit, base_url
from agent.llm.known_models import (
    HOSTED_WINDOW,
    LONGEST_ANSWER,
    OWN_WINDOW,
    KnownModel,
    ModelPrice,
    known_model,
    parse_models,
    sees_pictures,
)
from agent.llm.messages import Json, JsonObject, Model, mapping, parsed
from agent.texts import Sentence, joined

WireName: TypeAlias = Literal["openai", "responses", "anthropic", "program"]
"""How a model is spoken to; `program`: by a program on this machine, whose address is `program://NAME`."""
ModelKind: TypeAlias = Literal["main", "fast", "reflection", "user", "research", "jobs", "tasks", "fallback"]
"""A kind of work that may have a model of its own; `fallback`: any work, when its own model does not answer."""
KINDS: tuple[ModelKind, ...] = ("main", "fast", "reflection", "user", "research", "jobs", "tasks")
"""The kinds of work that always have a model."""
ALL_KINDS: tuple[ModelKind, ...] = get_args(ModelKind)
_WIRES: Mapping[str, WireName] = {name: name for name in get_args(WireName)}
_OF_OPENAI = frozenset({"openai", "responses"})
"""The two wires of one server: a preset for one of them can be spoken to by the other."""
_OPENAI_HOST = re.compile(r"https://api\.openai\.com(?:/|$)")
_LIMITS: Mapping[str, Limit] = {"max_tokens": "max_tokens", "max_completion_tokens": "max_completion_tokens"}


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider. `key` is the environment variable of its key, empty if it needs none; `main` is the default model,
    empty if there is no model that every user has."""

    wire: WireName
    base_url: str
    key: str = ""
    main: str = ""
    fast: str = ""
    limit: Limit = "max_tokens"

    def usual(self, kind: ModelKind) -> str:
        """The model for a kind of work; empty if there is none that every user has."""
        return (self.fast if kind == "fast" else "") or self.main


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The whole table of providers and models."""

    presets: Mapping[str, Preset]
    models: Mapping[str, KnownModel]


@cache
def model_table() -> ModelTable:
    """The table that ships; raises `Permanent` when the file is missing or invalid."""
    import yaml  # 15 ms

    text = (resource("configs") / "models.yaml").read_text("utf-8")
    try:
        return parse_table(yaml.load(text, Loader=yaml.CSafeLoader))
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        raise Permanent(
            "configs/models.yaml is not complete: {error}", hint="install vault-agent again", error=error
        ) from error


def parse_table(tree: Json) -> ModelTable:
    """The table in a parsed file; raises `KeyError`, `TypeError`, `ValueError` or `ConfigError` for an invalid one."""
    both = mapping(tree)
    presets = {name: _preset(mapping(value)) for name, value in mapping(both["presets"]).items()}
    return ModelTable(presets, parse_models(both["models"]))


def price(name: str, url: str = "") -> ModelPrice | None:
    """The price of the model `name` on the server at `url`, None if unknown."""
    return known_model(name, url, model_table().models).price


def check_setting(key: str, value: str) -> None:
    """Raise `ConfigError` if `value` can be no preset, no server's address or no mapping, and `key` is the setting for
    one."""
    section, _, name = key.rpartition(".")
    if key == "llm.extra":
        extra_fields(value)
    if not section.startswith("llm") or not value:
        return
    if name == "preset":
        _known_preset(value, section)
    elif name == "base_url":
        base_url(value, section)


def endpoint(llm: LlmSettings, kind: ModelKind = "main") -> tuple[WireName, Endpoint] | None:
    """The wire and the endpoint of the model for a kind of work; None when no model is set, or a scripted or offline
    one is, and for a fallback that is not set.

    Raises `ConfigError` that names the missing or wrong setting.
    """
    found = named_model(llm, kind)
    if found is None:
        return None
    server = found.server
    facts = known_model(found.name, server.url, model_table().models)
    return server.preset.wire, Endpoint(
        base_url=server.url,
        model=found.limits(llm, facts),
        key=server.key,
        timeout=llm.timeout_seconds,
        retries=llm.retries if kind == "fallback" or not _has_fallback(llm) else min(llm.retries, 1),
        limit=server.preset.limit,
        extra=facts.extra,
        effort="" if llm.effort == "auto" else llm.effort,
        fields=extra_fields(llm.extra),
        is_guess=not found.window and not (facts.window and facts.is_sold),
        section=server.section,
        model_section=found.section,
    )


def named_model(llm: LlmSettings, kind: ModelKind = "main") -> "NamedModel | None":
    """The model for a kind of work as the settings name it, as in `endpoint`, without looking up what is known of
    it."""
    if llm.wire in ("scripted", "offline"):
        return None
    main = _main_server(llm)
    if main is None:
        return None
    if kind == "main":
        return _named(main, llm.model or main.preset.main, llm.window)
    if kind == "fallback" and not _has_fallback(llm):
        return None
    own: ModelSettings = getattr(llm, kind)
    server = _own_server(own, f"llm.{kind}", main)
    if server.url == main.url:
        return _beside_main(llm, main, server, own, kind)
    return _named(server, own.model or server.preset.usual(kind), own.window, server.section)


def _beside_main(
    llm: LlmSettings, main: "Server", server: "Server", own: ModelSettings, kind: ModelKind
) -> "NamedModel":
    """The model for a kind of work on the main model's server. The preset's small model is used only with the preset's
    own server and large model."""
    large = llm.model or main.preset.main
    small = main.preset.fast if kind == "fast" and not (llm.base_url or llm.model) else ""
    name = own.model or small or large
    window = own.window or (llm.window if name == large else -llm.window)
    return _named(server, name, window, f"llm.{kind}" if own.model else server.section)


def _has_fallback(llm: LlmSettings) -> bool:
    return bool(llm.fallback.preset or llm.fallback.base_url or llm.fallback.model)


def _named(server: "Server", name: str, window: int, section: str = "llm") -> "NamedModel":
    if not name:
        listed = _LISTED.get(server.name, "")
        raise ConfigError(
            "{section}.model is not set, and the server at {url} has no model that everybody has",
            hint="vault-agent config set {section}.model NAME {listed}"
            if listed
            else "vault-agent config set {section}.model NAME",
            section=section,
            url=server.url,
            listed=Sentence(listed),
        )
    return NamedModel(server, name, window, section)


def extra_fields(written: str) -> JsonObject:
    """The fields in `llm.extra`, an object in JSON; raises `ConfigError` for anything else."""
    try:
        found = parsed(written) if written else {}
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise ConfigError(
            "llm.extra is not a mapping: {text}",
            hint="vault-agent config set llm.extra '{example}'",
            text=quote_for_message(written),
            example='{"temperature": 0.6}',
        )
    return found


@dataclass(frozen=True, slots=True)
class Server:
    """A server and its key, as the settings of `section` say; `name` is its preset's, empty for none."""

    section: str
    name: str
    preset: Preset
    url: str
    key: Secret


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model on a server, as the settings of `section` name it. `window` is in tokens: 0 for the one that is known of
    the model, negative for at most so many."""

    server: Server
    name: str
    window: int
    section: str = "llm"

    def limits(self, llm: LlmSettings, facts: KnownModel) -> Model:
        """The model with its window, its longest answer, and whether it sees pictures."""
        is_program = self.server.preset.wire == "program"
        longest = llm.max_output or facts.max_output or LONGEST_ANSWER
        sees = (sees_pictures(self.name) if llm.pictures == "auto" else llm.pictures == "on") and not is_program
        window = self._window(facts, is_program=is_program)
        return Model(self.name, window, min(longest, facts.max_output or longest), sees=sees).with_window(window)

    def _window(self, facts: KnownModel, *, is_program: bool) -> int:
        if self.window < 0:  # the main model's window, for another model of its server
            return min(-self.window, facts.window or -self.window)
        if is_program and not facts.is_sold:
            return self.window or HOSTED_WINDOW
        return self.window or facts.window or (HOSTED_WINDOW if facts.is_sold else OWN_WINDOW)


_LISTED = {
    "ollama": "(`ollama list` shows what you have)",
    "lmstudio": "(`lms ls` shows what you have)",
    "vllm": "(the name that the server was started with)",
}


def _main_server(llm: LlmSettings) -> Server | None:
    """The main model's server; None if no model is set."""
    if llm.preset or llm.wire != "auto" or llm.base_url or llm.model:
        return _server(llm, "llm")
    named = [key for key, value in _dependent_settings(llm) if value]
    if named:
        raise ConfigError(
            "{first} and {second} are set, but not which main model to ask"
            if named[1:]
            else "{first} is set, but not which main model to ask",
            hint="vault-agent config set llm.preset NAME, one of {presets}",
            first=named[0],
            second=named[-1],
            presets=joined(model_table().presets, ", "),
        )
    return None


def _dependent_settings(llm: LlmSettings) -> Iterator[tuple[str, object]]:
    """The settings that mean nothing without a main model, with their values."""
    yield "llm.api_key", llm.api_key.reference
    for kind in ALL_KINDS[1:]:
        own = getattr(llm, kind)
        for name in ("preset", "base_url", "model", "window"):
            yield f"llm.{kind}.{name}", getattr(own, name)
        yield f"llm.{kind}.wire", own.wire != "auto"
        yield f"llm.{kind}.api_key", own.api_key.reference


def _own_server(own: ModelSettings, section: str, main: Server) -> Server:
    """The server that the settings of one kind of work name, else the main model's; its key counts at its address."""
    if own.preset or own.base_url:
        server = _server(own, section)
        same = server.url == main.url and not own.api_key.reference
        return replace(server, key=main.key) if same else server
    if not _speaks(main.preset.wire, own.wire):  # the wire's own provider was not named: it must not get the notes
        raise ConfigError(
            "{section}.wire is {wire}, but the main model's server is spoken to by {spoken}",
            hint="set {section}.wire to auto, or name a server: {section}.preset or {section}.base_url",
            section=section,
            wire=own.wire,
            spoken=main.preset.wire,
        )
    return replace(main, key=own.api_key, section=section) if own.api_key.reference else main


def _server(settings: LlmSettings | ModelSettings, section: str) -> Server:
    """The server of settings that name a preset, a wire, an address or a model."""
    preset = _named_preset(settings, section) if settings.preset else _unnamed_preset(settings)
    key = settings.api_key if settings.api_key.reference else Secret(f"env:{preset.key}" if preset.key else "")
    if preset.wire != "program":
        return Server(section, settings.preset, preset, base_url(settings.base_url or preset.base_url, section), key)
    if settings.base_url:
        raise ConfigError(
            "{section}.base_url is set, but {preset} is a program on this machine",
            hint="vault-agent config set {section}.base_url ''",
            section=section,
            preset=settings.preset,
        )
    return Server(section, settings.preset, preset, preset.base_url, Secret(""))


def _named_preset(settings: LlmSettings | ModelSettings, section: str) -> Preset:
    found = _known_preset(settings.preset, section)
    if not _speaks(found.wire, settings.wire) and not settings.base_url:
        raise ConfigError(
            "{section}.wire is {wire}, but {preset} is spoken to by {spoken}",
            hint="set {section}.wire to auto, or {section}.base_url to an address that speaks it",
            section=section,
            wire=settings.wire,
            preset=settings.preset,
            spoken=found.wire,
        )
    if settings.wire == "auto" and found.wire == "responses" and _is_elsewhere(settings.base_url):
        return replace(found, wire="openai", fast="", limit="max_tokens")
    if settings.wire in ("auto", found.wire):
        return found
    return replace(found, wire=_WIRES[settings.wire], fast="" if settings.base_url else found.fast)


def _known_preset(name: str, section: str) -> Preset:
    presets = model_table().presets
    if name not in presets:
        raise ConfigError(
            "{section}.preset: there is no {name}",
            hint="vault-agent config set {section}.preset NAME, one of {presets}",
            section=section,
            name=quote_for_message(name),
            presets=joined(presets, ", "),
        )
    return presets[name]


def _unnamed_preset(settings: LlmSettings | ModelSettings) -> Preset:
    if settings.base_url:  # a key meant for the wire's own provider is never sent to another server
        usual: WireName = "openai" if _is_elsewhere(settings.base_url) else "responses"
        return Preset(_WIRES.get(settings.wire, usual), "", limit="max_tokens")
    own = model_table().presets["anthropic" if settings.wire == "anthropic" else "openai"]
    return own if settings.wire == "auto" else replace(own, wire=_WIRES[settings.wire])


def _is_elsewhere(address: str) -> bool:
    """True for an address that is not OpenAI's own: the servers of others speak chat completions."""
    return bool(address) and not _OPENAI_HOST.match(address)


def _speaks(wire: WireName, wanted: str) -> bool:
    """True if a server with this wire can be spoken to as a setting wants."""
    return wanted in ("auto", wire) or {wire, wanted} <= _OF_OPENAI


def _preset(row: JsonObject) -> Preset:
    wire, address = _WIRES[str(row["wire"])], str(row["base_url"])
    return Preset(
        wire=wire,
        base_url=address if wire == "program" else base_url(address),
        key=str(row.get("key", "")),
        main=str(row.get("main", "")),
        fast=str(row.get("fast", "")),
        limit=_LIMITS[str(row.get("limit", "max_tokens"))],
    )
