"""`vault-agent obsidian`: lays the companion plugin into the vault, and connects Obsidian with the daemon."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from agent.deeds.obsidian import FOLDER, PluginLook, install_plugin, look_at_plugin, plugin_zip
from agent.errors import UserError, os_reason
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.prompt import agree
from agent.interfaces.cli.serve import stream_from_daemon
from agent.texts import Sentence
from agent.workspace.workspace import Workspace


@click.group()
def command() -> None:
    """The companion plugin for Obsidian: lay it into this vault, and connect it with the daemon.

    It shows the conversation, what needs you and related notes beside your notes; vault-agent help obsidian tells more.
    """


@command.command(short_help="Lay the plugin into this vault, after your yes.")
@click.option("--zip", "packed", type=click.Path(path_type=Path, dir_okay=False), help="Only write this zip file.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing, and do it.")
@in_vault
def install(output: Output, workspace: Workspace, packed: Path | None, dry_run: bool, yes: bool) -> None:
    """Write the three files of the plugin below .obsidian/plugins, in one commit that undo takes back. Nothing else of
    Obsidian's changes: you switch the plugin on there."""
    if packed is not None:
        _write_zip(packed)
        output.emit({"zip": str(packed)}, tr("the plugin is in {file}", file=packed))
        return
    found = look_at_plugin(workspace)
    if dry_run or not found.files:
        document = {"files": sorted(found.files), "commit": None, "version": found.version}
        output.emit(document, as_lines(_plan(found)))
        return
    if not yes:
        refusal = Sentence("the plugin is not laid: nobody said yes")
        agree(output, _plan(found), "Lay the plugin into this vault?", refusal)
    done = install_plugin(workspace, found)
    lines = [
        tr("the plugin {version} lies in {folder}", version=done.version, folder=FOLDER),
        tr("in Obsidian: Settings, Community plugins, allow them, and switch Vault Agent on"),
        tr("then connect it: vault-agent serve, and in another terminal vault-agent obsidian pair"),
    ]
    output.emit(done, as_lines(lines))


@command.command(short_help="Show a code that connects Obsidian with the daemon.")
@in_vault
def pair(output: Output, workspace: Workspace) -> None:
    """Show a pairing code, to be typed into the settings of the plugin, and wait until it is used.

    It counts once, for five minutes. Obsidian gets a key of its own, which may talk, answer and undo, and nothing else;
    vault-agent serve browsers lists it and takes it away.
    """
    try:
        for event, data in stream_from_daemon(workspace, "/api/v1/pairings", {}):
            if event == "code":
                _show(output, data)
            elif data["state"] == "paired":
                output.note(tr("Obsidian is connected"))
                return
        raise UserError("the code counts no more, and was not used", hint="vault-agent obsidian pair makes a new one")
    except OSError:
        raise UserError(
            "this vault's daemon does not answer",
            hint="vault-agent serve starts it with a port; then pair from another terminal",
        ) from None


def _show(output: Output, data: Mapping[str, object]) -> None:
    addresses = data["urls"]
    urls = [str(each) for each in addresses] if isinstance(addresses, list) else []
    lines = [
        tr("in Obsidian, open the settings of the plugin Vault Agent, and type there:"),
        tr("  address: {url}", url=urls[0]),
        tr("  pairing code: {code}", code=data["code"]),
        tr("the code counts once, for five minutes; Ctrl-C ends the wait"),
    ]
    output.emit({"code": data["code"], "seconds": data["seconds"], "urls": urls}, as_lines(lines))


def _plan(found: PluginLook) -> Sequence[str]:
    if not found.files:
        return [tr("the plugin {version} lies in {folder} already", version=found.version, folder=FOLDER)]
    lines = [tr("the plugin {version} for Obsidian would be written:", version=found.version)]
    if found.former:
        lines = [
            tr("the plugin {former} for Obsidian would become {version}:", former=found.former, version=found.version)
        ]
    lines += [f"  {path}" for path in sorted(found.files)]
    return [*lines, tr("one commit in the agent's name; vault-agent undo takes it back")]


def _write_zip(file: Path) -> None:
    """Write the plugin as a zip file; raises `UserError` where that cannot be."""
    try:
        with file.open("xb") as opened:
            opened.write(plugin_zip())
    except FileExistsError:
        raise UserError("{file} is there already", hint="name another file", file=file) from None
    except OSError as error:
        raise UserError("{file} cannot be written: {reason}", file=file, reason=os_reason(error)) from error
