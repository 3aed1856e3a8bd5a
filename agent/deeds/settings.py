"""Settings that the person changes in a form of the dashboard: switches, numbers and choices, and the model.

Only what can harm neither the machine nor the vault: no address, command, path or policy. A key of a model's provider
goes into a file that only its person can read, as on the command line.
"""

import os
import re

from agent.config.edit import set_machine, unset_machine
from agent.config.load import Loaded, load_vault_settings, variable
from agent.config.secrets import save_key
from agent.config.settings import OF_VAULT_HERE, setting_type
from agent.config.values import format_value
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.llm.connection import Connection, own_models, try_connection
from agent.llm.presets import check_setting, model_table
from agent.workspace.workspace import Workspace, options, reload_settings

_SECTIONS = frozenset(
    {
        *("attention", "context", "growth", "inbox", "jobs", "memory", "profile", "reflection", "schedule", "skills"),
        *("spend", "sync"),
    }
)
_MODEL = re.compile(r"[\w.:/@+-]{1,200}")
_PRESET, _NAME, _KEY = "llm.preset", "llm.model", "llm.api_key"


@dataclass(frozen=True, slots=True)
class SettingWritten:
    """A setting as it was written; `overridden` is the variable that wins over it, empty for none."""

    key: str
    value: str
    overridden: str


def present_settings(workspace: Workspace) -> Loaded:
    """The settings of the vault as they are now, also those changed since the daemon began."""
    return load_vault_settings(workspace.vault.place.root, options, vault_id=workspace.vault.id)


def may_set(key: str) -> bool:
    """True for a setting that is changed in a form."""
    kind = setting_type(key)
    is_plain = kind.base in (bool, int, float) or bool(kind.choices) or kind.form is not None
    return key.partition(".")[0] in _SECTIONS and is_plain


def set_setting(workspace: Workspace, key: str, value: str) -> SettingWritten:
    """Write a setting of this machine, for this vault alone where it is of one vault; an empty value removes it.

    Raises `UserError` for one that is not changed here, and `ConfigError` for a value that it cannot have.
    """
    if not may_set(key):
        raise UserError("{key} is not changed here", hint="vault-agent config set {key} VALUE", key=key)
    vault_id = workspace.vault.id if key in OF_VAULT_HERE else ""
    if value:
        set_machine(key, value, vault_id=vault_id)
    elif not unset_machine(key, vault_id=vault_id)[1] and vault_id:
        unset_machine(key)
    return SettingWritten(key, format_value(present_settings(workspace).values[key]), _overriding(key))


def _overriding(key: str) -> str:
    return variable(key) if os.environ.get(variable(key)) else ""


def preset_names() -> tuple[str, ...]:
    """The names of the known providers of models."""
    return tuple(model_table().presets)


def choose_model(workspace: Workspace, preset: str, model: str, key: str) -> None:
    """Choose the provider of the model, the model (empty: the provider's usual one) and its key (empty: the one that
    is set, if the provider stays). Raises `UserError` for what cannot be."""
    before = format_value(present_settings(workspace).values[_PRESET])
    check_setting(_PRESET, preset)
    if model and not _MODEL.fullmatch(model):
        raise UserError("{value} is no name of a model", hint="copy it from its provider", value=model)
    if key:
        set_machine(_KEY, f"file:{save_key(workspace.directories.keys, _KEY, key)}")
    elif preset != before:
        unset_machine(_KEY)
    for name, value in ((_PRESET, preset), (_NAME, model)):
        if value:
            set_machine(name, value)
        else:
            unset_machine(name)


def try_model(workspace: Workspace) -> Connection | None:
    """Ask the server of the chosen model whether it answers, as `try_connection` does."""
    return try_connection(reload_settings(workspace).settings.llm, "main", workspace.clock)


def models_to_choose(workspace: Workspace, preset: str) -> tuple[str, ...]:
    """The models that the person's own server has, by the address of this preset; raises `ConfigError` for none."""
    check_setting(_PRESET, preset)
    return own_models(reload_settings(workspace).settings.llm, preset, workspace.clock)
