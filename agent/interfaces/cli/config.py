"""`vault-agent config`: prints settings with their origin, writes those of this machine, tries the model they name."""

import os
import sys
from collections.abc import Mapping
from importlib import import_module

import click

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.edit import set_machine, unset_machine
from agent.config.load import Loaded, SettingOrigin, load_settings, load_vault_settings, variable
from agent.config.secrets import Secret, save_key
from agent.config.settings import OF_VAULT_HERE, RENAMED, keys, setting_type
from agent.config.values import SettingValue, format_value
from agent.errors import AgentError, ConfigError, MissingKey
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.prompt import hidden
from agent.vault.layout import known_id


class Key(click.ParamType[str]):
    """A setting's dotted key, with shell completion."""

    name = "key"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["click.shell_completion.CompletionItem"]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(key) for key in keys() if key.startswith(incomplete)]


@click.group(
    help="Read and write settings.\n\nA setting comes from the first of: a flag, the environment "
    "(VAULT_AGENT_SECTION__KEY), this machine's settings (of this vault, then of all), the vault's settings, the "
    "defaults.\n\nNo setting, but two "
    "variables set the clock of a single command for trying things out: VAULT_AGENT_CLOCK__START=2026-11-23T09:00, and "
    "VAULT_AGENT_CLOCK__RATE=60 for a clock that is 60 times as fast. Nothing is pushed with it."
)
def command() -> None:
    pass


@command.command()
@click.argument("key", type=Key())
@click.pass_obj
def get(output: Output, key: str) -> None:
    """Print one setting, and the origin of its value."""
    key = RENAMED.get(key, key)
    setting_type(key)
    loaded = _load(output)
    value, origin = loaded.values[key], loaded.origin(key)
    output.emit(_document(key, value, origin), format_value(value))
    output.note(tr("from: {origin}", origin=_origin(origin)))


@command.command("list")
@click.pass_obj
def list_all(output: Output) -> None:
    """List all settings, and the origin of each value."""
    loaded = _load(output)
    document = {
        "settings": [_document(key, loaded.values[key], loaded.origin(key)) for key in keys()],
        "file": str(directories().settings_file),
        "warnings": list(loaded.warnings),
    }
    output.emit(document, lambda: _table(loaded))
    for warning in () if output.json else loaded.warnings:
        output.warn(warning)


@command.command("set")
@click.argument("key", type=Key())
@click.argument("value", required=False)
@click.option("--prompt", is_flag=True, help="For a secret: type or paste it, not shown; or pipe it in.")
@click.pass_obj
def set_value(output: Output, key: str, value: str | None, prompt: bool) -> None:
    """Write a setting for this machine.

    The file's other lines and comments stay as they are. A setting of the model tries the connection, and stays when
    there is none. With --prompt, the secret goes into a file that only you can read, and the setting names that file.
    """
    written, key = key, RENAMED.get(key, key)
    kind = setting_type(key)
    names_preset, section = key.endswith(".preset"), key.rpartition(".")[0]
    before = _value(key) if names_preset else ""
    value = _typed(key, value) if prompt else value
    if value is None:
        source = "--prompt" if kind.base is Secret else "VALUE"
        raise click.UsageError(f"{key} needs a value: {kind.expects}; {PROGRAM} config set {key} {source}")
    check_model_setting(key, value.strip())
    vault_id = _vault_of(output, key)
    path = set_machine(written, value, vault_id=vault_id)
    text = format_value(kind.read(value))
    dropped = _drop_key(key) if before and before != text else ""
    overridden = variable(key) if os.environ.get(variable(key)) else None
    document = {"key": key, "value": _document_value(kind.read(value)), "file": str(path), "overridden_by": overridden}
    output.emit(document | ({"removed": dropped} if dropped else {}), f"{key} = {text}  ({path})")
    if vault_id:
        output.note(tr("it holds for this vault on this machine; outside of a vault, the command sets it for all"))
    if dropped:
        output.note(
            tr(
                "{dropped} was the key of {before}, and is removed from the settings; a key file of it stays",
                dropped=dropped,
                before=before,
            )
        )
    if names_preset and (address := _value(f"{section}.base_url")):
        sentence = "{address} is set, too, and is asked in place of the preset's own address, until you type: {command}"
        back = f"{PROGRAM} config unset {section}.base_url"
        output.note(tr(sentence, address=address, command=back))
    if overridden:
        output.warn(tr("{overridden} is set in the environment and wins over this", overridden=overridden))
    if not output.json:
        report_model(output, key)


def _load(output: Output) -> Loaded:
    """The settings of the vault, if there is one, with those that this machine has for it."""
    root = output.vault_if_any()
    return load_vault_settings(root, vault_id=known_id(root) if root is not None else "")


def _vault_of(output: Output, key: str) -> str:
    """The id of the vault to which a setting of this machine belongs; empty for one that is of all vaults, and where
    there is no vault."""
    root = output.vault_if_any() if key in OF_VAULT_HERE else None
    return open_workspace(root).vault.id if root is not None else ""


