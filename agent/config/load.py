"""Load the settings from all sources, in order of precedence.

Flag, environment, machine settings, vault settings, defaults. The person writes the machine's file and the environment,
so a mistake there is an error. A vault's file is untrusted: it may set only the keys in `settings.TRAVELS`; any other
key is ignored with a warning. Called by `app` and the command line only.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from agent.config.directories import VAULT_FILE, directories
from agent.config.plain_file import parse_plain_settings
from agent.config.resources import resource
from agent.config.set_clock import VARIABLES
from agent.config.settings import (
    RENAMED,
    TRAVELS,
    Settings,
    SettingValues,
    is_section,
    is_setting,
    refuse_of_one_vault,
    setting_type,
)
from agent.config.text_file import load_text
from agent.config.values import SettingValue, quote_for_message
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.texts import Sentence

if TYPE_CHECKING:
    from agent.config.file import Content

PREFIX = "VAULT_AGENT_"
MOST_WARNINGS = 20

_OF_THE_MACHINE = frozenset({"machine", "environment", "flag"})
Layer = Literal["flag", "environment", "machine", "vault", "default"]


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """The source of a setting's value."""

    layer: Layer

    place: str = ""
    """A variable's name, or `file:line`; empty for a flag and a default."""

    def __str__(self) -> str:
        return f"{self.layer} {self.place}".rstrip()


_DEFAULT = SettingOrigin("default")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, with the origin of each."""

    settings: Settings

    origins: Mapping[str, SettingOrigin]
    """Where each value comes from that is not the default."""

    warnings: tuple[str, ...]
    """The ignored keys of the vault's file, one line each; for `status` and `doctor`."""

    @property
    def values(self) -> Mapping[str, SettingValue]:
        """The values of all settings by dotted key."""
        return self.settings.values

    def origin(self, key: str) -> SettingOrigin:
        """The origin of the value of `key`; raises `ConfigError` for an unknown setting."""
        setting_type(key)
        return self.origins.get(key, _DEFAULT)


@dataclass(frozen=True, slots=True)
class _Found:
    key: str
    text: str | None
    origin: SettingOrigin


def load_settings(
    vault: Path | None = None,
    *,
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """The settings for `vault` (its root), or without a vault.

    `flags` maps dotted keys to text; `environ` is the process's own by default. Raises `ConfigError` with the
    file and line, or the variable, of an unknown key or a wrong value.
    """
    environ = os.environ if environ is None else environ
    traveling, warnings = _from_vault(vault) if vault is not None else ([], [])
    layers = (
        traveling,
        _from_machine(environ),
        _from_environment(environ),
        [_Found(key, text, SettingOrigin("flag")) for key, text in (flags or {}).items()],
    )
    values: dict[str, SettingValue] = {}
    origins: dict[str, SettingOrigin] = {}
    for found in (found for layer in layers for found in _renamed(layer)):
        values[found.key] = _value(found)
        origins[found.key] = found.origin
    settings = Settings(SettingValues(_defaults(), values))
    return Loaded(settings, MappingProxyType(origins), tuple(warnings))


def _renamed(layer: Iterable[_Found]) -> Iterator[_Found]:
    """The settings of a layer by their present names; a former name comes first, so that the present one wins."""
    for found in sorted(layer, key=lambda each: each.key not in RENAMED):
        yield _Found(RENAMED.get(found.key, found.key), found.text, found.origin)


def variable(key: str) -> str:
    """The environment variable that sets `key`."""
    return PREFIX + key.replace(".", "__").upper()


def _value(found: _Found) -> SettingValue:
    try:
        kind = setting_type(found.key)
        if found.origin.layer in _OF_THE_MACHINE:
            refuse_of_one_vault(found.key)
        if found.text is None:
            raise ConfigError("expected {expects}, not a list", expects=kind.expects)
        return kind.read(found.text)
    except ConfigError as error:
        where = found.origin.place or found.origin.layer
        problem = error.message
        if quote_for_message(found.key) not in error.message:
            problem = Sentence("{key}: {problem}", key=found.key, problem=error)
        hint = error.hint or _help(found)
        raise ConfigError("{where}: {problem}", hint=hint, where=where, problem=problem) from error


def _help(found: _Found) -> Sentence:
    """How a person changes a value that is wrong."""
    match found.origin.layer:
        case "machine":
            return Sentence("vault-agent config set {key} VALUE changes it", key=found.key)
        case "environment":
            return Sentence("change or unset the variable {variable}", variable=found.origin.place)
        case _:
            return Sentence("change it there")


def _defaults() -> Mapping[str, str]:
    return _defaults_in((resource("configs") / "defaults.yaml").read_text("utf-8"))


@lru_cache(maxsize=1)
def _defaults_in(text: str) -> Mapping[str, str]:
    """The defaults' texts by key; a process that loads the settings again parses the same file once."""
    return {key: text or "" for key, text, _ in _settings_in(text, "configs/defaults.yaml")}


def _from_machine(environ: Mapping[str, str]) -> list[_Found]:
    path = directories(environ).settings_file
    return [
        _Found(key, text, SettingOrigin("machine", f"{path}:{line}"))
        for key, text, line in _settings_in(load_text(path) or "", str(path))
        if text != "" or not is_section(key)
    ]


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Found]:
    """The settings in variables with two underscores between section and key; an empty variable counts as not set."""
    for name, text in sorted(environ.items()):
        if name.startswith(PREFIX) and "__" in name.removeprefix(PREFIX) and text and name not in VARIABLES:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            yield _Found(key, text, SettingOrigin("environment", name))


def _from_vault(vault: Path) -> tuple[list[_Found], list[str]]:
    path = vault / VAULT_FILE
    found: list[_Found] = []
    warnings: list[str] = []
    for key, text, line in _settings_in(load_text(path, follow=False) or "", str(path)):
        if key in TRAVELS:
            found.append(_Found(key, text, SettingOrigin("vault", f"{path}:{line}")))
        elif text == "" and is_section(key):
            continue
        elif is_setting(key):
            warnings.append(
                Sentence(
                    "{file}:{line}: {key} is ignored: it may not travel with a vault "
                    "(for this machine: vault-agent config set {key} VALUE)",
                    file=VAULT_FILE,
                    line=line,
                    key=key,
                )
            )
        else:
            warnings.append(
                Sentence(
                    "{file}:{line}: no such setting, ignored: {key}",
                    file=VAULT_FILE,
                    line=line,
                    key=quote_for_message(key),
                )
            )
    if len(warnings) > MOST_WARNINGS:
        rest = len(warnings) - MOST_WARNINGS
        warnings = [
            *warnings[:MOST_WARNINGS],
            Sentence("{file}: and {count} more that are ignored", file=VAULT_FILE, count=rest),
        ]
    return found, warnings


def _settings_in(text: str, name: str) -> Iterator[tuple[str, str | None, int]]:
    """The file's keys with their texts and lines; an empty section has the text of an empty value."""
    plain = parse_plain_settings(text)
    if plain is not None:
        yield from ((key, word, line) for key, (word, line) in plain.items())
        return
    module = import_module("agent.config.file")  # with the YAML library, which most files do without
    try:
        content: Content = module.parse_settings(text, name)
    except ConfigError as error:
        mend = Sentence("mend that line with an editor: {name}", name=name)
        raise ConfigError(error.message, hint=error.hint or mend) from error
    yield from ((key, entry.text, entry.line) for key, entry in content.entries.items())
