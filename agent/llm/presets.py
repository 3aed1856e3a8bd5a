"""Presets: providers, models and prices from `configs/models.yaml`, loaded once and combined with the settings.

Returns a model's endpoint and wire; `providers` builds the providers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from typing import Literal, TypeAlias, get_args

from agent.config.resources import resource
from agent.config.run_settings import LlmSettings, ModelSettings
from agent.config.secrets import Secret
from agent.config.values import quote_for_message
from agent.dataclass import dataclass
from agent.errors import ConfigError, Permanent
from agent.llm.endpoint import Endpoint, Limit, base_url
from agent.llm.fields import mapping
from agent.llm.messages import Json, JsonObject
from agent.llm.price import Price
from agent.llm.provider import Model
from agent.texts import Sentence, joined

WINDOW = 32_768
"""The context window in tokens of an unknown model."""

WireName: TypeAlias = Literal["openai", "anthropic"]
ModelKind: TypeAlias = Literal["main", "fast", "reflection", "user"]
"""A kind of work that may have a model of its own."""
KINDS: tuple[ModelKind, ...] = get_args(ModelKind)
_WIRES: Mapping[str, WireName] = {"openai": "openai", "anthropic": "anthropic"}
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


@dataclass(frozen=True, slots=True)
class KnownModel:
    """The known limits and price of a model, in tokens. `extra`: fields that its requests need."""

    window: int = WINDOW
    max_output: int = 1_000_000
    price: Price | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


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
    models = {name: _known(mapping(value)) for name, value in mapping(both["models"]).items()}
    return ModelTable(presets, models)


def known_model(name: str, models: Mapping[str, KnownModel] | None = None) -> KnownModel | None:
    """The table's entry for the model `name`: the longest one that `name` begins with; None when there is none.

    A provider's name before a slash does not count: `openai/gpt-5` is `gpt-5`.
    """
    models = model_table().models if models is None else models
    name = name.rpartition("/")[2].lower()
    fitting = [each for each in models if name.startswith(each) and not _goes_on(name[len(each) :])]
    return models[max(fitting, key=len)] if fitting else None


def price(name: str) -> Price | None:
    """The price of the model `name`, None if unknown."""
    found = known_model(name)
    return found.price if found else None


def check_setting(key: str, value: str) -> None:
    """Raise `ConfigError` if `value` can be no preset, or no server's address, and `key` is the setting for one."""
    section, _, name = key.rpartition(".")
    if not section.startswith("llm") or not value:
        return
    if name == "preset":
        _known_preset(value, section)
    elif name == "base_url":
        base_url(value, section)


def endpoint(llm: LlmSettings, kind: ModelKind = "main") -> tuple[WireName, Endpoint] | None:
    """The wire and the endpoint of the model for a kind of work; None when no model is set, or a scripted or offline
    one is.

    Raises `ConfigError` that names the missing or wrong setting.
    """
    if llm.wire in ("scripted", "offline"):
        return None
    main = _main_server(llm)
    if main is None:
        return None
    model = llm.model or main.preset.main
    if kind == "main":
        return _endpoint(llm, main, model, llm.window)
    own = getattr(llm, kind)
    # The preset's small model is used only with the preset's own server and large model.
    small = main.preset.fast if kind == "fast" and not llm.base_url and not llm.model else ""
    server = _own_server(own, f"llm.{kind}", main)
    if server.url == main.url:
        name = own.model or small or model
        below = min(llm.window, _facts(name).window) if llm.window and name != model else llm.window
        return _endpoint(llm, server, name, own.window or below, f"llm.{kind}" if own.model else server.section)
    default = server.preset.fast if kind == "fast" else ""
    return _endpoint(llm, server, own.model or default or server.preset.main, own.window, server.section)


