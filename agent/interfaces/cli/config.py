"""`vault-agent config`: prints settings with their origin, and writes those of this machine."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import click

from agent.config.directories import directories
from agent.config.edit import set_machine, unset_machine
from agent.config.load import Loaded, SettingOrigin, load_settings, variable
from agent.config.settings import keys, setting_type
from agent.config.values import SettingValue, format_value
from agent.errors import ConfigError, NotAVault
from agent.interfaces.cli.output import Output


class Key(click.ParamType[str]):
    """A setting's dotted key, with shell completion."""

    name = "key"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list["click.shell_completion.CompletionItem"]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(key) for key in keys() if key.startswith(incomplete)]


@click.group(
    short_help="Read and write settings.",
    help="Read and write settings.\n\nA setting comes from the first of: a flag, the environment "
    "(VAULT_AGENT_SECTION__KEY), this machine's settings, the vault's settings, the defaults.",
)
def command() -> None:
    pass


@command.command()
@click.argument("key", type=Key())
@click.pass_obj
def get(output: Output, key: str) -> None:
    """Print one setting, and the origin of its value."""
    setting_type(key)
    loaded = load_settings(_vault(output))
    value, origin = loaded.values[key], loaded.origin(key)
    output.emit(_document(key, value, origin), format_value(value))
    output.note(f"from: {origin}")


@command.command("list")
@click.pass_obj
def list_all(output: Output) -> None:
    """List all settings, and the origin of each value."""
    loaded = load_settings(_vault(output))
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
@click.argument("value")
@click.pass_obj
def set_value(output: Output, key: str, value: str) -> None:
    """Write a setting for this machine.

    The file's other lines and comments stay as they are.
    """
    path = set_machine(key, value)
    shown = format_value(setting_type(key).read(value))
    overridden = variable(key) if os.environ.get(variable(key)) else None
    output.emit(
        {"key": key, "value": setting_type(key).read(value), "file": str(path), "overridden_by": overridden},
        f"{key} = {shown}  ({path})",
    )
    if overridden:
        output.warn(f"{overridden} is set in the environment and wins over this")
    remark = "" if output.json else _unusable(key)
    if remark:
        output.warn(remark)


def _unusable(key: str) -> str:
    """Why the model that a setting is about cannot be used yet, and what is missing; empty for other settings."""
    try:
        if key == "index.model":  # the modules are slow to load
            choose = import_module("agent.index.embedder").choose_embedder
            return str(choose(load_settings().settings.index.model).notice)
        if key.startswith("llm."):
            presets, llm = import_module("agent.llm.presets"), load_settings().settings.llm
            for kind in presets.KINDS:
                presets.endpoint(llm, kind)
    except ConfigError as error:
        return f"no model can be asked yet: {error.message}{f'; {error.hint}' if error.hint else ''}"
    return ""


@command.command()
@click.argument("key", type=Key())
@click.pass_obj
def unset(output: Output, key: str) -> None:
    """Remove a setting from this machine's file."""
    path, was_set = unset_machine(key)
    if not was_set:
        setting_type(key)
    text = f"{key} removed from {path}" if was_set else f"{key} was not set in {path}"
    output.emit({"key": key, "was_set": was_set, "file": str(path)}, text)


def _document(key: str, value: SettingValue, origin: SettingOrigin) -> Mapping[str, object]:
    return {"key": key, "value": value, "origin": origin.layer, "place": origin.place}


def _table(loaded: Loaded) -> str:
    rows = [(f"{key} = {format_value(loaded.values[key])}", str(loaded.origin(key))) for key in keys()]
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"{left:<{width}}  {right}" for left, right in rows)


def _vault(output: Output) -> Path | None:
    """The vault, or None: settings can be read without one."""
    try:
        return output.vault()
    except NotAVault:
        if output.given is not None:
            raise
        return None
