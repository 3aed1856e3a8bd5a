"""The entry point of the command line: the options that commands share, and the exit code of each error.

A command's module is imported only when that command runs, so `--help` is fast, and a command that cannot be imported
does not break the others. Only this module maps errors to exit codes; the commands raise.
"""

import errno
import gc
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from agent.config.directories import directories, process_clock
from agent.config.masking import keep_out_of_print
from agent.config.secrets import secrets_of
from agent.errors import AgentError, Permanent, Retryable, UserError, os_reason
from agent.interfaces.cli.click_texts import (
    context_of,
    in_language,
    in_one_line,
    near,
    speak_for_click,
    usage_hint,
    write_all,
    write_groups,
)
from agent.interfaces.cli.commands import COMMANDS, usual
from agent.interfaces.cli.language import asks_json, speak, terminal_language, tr
from agent.interfaces.cli.loading import load_command, shared_options
from agent.interfaces.cli.notices_at_end import send_notices
from agent.interfaces.cli.output import (
    AGAIN,
    BUG,
    CHECK,
    COMPLETE,
    DONE,
    FIXABLE,
    INTERRUPTED,
    PROGRAM,
    READER_GONE,
    CheckFailed,
    CommandFailed,
    Output,
    RelayedError,
    exit_codes,
    say,
    to_json,
)
from agent.interfaces.cli.printing import colour, show
from agent.interfaces.cli.streams import hear_hangup, is_reader_gone, prepare_streams
from agent.lazy import later
from agent.workspace.process_memory import look_while_loading

if TYPE_CHECKING:
    from agent.config.crashes import keep_crash
else:
    keep_crash = later("agent.config.crashes", "keep_crash")

_PERSON_CAN_FIX = {
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.EIO,
}
"""Errors of the machine, not of the program: no permission, read-only or full disk, a folder where a file belongs."""


class LazyGroup(click.Group):
    """A group whose commands are in a table and imported when they run; help lists those that are often typed."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        extra.setdefault("obj", Output())
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(usual())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            hint = near(args[0], tuple(COMMANDS))
            raise click.UsageError(tr("no such command: {name}.{near}", name=args[0], near=hint), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_groups(formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["click.shell_completion.CompletionItem"]:
        from click.shell_completion import CompletionItem

        names = [name for name in usual() if name.startswith(incomplete)]
        names = names or [name for name in COMMANDS if name.startswith(incomplete)]
        found = [CompletionItem(name, help=tr(COMMANDS[name].help)) for name in names]
        return found or click.Command.shell_complete(self, ctx, incomplete)


def _show_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    found = version(PROGRAM)
    ctx.ensure_object(Output).emit({"version": found}, f"{PROGRAM} {found}")
    ctx.exit()


def _show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    formatter = ctx.make_formatter()
    write_all(formatter)
    show(formatter.getvalue(), end="")
    ctx.exit()


def _start() -> None:
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        import_module("agent.interfaces.cli.start").show_start(context.obj)


cli = LazyGroup(
    PROGRAM,
    callback=_start,
    invoke_without_command=True,
    help="A personal agent that lives in your Markdown vault: every change is a note you can read "
    "and a commit you can undo.",
    params=[
        *shared_options("VAULT_AGENT_VAULT"),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Print the version.",
        ),
        click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="List all commands, old names too.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run() -> NoReturn:
    """Run the command line in this process.

    It limits OpenBLAS to one thread, which only starts others.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    hear_hangup()
    look_while_loading()
    code = main(sys.argv[1:])
    gc.freeze()
    leave(code)