def _typed(key: str, value: str | None) -> str:
    """The reference of a key file that has what the person types, or what a pipe brings."""
    if value is not None:
        raise click.UsageError(tr("--prompt asks for the value: give none on the command line"))
    if setting_type(key).base is not Secret:
        raise click.UsageError(
            tr("--prompt is for secrets, and {key} is none: vault-agent config set {key} VALUE", key=key)
        )
    typed = hidden(tr("{key} (what you type is not shown)", key=key)) if sys.stdin.isatty() else sys.stdin.readline()
    return f"file:{save_key(directories().keys, key, typed)}"


def _value(key: str) -> str:
    """The value of a setting; empty if none can be read."""
    try:
        return format_value(load_vault_settings().values[key])
    except ConfigError:  # the command may be about to mend it
        return ""


def _drop_key(key: str) -> str:
    """Remove the key's reference that belongs to a preset from the machine's settings; returns its name if it was
    there."""
    mine = f"{key.rpartition('.')[0]}.api_key"
    return mine if unset_machine(mine)[1] else ""


@command.command()
@click.argument("key", type=Key())
@click.pass_obj
def unset(output: Output, key: str) -> None:
    """Remove a setting from this machine's file."""
    vault_id = _vault_of(output, key)
    path, was_set = unset_machine(key, vault_id=vault_id) if vault_id else unset_machine(key)
    if not was_set:
        key = RENAMED.get(key, key)
        setting_type(key)
        path, was_set = unset_machine(key)
    text = (
        tr("{key} removed from {path}", key=key, path=path)
        if was_set
        else tr("{key} was not set in {path}", key=key, path=path)
    )
    output.emit({"key": key, "was_set": was_set, "file": str(path)}, text)


def _document(key: str, value: SettingValue, origin: SettingOrigin) -> Mapping[str, object]:
    return {"key": key, "value": _document_value(value), "origin": origin.layer, "place": origin.place}


def _document_value(value: SettingValue) -> SettingValue:
    """The value for a document: a text as people are shown it."""
    return format_value(value) if isinstance(value, str) else value


def _origin(origin: SettingOrigin) -> str:
    """Where a value comes from, as shown to people."""
    return f"{tr(origin.layer)} {origin.place}".rstrip()


def _table(loaded: Loaded) -> str:
    rows = [(f"{key} = {format_value(loaded.values[key])}", _origin(loaded.origin(key))) for key in keys()]
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left:<{width}}  {right}" for left, right in rows)


_NAMES_A_MODEL = (".preset", ".wire", ".base_url", ".model", ".api_key")
"""The settings of the model after which its server is asked."""
_SHOWN = 8
"""The most names of models that are listed."""


def check_model_setting(key: str, value: str) -> None:
    """Raise `ConfigError` for a preset that does not exist and an address that is none; other settings pass."""
    if key.startswith("llm."):
        import_module("agent.llm.presets").check_setting(key, value)


def report_model(output: Output, key: str) -> None:
    """Say whether the model that the setting `key` is about can be used; nothing for other settings."""
    try:
        if key == "index.model":  # the modules are slow to load
            choose = import_module("agent.index.embedder").choose_embedder
            notice = str(choose(load_settings().settings.index.model).notice)
            if notice:
                output.warn(tr(notice))
        elif key.startswith("llm.") and key.endswith(_NAMES_A_MODEL):
            output.note(_try_model(key))
    except (ConfigError, MissingKey) as error:
        output.warn(tr("no model can be asked yet: {problem}", problem=_with_hint(error)))
    except AgentError as error:
        sentence = "the setting is kept, but the model was not reached: {problem}"
        output.warn(tr(sentence, problem=_with_hint(error)))


def _with_hint(error: AgentError) -> str:
    return tr("; ").join(filter(None, (tr(error.message), tr(error.hint))))


def _try_model(key: str) -> str:
    """Try the connection to the model's server and return what came of it; raises what `try_connection` does."""
    kinds = import_module("agent.llm.presets").ALL_KINDS
    kind = key.split(".")[1]
    llm = load_settings().settings.llm
    found = import_module("agent.llm.connection").try_connection(llm, kind if kind in kinds else "main", SystemClock())
    if found is None:
        return tr("no model's server is set: `ask` quotes your notes")
    answered: dict[str, object] = {"place": found.place, "seconds": found.seconds, "model": found.model}
    have, section = listed(found.models, _SHOWN), key.rpartition(".")[0]
    if not found.model:
        lines = (
            "{place} answers ({seconds:.1f} s); now say which model: {models}. "
            "vault-agent config set {section}.model NAME"
            if have
            else "{place} answers ({seconds:.1f} s); now say which model. vault-agent config set {section}.model NAME"
        )
        return tr(lines, models=have, section=section, **answered)
    if not found.lists_model:
        lines = (
            "{place} answers ({seconds:.1f} s), but does not list {model}; it has {models}. "
            "vault-agent doctor --model asks it"
        )
        return tr(lines, models=have, **answered)
    return tr("{place} answers ({seconds:.1f} s): {model} can be asked", **answered)
