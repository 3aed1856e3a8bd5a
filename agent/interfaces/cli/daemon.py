"""`vault-agent daemon`: watches a vault in the foreground until it is stopped."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType

import click

from agent.app.open import open_workspace
from agent.app.setup import Wishes, decide_drafts
from agent.config.load import load_vault_settings
from agent.config.settings import Settings
from agent.daemon import Daemon, Live
from agent.interfaces.cli.adopt import adopt, ask_drafts, is_asked
from agent.interfaces.cli.click_texts import NamedPath
from agent.interfaces.cli.language import speak, spoken, tr
from agent.interfaces.cli.output import Output, find_vault
from agent.interfaces.cli.progress_bar import progress_bar
from agent.interfaces.cli.streams import on_stop
from agent.texts import LANGUAGES, Language, text
from agent.vault.drafts import drafts_file, load_drafts
from agent.vault.folders import INBOX
from agent.vault.store import Vault
from agent.workspace.process_memory import look_while_staying
from agent.workspace.workspace import Workspace, is_watched


@click.command()
@click.argument("path", required=False, type=NamedPath())
@click.option("--init", "make", is_flag=True, help="Make PATH a vault first, if it is none.")
@click.option("--language", type=click.Choice(LANGUAGES), help="With --init: the notes' language.")
@click.option("--under", metavar="FOLDER", help="With --init: the folder for all that is the agent's.")
@click.option("--http", "http", is_flag=True, help="Open the dashboard and the API on a port of this machine, too.")
@click.option("--port", type=click.IntRange(0, 65_535), help="With --http: the port; 0 takes any that is free.")
@click.option("-y", "--yes", is_flag=True, help="With --init: ask nothing, and do it.")
@click.pass_obj
def command(
    output: Output,
    path: Path | None,
    make: bool,
    language: Language | None,
    under: str | None,
    http: bool,
    port: int | None,
    yes: bool,
) -> None:
    """Watch the vault at PATH (or the one you are in) until Ctrl-C or SIGTERM.

    Search finds a change within a second, and your own edits are committed in your name when you pause. A second daemon
    on the same vault exits with 75.
    """
    _check_together(make, {"--language": language, "--under": under, "--yes": yes})
    if make and path is None:
        raise click.UsageError("--init needs the PATH of the folder that is to become a vault")
    if make and path is not None:
        if http:
            _check_port(load_vault_settings(path if path.is_dir() else None).settings, port)
        done = adopt(output, path, Wishes(language, under=under, spoken=spoken()), drafts=None, yes=yes).done
        output.note(tr("{root} is already a vault" if done.was_vault else "{root} is a vault now", root=path))
    daemon = Daemon(open_workspace(output.vault() if path is None else find_vault(Path.cwd(), path)))
    settings = daemon.workspace.settings
    speak(settings.vault.language)  # PATH may be another vault than the one at hand
    is_open = http or settings.http.on
    if port is not None and not is_open:
        raise click.UsageError(tr("--port goes with --http"))
    if is_open and not is_watched(daemon.workspace):
        _check_port(settings, port)
    if not make:
        _ask_again(output, daemon.workspace.vault)

    def stop(number: int, _: FrameType | None) -> None:
        daemon.stop.ask(signal.Signals(number).name)

    on_stop(stop)
    daemon.meanwhile = _load_doors
    daemon.doors = partial(_doors, output, _port(settings, port), is_open)
    if not is_watched(daemon.workspace):
        output.note(text("live.reading", settings.vault.language))

    def watching() -> None:
        look_while_staying()
        _greet(output, daemon.workspace, is_open)

    with progress_bar(output, tr("notes")) as daemon.indexed:
        daemon.run(watching)
    output.emit({"stopped": daemon.stop.reason}, tr("stopped: {reason}", reason=daemon.stop.reason))


def _greet(output: Output, workspace: Workspace, is_open: bool) -> None:
    """Say what is watched, and how the daemon can be asked."""
    settings, kinds = workspace.settings, import_module("agent.app.channels").KINDS
    doors = [tr("the command line")]
    if settings.inbox.answers != "off":
        doors.append(tr("notes in {folder}", folder=workspace.vault.home.at(INBOX)))
    doors += [each.name for each in kinds if each.receive is not None and each.is_used(settings)]
    output.note(tr("watching {root}; Ctrl-C stops", root=workspace.vault.place.root))
    output.note(tr("it answers: {what}", what=tr(", ").join(doors)))
    if not is_open:
        output.note(tr("no port is open; vault-agent serve --open shows the dashboard in a browser"))


def _check_together(make: bool, with_init: Mapping[str, object]) -> None:
    """Raise `UsageError` for options that change nothing without --init."""
    for option, value in with_init.items():
        if value and not make:
            raise click.UsageError(tr("{option} goes with --init", option=option))


def _port(settings: Settings, port: int | None) -> int:
    return settings.http.port if port is None else port


def _check_port(settings: Settings, port: int | None) -> None:
    """Raise `UserError` for a port that is taken, before anything is made or read."""
    ports = import_module("agent.interfaces.http.door.port")
    ports.bound_socket(ports.PortRequest(_port(settings, port))).close()


def _load_doors() -> tuple[ModuleType, ...]:
    """The modules of the doors, which take as long to load as a command."""
    return tuple(import_module(f"agent.interfaces.{name}") for name in ("http.serving", "http.door.port", "cli.served"))


@contextmanager
def _doors(output: Output, port: int, is_wanted: bool, live: Live) -> Iterator[None]:
    """The daemon's socket, and a port if one is wanted; loaded once the daemon has started."""
    serving, ports, served = _load_doors()
    workspace = live.workspace
    with serving.doors_of(live, served.own_routes(live)) as doors, served.answering(workspace):
        if is_wanted:
            link = doors.open(ports.PortRequest(port)).open
            sentence = "the dashboard: {link} (once, for one minute; vault-agent serve --open makes a new one)"
            output.note(tr(sentence, link=link))
        yield


def _ask_again(output: Output, vault: Vault) -> None:
    """Ask about uncommitted changes, if the person has put that off until later."""
    drafts = load_drafts(drafts_file(vault.private_folder))
    if drafts.ask and is_asked(output):
        decide_drafts(vault, ask_drafts(output, drafts.files))
