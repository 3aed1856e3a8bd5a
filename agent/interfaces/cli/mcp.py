"""`vault-agent mcp`: serves the vault to other programs, such as Claude Code, and tells those programs of it."""

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from agent.config.program_parts import command_to_add
from agent.errors import UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import PROGRAM, Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.mcp.greeting import build_late, greet, skip_client
from agent.interfaces.mcp.install.programs import NAMES, config_file, program_named
from agent.interfaces.mcp.source import plain_name
from agent.lazy import later

if TYPE_CHECKING:
    from agent.app.open import open_workspace
    from agent.interfaces.mcp.definitions import offer_of
    from agent.workspace.process_memory import look_while_staying
    from agent.workspace.workspace import Workspace
else:  # a program waits for the first answer
    open_workspace = later("agent.app.open", "open_workspace")
    offer_of = later("agent.interfaces.mcp.definitions", "offer_of")
    look_while_staying = later("agent.workspace.process_memory", "look_while_staying")

_HOME = "VAULT_AGENT_HOME"


@click.group(invoke_without_command=True)
@click.option("--http", "is_http", is_flag=True, help="Over HTTP on this machine, not standard input and output.")
@click.option("--port", type=click.IntRange(0, 65_535), default=None, help="With --http: the port; 0: any free one.")
@click.option("--as", "name", metavar="NAME", default="", help="The program's name; mcp install gives it one.")
@click.option("--tools", metavar="A,B", default="", help="Offer these tools only; all: every one.")
@click.option("--read-only", is_flag=True, help="Offer only what changes nothing.")
@click.pass_context
def command(ctx: click.Context, is_http: bool, port: int | None, name: str, tools: str, read_only: bool) -> None:
    """Serve the vault by the Model Context Protocol. A program such as Claude Code starts this by itself.

    Each program is named in the commits that it makes, such as mcp:claude-code, and its changes are undone by that
    name. The name is that of --as, else of the process that has started this, never what a program says of itself
    alone. What others wrote, and what needs your yes, is treated as in the agent's own runs.

    With --http any program on this machine can connect that shows the token in the file that is named, or one of its
    own: vault-agent mcp token NAME.
    """
    if ctx.invoked_subcommand is not None:
        return
    if port is not None and not is_http:
        raise click.UsageError(tr("--port goes with --http"))
    if name and is_http:
        raise click.UsageError(tr("with --http a token names the program: vault-agent mcp token {name}", name=name))
    if name and not plain_name(name):
        raise UserError("{name} is no name for a program", hint="use a word, such as cursor", name=name)
    _check_library()
    output: Output = ctx.obj
    root, greeting = output.vault(), None
    if not is_http and sys.stdin.isatty():
        output.note(tr("a program starts this by itself; vault-agent mcp install tells one of this vault"))
    elif not is_http:
        greeting = greet()
    offer, workspace = offer_of(tools, read_only=read_only), open_workspace(root)
    skip_client()
    build_late()
    if not is_http:
        stdio = import_module("agent.interfaces.mcp.server")
        look_while_staying()
        stdio.serve(workspace, offer, name, greeting)
        return

    def announce(listening: object) -> None:
        url, file = getattr(listening, "url", ""), getattr(listening, "token_file", "")
        text = tr("listens at {url}; the token is in {file}; Ctrl-C ends it", url=url, file=file)
        output.emit({"url": url, "token_file": str(file)}, text)
        sys.stdout.flush()

    web = import_module("agent.interfaces.mcp.web")
    look_while_staying()
    web.serve(workspace, offer, port, announce)


