"""`vault-agent daemon`: watches a vault in the foreground until it is stopped."""

import signal
from pathlib import Path
from types import FrameType

import click

from agent.app.open import open_workspace
from agent.app.setup import make_vault
from agent.daemon import Daemon
from agent.interfaces.cli.output import Output, find_vault
from agent.texts import LANGUAGES, Language


@click.command(short_help="Watch the vault: index, commit, react.")
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option("--init", "make", is_flag=True, help="Make PATH a vault first, if it is none.")
@click.option("--language", type=click.Choice(LANGUAGES), help="With --init: the notes' language.")
@click.pass_obj
def command(output: Output, path: Path | None, make: bool, language: Language | None) -> None:
    """Watch the vault at PATH (or the one you are in) until Ctrl-C or SIGTERM.

    Search finds a change within a second, and your own edits are committed in your name when you pause. A second daemon
    on the same vault exits with 75.
    """
    if make and path is None:
        raise click.UsageError("--init needs the PATH of the folder that is to become a vault")
    if make and path is not None:
        done, _ = make_vault(path, language)
        output.note(f"{path} is {'a vault already' if done.was_vault else 'a vault now'}")
    daemon = Daemon(open_workspace(find_vault(Path.cwd(), path or output.given)))

    def stop(number: int, _: FrameType | None) -> None:
        daemon.stop.ask(signal.Signals(number).name)

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    output.note(f"watching {daemon.workspace.vault.place.root}; Ctrl-C stops")
    daemon.run()
    output.emit({"stopped": daemon.stop.reason}, f"stopped: {daemon.stop.reason}")
