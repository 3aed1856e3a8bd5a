"""`vault-agent serve`: the dashboard and the API on a port of this machine, until Ctrl-C, and the browsers that are
signed in there.

It is the vault's daemon with a port. Where a daemon is at work already, that one opens the port, as long as this
command runs.
"""

import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click

from agent.app.open import open_workspace
from agent.errors import Permanent, UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, spoken, tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.interfaces.cli.run_messages import parse_stream
from agent.interfaces.cli.streams import on_stop
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.interfaces.http.door.browsers import Browser, BrowserInfo, browsers_of, load_token
from agent.interfaces.http.door.port import LOOPBACK, PortRequest, Tls
from agent.json_value import parse_json
from agent.texts import text
from agent.workspace.daemon_socket import DaemonConnection
from agent.workspace.process_memory import look_while_staying
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:
    from agent.daemon import Daemon, Live


@click.command()
@click.option("--port", type=click.IntRange(0, 65_535), help="The port; 0 takes any that is free.")
@click.option("--open", "opened", is_flag=True, help="Open the dashboard in the browser.")
@click.option("--listen", metavar="ADDRESS", help="Listen on this address, for other machines; needs TLS or a proxy.")
@click.option("--certificate", type=click.Path(path_type=Path, exists=True), help="With --listen: a TLS certificate.")
@click.option("--key", type=click.Path(path_type=Path, exists=True), help="With --listen: the certificate's key.")
@click.option(
    "--proxy", metavar="ORIGIN", help="The public origin, of a proxy before it for example: https://a.example.org."
)
@in_vault
def command(
    output: Output,
    workspace: Workspace,
    port: int | None,
    opened: bool,
    listen: str | None,
    certificate: Path | None,
    key: Path | None,
    proxy: str | None,
) -> None:
    """Serve the vault's dashboard and API to this machine, and watch the vault as the daemon does, until Ctrl-C."""
    port = workspace.settings.http.port if port is None else port
    wanted = _wanted(port, listen, certificate, key, proxy)
    with _interruptible() as stopping:
        if is_watched(workspace):
            _serve_beside(workspace, output, wanted, opened)
            return
        daemon: Daemon = import_module("agent.daemon").Daemon(workspace)  # slow to load, and another may be at work
        stopping.append(daemon)

        @contextmanager
        def doors(live: "Live") -> Iterator[None]:
            served = import_module("agent.interfaces.cli.served")
            doors_of = import_module("agent.interfaces.http.serving").doors_of
            with doors_of(live, served.own_routes(live)) as found, served.answering(workspace):
                port = found.open(wanted)
                with _announced(output, port.url, port.open, port.token_file, opened):
                    yield

        daemon.doors = doors
        output.note(text("live.reading", workspace.settings.vault.language))
        with progress_bar(output, tr("notes")) as daemon.indexed:
            daemon.run(look_while_staying)


def _wanted(
    port: int, listen: str | None, certificate: Path | None, key: Path | None, proxy: str | None
) -> PortRequest:
    if (certificate is None) != (key is None):
        raise UserError("--certificate and --key go together", hint="vault-agent serve --help")
    tls = Tls(certificate, key) if certificate and key else None
    wanted = PortRequest(port, listen or LOOPBACK, (proxy or "").rstrip("/"), tls)
    wanted.check()
    return wanted


def _serve_beside(workspace: Workspace, output: Output, wanted: PortRequest, opened: bool) -> None:
    tls = wanted.tls
    asked: dict[str, str | int] = {
        "port": wanted.port,
        "address": wanted.address,
        "origin": wanted.origin,
        "certificate": str(tls.certificate.absolute()) if tls else "",
        "key": str(tls.key.absolute()) if tls else "",
    }
    try:
        with suppress(KeyboardInterrupt), ExitStack() as stack:
            for event, data in stream_from_daemon(workspace, "/api/v1/ports", asked):
                if event == "open":
                    file = Path(str(data["token_file"]))
                    stack.enter_context(_announced(output, str(data["url"]), str(data["open"]), file, opened))
            raise UserError("the daemon has ended, and closed the port", hint="vault-agent serve opens it again")
    except OSError:
        raise UserError(
            "this vault's daemon does not answer", hint="stop it, then start it again or use serve alone"
        ) from None