def leave(code: int) -> NoReturn:
    """End this process. A thread that is left in the midst of something (Ctrl-C has ended the wait for it) would crash
    when the interpreter is taken down beneath it: then nothing is taken down."""
    if any(each.daemon for each in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; never raises, except to exit the interpreter."""
    prepare_streams()
    speak("en" if asks_json(args) else terminal_language(args))
    speak_for_click()
    keep_out_of_print(secrets_of(os.environ))  # the settings' secrets follow, once a vault is open
    try:
        code = _invoke(list(args))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError as error:
        return READER_GONE if is_reader_gone() else _fail(error, args)
    except Exception as error:  # noqa: BLE001 - the outermost level: every failure becomes a message and an exit code
        code = _fail(error, args)
    try:
        send_notices(is_document=asks_json(args))
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def run_command(args: Sequence[str]) -> int:
    """Run one command line in a process that is not its own, and return its exit code: as `main`, but the process's
    streams, language and secrets stay as they are."""
    try:
        return _invoke(list(args))
    except Exception as error:  # noqa: BLE001 - the outermost level: every failure becomes a message and an exit code
        return _tell(error, args)


def _invoke(args: list[str]) -> int:
    instruction = os.environ.get(COMPLETE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, PROGRAM, COMPLETE, instruction)
    program = in_language(cli, epilog=exit_codes("a check found something"))
    try:
        with program.make_context(PROGRAM, list(args)) as ctx:
            ctx.color = colour()
            program.invoke(ctx)
    except click.UsageError as error:
        error.ctx = error.ctx or context_of(program, args)
        raise
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except CheckFailed:
        return CHECK
    return DONE


def _fail(error: Exception, args: Sequence[str]) -> int:
    """Print the error, on standard error or as one JSON document, and return the exit code."""
    try:
        code = _tell(error, args)
        sys.stdout.flush()
    except OSError:
        # Standard output is closed; the buffer must not fail again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = exit_code(error.error if isinstance(error, CommandFailed) else error)
    return code


def _tell(error: Exception, args: Sequence[str]) -> int:
    beside: Mapping[str, object] = {}
    if isinstance(error, CommandFailed):
        beside, error = error.document, error.error
    code = exit_code(error)
    _explain(error, code, args, beside)
    return code


def _explain(error: Exception, code: int, args: Sequence[str], beside: Mapping[str, object]) -> None:
    name, message, hint = _words(error, code)
    if asks_json(args):
        failure = {**beside, "ok": False, "error": {"type": name, "message": message, "hint": hint}}
        show(to_json(failure))
    elif isinstance(error, click.exceptions.NoArgsIsHelpError):
        show(error.ctx.get_help(), error=True)
    else:
        lines = [tr("error: {message}", message=tr(message))]
        say("\n".join([*lines, tr("  hint: {hint}", hint=tr(hint))] if hint else lines))
    if code == BUG:
        _keep(error)
    if os.environ.get("VAULT_AGENT_DEBUG") == "1":
        from traceback import format_exception

        say("".join(format_exception(error)).rstrip())


def _keep(error: Exception) -> None:
    """Note on this machine where a bug showed, for `doctor --report`."""
    with suppress(AgentError, OSError):
        keep_crash(directories().crashes, error, process_clock().now())


def exit_code(error: Exception) -> int:
    """The exit code: 2 for an error that the person can fix, including `Permanent` (its hint names the repair), 75 for
    a temporary one, 130 for an unanswered question, 70 for the rest."""
    match error:
        case UserError() | Permanent() | click.ClickException():
            return FIXABLE
        case RelayedError(code=code):
            return code
        case Retryable():
            return AGAIN
        case click.Abort():
            return INTERRUPTED
        case OSError(errno=number) if number in _PERSON_CAN_FIX or _is_nowhere(error):
            return FIXABLE
        case _:
            return BUG


def relayed_error(error: Exception) -> RelayedError:
    """The error in the language of this context, to be told in another process."""
    code = exit_code(error)
    name, message, hint = _words(error, code)
    return RelayedError(name, tr(message), tr(hint), code)


def _words(error: Exception, code: int) -> tuple[str, str, str]:
    """An error's type, message and hint, as shown."""
    match error:
        case AgentError():
            return type(error).__name__, error.message, error.hint
        case RelayedError():
            return error.name, error.message, error.hint
        case click.exceptions.NoArgsIsHelpError():
            return "UsageError", tr("a command is missing"), f"{error.ctx.command_path} --help"
        case click.UsageError():
            return "UsageError", in_one_line(error), usage_hint(error)
        case click.ClickException():
            return type(error).__name__, error.format_message(), ""
        case click.Abort():
            return "Interrupted", tr("stopped"), ""
        case OSError() if code == FIXABLE and _is_nowhere(error):
            return (
                type(error).__name__,
                tr("the folder that you are in was deleted"),
                tr("go to another one: cd ~"),
            )
        case OSError() if code == FIXABLE:
            reason = tr(os_reason(error))
            if not error.filename:
                return type(error).__name__, reason, ""
            message = tr("{problem}: {words}", problem=reason, words=error.filename)
            return type(error).__name__, message, tr("vault-agent doctor looks for the cause")
        case _:
            hint = tr("this is a bug, please report it; vault-agent doctor --report FILE writes what helps")
            return type(error).__name__, f"{type(error).__name__}: {error}", hint


def _is_nowhere(error: OSError) -> bool:
    """True for a failure because the folder that the person is in is not there any more."""
    if error.filename is not None:
        return False
    try:
        os.getcwd()  # noqa: PTH109 - nothing is done with it
    except FileNotFoundError:
        return True
    return False
