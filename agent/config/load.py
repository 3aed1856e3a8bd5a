"""Load the settings from all sources, in order of precedence.

Flag, environment, the machine's settings for this vault, those for all, vault settings, defaults. The person writes the
machine's files and the environment, so a mistake there is an error. A vault's file is untrusted: it may set only the
keys in `settings.TRAVELS`; any other key is ignored with a warning. Called by `app` and the command line only.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from agent.config import private
from agent.config.directories import VARIABLES, VAULT_FILE, directories
from agent.config.private import clear_way
from agent.config.resources import resource
from agent.config.settings import (
    FORMER_VALUES,
    LISTS,
    LISTS_INSIDE,
    MAPPINGS,
    OF_VAULT_HERE,
    REMOVED,
    RENAMED,
    TRAVELS,
    Settings,
    SettingValues,
    is_section,
    is_setting,
    refuse_of_one_vault,
    setting_type,
)
from agent.config.text_file import load_text, parse_plain_settings
from agent.config.values import SettingValue, quote_for_message
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.texts import Sentence

if TYPE_CHECKING:
    from agent.config.file import Content


PREFIX = "VAULT_AGENT_"
MOST_WARNINGS = 20

_OF_THE_MACHINE = frozenset({"this vault", "machine", "environment", "flag"})
Layer = Literal["flag", "environment", "this vault", "machine", "vault", "default"]
"""Where a value comes from; `this vault`: this machine's settings for it."""


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
    """The ignored keys of the vault's file, one line each, and why it is not followed; for `status` and `doctor`."""

    traveling: Mapping[str, str | None] = field(default_factory=dict)
    """The texts of the settings in the vault's file, by key."""

    unfollowed: tuple[str, ...] = ()
    """Those of the warnings that say why the vault's file is not followed; each command says them."""

    @property
    def values(self) -> Mapping[str, SettingValue]:
        """The values of all settings by dotted key."""
        return self.settings.values

    def with_unfollowed(self, *warnings: str) -> "Loaded":
        """The settings with the reasons why the vault's file is not followed."""
        if not warnings:
            return self
        return replace(self, warnings=(*warnings, *self.warnings), unfollowed=(*warnings, *self.unfollowed))

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
    vault_id: str = "",
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    traveling: Mapping[str, str | None] | None = None,
) -> Loaded:
    """The settings for `vault` (its root), or without a vault; with its id also those that this machine has for it, and
    with the texts `traveling` instead of its file.

    `flags` maps dotted keys to text; `environ` is the process's own by default. Raises `ConfigError` with the
    file and line, or the variable, of an unknown key or a wrong value.
    """
    environ = os.environ if environ is None else environ
    of_vault, warnings = list[_Found](), list[str]()
    if traveling is not None:
        origin = SettingOrigin("vault", VAULT_FILE)
        of_vault = [_Found(key, text, origin) for key, text in traveling.items() if key in TRAVELS]
    elif vault is not None:
        of_vault, warnings = _from_vault(vault)
    layers = (
        of_vault,
        _from_machine(directories(environ).settings_file, "machine"),
        _from_machine(directories(environ).settings_of(vault_id), "this vault") if vault_id else [],
        _from_environment(environ),
        [_Found(key, text, SettingOrigin("flag")) for key, text in (flags or {}).items()],
    )
    values: dict[str, SettingValue] = {}
    origins: dict[str, SettingOrigin] = {}
    for found in (found for layer in layers for found in _renamed(layer)):
        if found.key in REMOVED:
            where = found.origin.place or found.origin.layer
            warnings.append(Sentence("{where}: {key} does nothing any more; take it out", where=where, key=found.key))
            continue
        values[found.key] = _value(found)
        origins[found.key] = found.origin
    settings = Settings(SettingValues(_defaults(), values))
    texts = {found.key: found.text for found in of_vault}
    return Loaded(settings, MappingProxyType(origins), tuple(warnings), texts)


def _renamed(layer: Iterable[_Found]) -> Iterator[_Found]:
    """The settings of a layer by their present names and values; a former name comes first: the present one wins."""
    for found in sorted(layer, key=lambda each: each.key not in RENAMED):
        key = RENAMED.get(found.key, found.key)
        yield _Found(key, FORMER_VALUES.get((key, found.text or ""), found.text), found.origin)


def variable(key: str) -> str:
    """The environment variable that sets `key`."""
    return PREFIX + key.replace(".", "__").upper()


