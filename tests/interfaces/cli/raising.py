"""A command that fails as it is told, to see what a person gets."""

import errno

import click

from agent.errors import AgentError, BadNote, LockHeld, NotAVault, Permanent, Retryable, StopRun
from agent.interfaces.cli.output import CheckFailed, Output, exit_codes

FAILURES: dict[str, BaseException] = {
    "bad-note": BadNote("a.md:3: not YAML", line=3, hint="mend line 3"),
    "not-a-vault": NotAVault("no vault here", hint="vault-agent init PATH"),
    "permanent": Permanent("the index is corrupt", hint="delete it"),
    "lock-held": LockHeld("another process is writing"),
    "retryable": Retryable("the network is away"),
    "stop-run": StopRun("finished"),
    "agent-error": AgentError("of no kind"),
    "bug": ValueError("unexpected \x1b[2J"),
    "broken-pipe": BrokenPipeError(errno.EPIPE, "Broken pipe"),
    "no-permission": PermissionError(errno.EACCES, "Permission denied", "/some/file"),
    "disk-full": OSError(errno.ENOSPC, "No space left on device"),
    "no-file": FileNotFoundError(errno.ENOENT, "No such file or directory", "/gone"),
    "interrupt": KeyboardInterrupt(),
    "abort": click.Abort(),
    "bad-option": click.BadParameter("not a number"),
}


@click.command(help="Fail as told.", short_help="Fail as told.", epilog=exit_codes("something was found"))
@click.argument("how")
@click.option("--number", type=int)
@click.pass_obj
def command(output: Output, how: str, number: int | None) -> None:
    if how == "not":
        output.emit({"how": how, "number": number}, lambda: f"fine {number}")
        return
    if how == "check":
        output.emit({"ok": False, "found": 1}, "found 1")
        raise CheckFailed
    if how.startswith("echo:"):
        output.emit({"text": how[5:]}, how[5:])
        return
    raise FAILURES[how]
