"""`vault-agent node`: the node host of this machine, in the foreground or as an icon beside the clock."""

import signal
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import click

from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.interfaces.cli.language import spoken, tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.streams import on_stop

if TYPE_CHECKING:
    from agent.interfaces.node.server import NodeHost


@click.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=19_820, show_default=True, help="0: any free port.")
@click.option("--check", is_flag=True, help="Show what is ready on this machine, and what each tool still needs.")
@click.option("--tray", is_flag=True, help="An icon beside the clock, with a menu, in place of this terminal.")
@click.pass_obj
def command(output: Output, port: int, check: bool, tray: bool) -> None:
    """Let the agent work on this desktop until Ctrl-C: commands, screen, microphone, keys, files, clipboard.

    It listens on this machine only. The agent uses it with node.enabled, and each call waits for your yes. Files are
    read and written in the folders of node.folders only; node.tools has a switch for each tool.
    """
    places = directories()
    if tray:
        import_module("agent.interfaces.node.tray").run_tray(places, port, spoken())
        return
    server = import_module("agent.interfaces.node.server")
    host: NodeHost = server.NodeHost(load_settings().settings.node, places, SystemClock(), port)
    if check:
        needs = host.app.needs()
        output.emit({"tools": needs}, lambda: "\n".join(_ready(needs)))
        return
    host.listen()
    output.emit({"url": host.address, "token_file": host.token_place}, lambda: _welcome(host))
    on_stop(signal.default_int_handler)  # as Ctrl-C: what runs is ended, and it ends well
    with suppress(KeyboardInterrupt):
        host.serve()


def _welcome(host: "NodeHost") -> str:
    """Where the host listens, what it offers, and what each tool still needs."""
    lines = [tr("the node host listens on {url}; Ctrl-C stops it", url=host.address)]
    lines.append(tr("its token is in {place}", place=host.token_place))
    return "\n".join([*lines, *_ready(host.app.needs())])


def _ready(needs: Mapping[str, str]) -> list[str]:
    """A line for each tool with what it needs."""
    return [
        tr("  {name}: {needs}", name=name, needs=tr(what)) if what else tr("  {name}: ready", name=name)
        for name, what in needs.items()
    ]