def stream_from_daemon(
    workspace: Workspace, path: str, params: Mapping[str, str | int]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The events of a stream of the daemon with their data, until it ends; leaving it early closes the connection.

    Raises `OSError` if the daemon does not answer, `Permanent` with the daemon's words for a problem.
    """
    with closing(DaemonConnection(workspace, None)) as connection:
        headers = {"Authorization": f"Bearer {load_token(workspace)}"}
        connection.request("POST", f"{path}?{urlencode(params)}", headers=headers)
        response = connection.getresponse()
        if response.status != HTTPStatus.OK:
            problem = parse_json(response.read())
            raise Permanent(problem["detail"], hint=problem.get("hint", ""))
        yield from parse_stream(response)


@contextmanager
def _announced(output: Output, url: str, link: str, token_file: Path, opened: bool) -> Iterator[None]:
    """Say where the server listens, and open it in the browser if that is wanted."""
    document = {"url": url, "open": link, "token_file": str(token_file)}
    sentence = tr("{url}\nopen it with this link, which works once, for one minute: {link}", url=url, link=link)
    output.emit(document, "\n".join([sentence, tr("vault-agent serve --open makes a new link at any time")]))
    if not opened:
        yield
        return
    opening = import_module("agent.interfaces.http.door.sign_in")
    with opening.opening_page(token_file.parent, link, spoken()) as file:
        click.launch(file.as_uri())
        yield


@contextmanager
def _interruptible() -> "Iterator[list[Daemon]]":
    """A list for a daemon that a signal asks to stop; without one, the signal interrupts."""
    found: list[Daemon] = []

    def stop(number: int, _: FrameType | None) -> None:
        if not found:
            raise KeyboardInterrupt
        found[0].stop.ask(signal.Signals(number).name)

    on_stop(stop)
    yield found


@click.group(invoke_without_command=True)
@click.pass_context
def browsers(ctx: click.Context) -> None:
    """List the browsers and apps that are signed in: which, since when, at which port, last seen.

    A browser stays signed in for 30 days, at the port where it has opened its link; an app that was paired, such as
    Obsidian, until it was not used for 30 days.
    """
    if ctx.invoked_subcommand is None:
        output: Output = ctx.obj
        workspace = open_workspace(output.vault())
        found = browsers_of(workspace).all()
        output.emit({"browsers": [BrowserInfo.of(each) for each in found]}, lambda: _browser_lines(workspace, found))


@browsers.command("end")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "everyone", is_flag=True, help="Sign all of them out.")
@click.pass_obj
def end_browsers(output: Output, ids: tuple[str, ...], everyone: bool) -> None:
    """Sign browsers out, at once: their open pages end, too."""
    if bool(ids) == everyone:
        raise UserError("which browser? name its ID, or --all", hint="vault-agent serve browsers lists them")
    browsers = browsers_of(open_workspace(output.vault()))
    ended = [each.id for each in browsers.all()] if everyone else list(dict.fromkeys(ids))
    browsers.end(ended)
    done = counted(len(ended), "1 browser is signed out", "{count} browsers are signed out")
    output.emit({"ended": ended}, done)


def _browser_lines(workspace: Workspace, browsers: tuple[Browser, ...]) -> str:
    if not browsers:
        return tr("no browser is signed in")
    now = workspace.clock.now()
    rows = [
        tr(
            "{id}  {name}, an app, since {since}, seen {seen}"
            if each.is_app
            else "{id}  {name}, port {port}, since {since}, seen {seen}",
            id=each.id,
            name=each.name or tr("another browser"),
            port=each.port,
            since=format_time(each.since, now),
            seen=format_ago(each.seen, now),
        )
        for each in browsers
    ]
    return as_lines([*rows, tr("vault-agent serve browsers end ID signs one out")])