@command.command(short_help="Tell a program of this vault, in its configuration file.")
@click.option("--client", required=True, type=click.Choice(NAMES), help="The program.")
@click.option("--name", default=PROGRAM, show_default=True, metavar="NAME", help="What the program calls this vault.")
@click.option("--tools", metavar="A,B", default="", help="Offer these tools only; all: every one.")
@click.option("--read-only", is_flag=True, help="Offer only what changes nothing.")
@click.option("--remove", is_flag=True, help="Take it out again.")
@click.option("--with-hooks", is_flag=True, help="Also what it is told when a session begins, and kept at its end.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.pass_obj
def install(
    output: Output,
    client: str,
    name: str,
    tools: str,
    read_only: bool,
    remove: bool,
    with_hooks: bool,
    dry_run: bool,
) -> None:
    """Add this vault to the configuration file of a program, for all its projects. All else in the file stays.

    With --with-hooks, Claude Code, Codex and Gemini CLI are told at the begin of a session who you are and what is
    open, in at most 600 tokens; at its end, what the program has decided is kept, as its words. They get a skill, too.
    """
    program, module = program_named(client), import_module("agent.interfaces.mcp.install.installing")
    path = config_file(program, Path.home())
    hooks: ModuleType = import_module("agent.interfaces.mcp.install.hooks")
    if remove:
        edited = module.removed(program, path, name)
        more = hooks.without_hooks(client, Path.home(), edited)
    else:
        if not dry_run:
            _check_library()
        offer_of(tools, read_only=read_only)
        options = ["--as", client, *(["--tools", tools] if tools else []), *(["--read-only"] if read_only else [])]
        root = open_workspace(output.vault()).vault.place.root
        first, *words = _program()
        env = tuple((key, os.environ[key]) for key in (_HOME,) if os.environ.get(key))
        entry = module.ServerEntry(first, (*words, "--vault", str(root), "mcp", *options), env)
        edited = module.added(program, path, name, entry)
        call = [*(f"{key}={value}" for key, value in env), first, *words, "--vault", str(root)]
        more = hooks.hook_files(client, Path.home(), ["env", *call] if env else call, edited) if with_hooks else []
    if edited.is_changed and not dry_run:
        module.write(edited)
    changed = [each for each in more if each.is_changed]
    for each in changed if not dry_run else []:
        hooks.write_hooks(each)
    document = {"client": client, "file": str(path), "name": name, "changed": edited.is_changed, "dry_run": dry_run}
    result = {**document, "diff": edited.diff, "hooks": [str(each.path) for each in changed]}
    lines = _report(edited.is_changed or bool(changed), path, program.title, dry_run)
    lines += [f"  {each.path}" if each.after else tr("  {path} is removed", path=each.path) for each in changed]
    diffs = [each.diff.rstrip("\n") for each in (edited, *changed) if each.is_changed and dry_run]
    output.emit(result, "\n".join([as_lines(lines), *diffs]))


@command.command(short_help="Give a program a token of its own, for --http.")
@click.argument("name", required=False)
@click.option("--remove", is_flag=True, help="Take it away: it opens nothing any more.")
@in_vault
def token(output: Output, workspace: "Workspace", name: str | None, remove: bool) -> None:
    """Make a token for the program NAME, which is named so in its commits, or list the programs that have one.

    A server that is at work takes a new token, and refuses one that was taken away, at once.
    """
    tokens = import_module("agent.interfaces.mcp.token_file").Tokens(workspace.vault.private_folder)
    if name is None:
        if remove:
            raise UserError("whose token?", hint="vault-agent mcp token lists them")
        names = tokens.names()
        output.emit({"names": names}, as_lines(names) if names else tr("no program has a token of its own"))
        return
    if remove:
        output.emit({"removed": str(tokens.remove(name))}, tr("{name} has no token any more", name=name))
        return
    file = tokens.named(name)
    output.emit({"token_file": str(file)}, tr("the token of {name} is in {file}", name=name, file=file))


def _check_library() -> None:
    """Raise `UserError` without the library by which other programs are served."""
    if find_spec("mcp") is None:
        raise UserError(
            "the library for MCP is not installed", hint="install it: {command}", command=command_to_add("mcp")
        )


def _report(is_changed: bool, path: Path, title: str, dry_run: bool) -> list[str]:
    if not is_changed:
        return [tr("{path} needs no change", path=path)]
    if dry_run:
        return [tr("would change {path}; nothing is changed yet:", path=path)]
    return [
        tr("changed {path}", path=path),
        tr("start {title} again, so that it reads the file", title=title),
    ]


def _program() -> list[str]:
    """The words that start this program, from any folder."""
    script = Path(sys.argv[0]).absolute()
    if script.name == PROGRAM and os.access(script, os.X_OK):
        return [str(script)]
    return [sys.executable, "-P", "-m", "agent"]  # not a package of this name in the folder where it is started