def _value(found: _Found) -> SettingValue:
    try:
        kind = setting_type(found.key)
        if found.origin.layer in _OF_THE_MACHINE:
            refuse_of_one_vault(found.key)
        if found.origin.layer == "this vault" and found.key not in OF_VAULT_HERE:
            set_it = Sentence("vault-agent config set {key} VALUE sets it for all vaults", key=found.key)
            raise ConfigError("this is no setting of one vault", hint=set_it)
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
        case "machine" | "this vault":
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


def _from_machine(path: Path, layer: Layer) -> list[_Found]:
    return [
        _Found(key, text, SettingOrigin(layer, f"{path}:{line}"))
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


def vault_folder_in(settings: bytes) -> str:
    """The `vault.folder` in the settings of a vault; empty if they do not say it or cannot be read."""
    try:
        found = _settings_in(settings.decode("utf-8", "replace"), VAULT_FILE)
        return next((text or "" for key, text, _ in found if key == "vault.folder"), "")
    except ConfigError:
        return ""


def _settings_in(text: str, name: str) -> Iterator[tuple[str, str | None, int]]:
    """The file's keys with their texts and lines; an empty section has the text of an empty value. A mapping that is
    one setting has its text as JSON."""
    found: dict[str, dict[str, str | None]] = {}
    first: dict[str, int] = {}
    for key, word, line in _entries_in(text, name):
        whole = next((each for each in MAPPINGS if key.startswith(f"{each}.")), "")
        if whole:
            found.setdefault(whole, {})[key.removeprefix(f"{whole}.")] = word
            first.setdefault(whole, line)
        else:
            yield key, word, line
    for key, fields in found.items():
        yield key, import_module("agent.config.values").mapping_as_json(fields, key), first[key]


def _entries_in(text: str, name: str) -> Iterator[tuple[str, str | None, int]]:
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
    for key, entry in content.entries.items():
        if entry.text is None and key.startswith(LISTS_INSIDE):
            yield key, json.dumps(entry.items), entry.line
            continue
        if entry.text is not None or key not in LISTS:
            yield key, entry.text, entry.line
            continue
        items = [*entry.items]
        if len(items) == 1 and "," in items[0]:  # a line's end tells a list from words and commas
            items *= 2
        yield key, "\n".join(items), entry.line


_KEPT = "vault-agent/settings.json"
_POINTER = "gitdir:"
_LONGEST = 4_096


def load_vault_settings(
    vault: Path | None = None, accept: Callable[[Settings], object] = lambda settings: None, *, vault_id: str = ""
) -> Loaded:
    """The settings for `vault` (its root), or without a vault; with a warning where its file is not followed, and with
    its id also those that this machine has for it.

    `accept` raises `ConfigError` for settings that cannot be used. Raises `ConfigError` for what is wrong on this
    machine, outside the vault.
    """
    try:
        loaded = load_settings(vault, vault_id=vault_id)
        accept(loaded.settings)
    except ConfigError as error:
        load_settings(None)
        if vault is None:
            raise
        return _without_the_file(vault, error, vault_id)
    if vault is not None:
        _keep(vault, loaded.traveling)
    return loaded


def _without_the_file(vault: Path, error: ConfigError, vault_id: str) -> Loaded:
    """The settings with those that the vault's file had last."""
    loaded = load_settings(vault, vault_id=vault_id, traveling=_last_values(vault))
    warning = Sentence(
        "{file} cannot be followed, and what it said before holds: {problem} (mend it with an editor)",
        file=VAULT_FILE,
        problem=error,
    )
    return loaded.with_unfollowed(warning)


def _last_values(vault: Path) -> Mapping[str, str | None]:
    """What the file said last; nothing if that is not known."""
    try:
        file = _file(vault)
        document = json.loads(file.read_text("utf-8")) if file is not None else {}
        return {str(key): None if text is None else str(text) for key, text in document.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _keep(vault: Path, values: Mapping[str, str | None]) -> None:
    """Remember what the file says; where that cannot be written, the next command tries again."""
    with suppress(OSError):
        file = _file(vault)
        if file is None or _last_values(vault) == values:
            return
        file.parent.mkdir(exist_ok=True)
        clear_way(file)
        private.replace(file, json.dumps(dict(values)))


def _file(vault: Path) -> Path | None:
    """The file in the folder of the repository that has the vault; None without one."""
    for folder in (vault, *vault.parents):
        found = folder / ".git"
        if found.is_dir():
            return found / _KEPT
        if found.is_file():
            with found.open("rb") as file:
                words = file.read(_LONGEST).decode("utf-8", "surrogateescape").strip()
            target = folder / words.removeprefix(_POINTER).strip()
            return target / _KEPT if words.startswith(_POINTER) and target.is_dir() else None
    return None
