"""Presets: providers, models and prices from `configs/models.yaml`, loaded once and combined with the settings.

Returns a model's endpoint and wire; `providers` builds the providers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from agent.config.resources import resource
from agent.config.run_settings import LlmSettings
from agent.config.secrets import Secret
from agent.config.values import quote_for_message
from agent.errors import ConfigError, Permanent
from agent.llm.endpoint import Endpoint, Limit, base_url
from agent.llm.fields import mapping
from agent.llm.messages import Json, JsonObject
from agent.llm.price import Price
from agent.llm.provider import Model

WINDOW = 32_768
"""The context window in tokens of an unknown model."""

WireName: TypeAlias = Literal["openai", "anthropic"]
Role: TypeAlias = Literal["main", "fast"]
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
        raise Permanent(f"configs/models.yaml is not complete: {error}", hint="install vault-agent again") from error


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


def endpoint(llm: LlmSettings, role: Role = "main") -> tuple[WireName, Endpoint] | None:
    """The wire and the endpoint of the model for `role`; None when no model is set, or a scripted or offline one is.

    Raises `ConfigError` that names the missing or wrong setting.
    """
    if llm.wire in ("scripted", "offline"):
        return None
    preset = _preset_of(llm)
    if preset is None:
        return None
    url = base_url(llm.base_url or preset.base_url)
    main = llm.model or preset.main
    if not main:
        raise ConfigError(
            f"llm.model is not set, and the server at {url} has no model that everybody has",
            hint=f"vault-agent config set llm.model NAME{_LISTED.get(llm.preset, '')}",
        )
    # The preset's small model is used only with the preset's own server and large model.
    own = preset.fast if not llm.base_url and not llm.model else ""
    name = (llm.fast_model or own or main) if role == "fast" else main
    facts = known_model(name) or KnownModel()
    window = min(llm.window, facts.window) if llm.window and name != main else llm.window or facts.window
    return preset.wire, Endpoint(
        base_url=url,
        model=Model(name, window, min(llm.max_output, facts.max_output, max(1, window // 2))),
        key=llm.api_key if llm.api_key.reference else Secret(f"env:{preset.key}" if preset.key else ""),
        timeout=llm.timeout_seconds,
        retries=llm.retries,
        limit=preset.limit,
        extra=facts.extra,
    )


_LISTED = {
    "ollama": " (`ollama list` shows what you have)",
    "lmstudio": " (`lms ls` shows what you have)",
    "vllm": " (the name that the server was started with)",
}


def _preset_of(llm: LlmSettings) -> Preset | None:
    """The preset named in the settings, or the one that they match; None for no model."""
    presets = model_table().presets
    if llm.preset:
        if llm.preset not in presets:
            raise ConfigError(
                f"llm.preset: there is no {quote_for_message(llm.preset)}", hint=f"the presets are {', '.join(presets)}"
            )
        found = presets[llm.preset]
        if llm.wire not in ("auto", found.wire) and not llm.base_url:
            raise ConfigError(
                f"llm.wire is {llm.wire}, but {llm.preset} is spoken to by {found.wire}",
                hint="set llm.wire to auto, or llm.base_url to an address that speaks it",
            )
        return found if llm.wire == "auto" else Preset(_WIRES[llm.wire], found.base_url, found.key, found.main)
    if llm.wire == "auto" and not llm.base_url and not llm.model:
        if llm.fast_model or llm.api_key.reference:
            raise ConfigError(
                "llm.api_key or llm.fast_model is set, but not which model to ask",
                hint=f"vault-agent config set llm.preset NAME, one of {', '.join(presets)}",
            )
        return None
    wire: WireName = "anthropic" if llm.wire == "anthropic" else "openai"
    # A key meant for the wire's own provider is never sent to another server.
    return Preset(wire, "", limit="max_tokens") if llm.base_url else presets[wire]


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