def _endpoint(
    llm: LlmSettings, server: "_Server", name: str, window: int, section: str = "llm"
) -> tuple[WireName, Endpoint]:
    """The model `name` of the settings' `section` on a server; `window` is 0 for the one that the table knows."""
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
    facts = _facts(name)
    window = window or facts.window
    return server.preset.wire, Endpoint(
        base_url=server.url,
        model=Model(name, window, min(llm.max_output, facts.max_output, max(1, window // 2))),
        key=server.key,
        timeout=llm.timeout_seconds,
        retries=llm.retries,
        limit=server.preset.limit,
        extra=facts.extra,
        section=server.section,
        model_section=section,
    )


def _facts(name: str) -> KnownModel:
    return known_model(name) or KnownModel()


@dataclass(frozen=True, slots=True)
class _Server:
    """A server and its key, as the settings of `section` say; `name` is its preset's, empty for none."""

    section: str
    name: str
    preset: Preset
    url: str
    key: Secret


_LISTED = {
    "ollama": "(`ollama list` shows what you have)",
    "lmstudio": "(`lms ls` shows what you have)",
    "vllm": "(the name that the server was started with)",
}


def _main_server(llm: LlmSettings) -> _Server | None:
    """The main model's server; None if no model is set."""
    if llm.preset or llm.wire != "auto" or llm.base_url or llm.model:
        return _server(llm, "llm")
    named = [key for key, value in _given(llm) if value]
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


def _given(llm: LlmSettings) -> Iterator[tuple[str, object]]:
    """The settings that mean nothing without a main model, with their values."""
    yield "llm.api_key", llm.api_key.reference
    for kind in KINDS[1:]:
        own = getattr(llm, kind)
        for name in ("preset", "base_url", "model", "window"):
            yield f"llm.{kind}.{name}", getattr(own, name)
        yield f"llm.{kind}.wire", own.wire != "auto"
        yield f"llm.{kind}.api_key", own.api_key.reference


def _own_server(own: ModelSettings, section: str, main: _Server) -> _Server:
    """The server that the settings of one kind of work name, else the main model's; its key counts at its address."""
    if own.preset or own.base_url:
        server = _server(own, section)
        same = server.url == main.url and not own.api_key.reference
        return replace(server, key=main.key) if same else server
    if own.wire not in ("auto", main.preset.wire):  # the wire's own provider was not named: it must not get the notes
        raise ConfigError(
            "{section}.wire is {wire}, but the main model's server is spoken to by {spoken}",
            hint="set {section}.wire to auto, or name a server: {section}.preset or {section}.base_url",
            section=section,
            wire=own.wire,
            spoken=main.preset.wire,
        )
    return replace(main, key=own.api_key, section=section) if own.api_key.reference else main


def _server(told: LlmSettings | ModelSettings, section: str) -> _Server:
    """The server of settings that name a preset, a wire, an address or a model."""
    preset = _named_preset(told, section) if told.preset else _unnamed_preset(told)
    key = told.api_key if told.api_key.reference else Secret(f"env:{preset.key}" if preset.key else "")
    return _Server(section, told.preset, preset, base_url(told.base_url or preset.base_url, section), key)


def _named_preset(told: LlmSettings | ModelSettings, section: str) -> Preset:
    found = _known_preset(told.preset, section)
    if told.wire not in ("auto", found.wire) and not told.base_url:
        raise ConfigError(
            "{section}.wire is {wire}, but {preset} is spoken to by {spoken}",
            hint="set {section}.wire to auto, or {section}.base_url to an address that speaks it",
            section=section,
            wire=told.wire,
            preset=told.preset,
            spoken=found.wire,
        )
    return found if told.wire == "auto" else Preset(_WIRES[told.wire], found.base_url, found.key, found.main)


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


def _unnamed_preset(told: LlmSettings | ModelSettings) -> Preset:
    wire: WireName = "anthropic" if told.wire == "anthropic" else "openai"
    # A key meant for the wire's own provider is never sent to another server.
    return Preset(wire, "", limit="max_tokens") if told.base_url else model_table().presets[wire]


def _preset(told: JsonObject) -> Preset:
    return Preset(
        wire=_WIRES[str(told["wire"])],
        base_url=base_url(str(told["base_url"])),
        key=str(told.get("key", "")),
        main=str(told.get("main", "")),
        fast=str(told.get("fast", "")),
        limit=_LIMITS[str(told.get("limit", "max_tokens"))],
    )


def _known(told: JsonObject) -> KnownModel:
    sums = [told[name] for name in ("input", "output", "cached") if name in told]
    prices = [float(each) for each in sums if isinstance(each, int | float)]
    if len(prices) not in (0, 3):
        raise ValueError("a price needs input, output and cached")
    window, longest = told.get("window", WINDOW), told.get("max_output", 1_000_000)
    if not isinstance(window, int) or not isinstance(longest, int):
        raise ValueError("window and max_output are numbers of tokens")
    return KnownModel(window, longest, Price(*prices) if prices else None, dict(mapping(told.get("extra"))))


def _goes_on(rest: str) -> bool:
    """True if the next character of a name continues the word: `gpt-5.1` is not `gpt-5`."""
    return bool(rest) and (rest[0].isalnum() or rest[0] == ".")
