"""`vault-agent ask`: runs one task and shows the answer as it arrives, and the changes made.

Where the vault's daemon is at work the task runs there and is shown here (`runs_in_daemon`), else in this process
(`ask_here`). An answer exits with 0, and so does a run that waits for its person; a run that a limit stopped exits with
1, since its answer is not whole. A failed run exits with the code of the error that stopped it; its document still
names the run and the session. Where the model failed before it had done anything, the notes are quoted as without a
model: the quotations are the output, what failed is said on standard error, and the document has `quoted`.

`ask-for-program` is `ask` as the MCP server calls it for a program, not people; `--help` does not list it.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from threading import Thread

import click

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.events.runs import Speaker
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.guest import asking, guest_options
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import show
from agent.interfaces.cli.run_messages import EXIT_CODES, RunTask
from agent.interfaces.cli.runs_in_daemon import DaemonGone, show_from_daemon


@click.command(epilog=EXIT_CODES)
@words_argument("text", required=False)
@click.option("--session", metavar="PATH", default="", help="Go on in this session instead of a new one.")
@click.option("--continue", "-c", "goes_on", is_flag=True, help="Go on with the last talk.")
@click.option("--resume", metavar="PATH", default="", help="Take up the run in this session that was cut off or waits.")
@click.option("--note", metavar="NOTE", default="", help="Answer what this note asks, in the note.")
@guest_options
@click.pass_obj
def command(
    output: Output,
    text: str | None,
    session: str,
    goes_on: bool,
    resume: str,
    note: str,
    name: str,
    group: str,
    channel: str,
) -> None:
    """Ask TEXT (`-` reads standard input). Without a model the answer quotes the notes that fit best.

    On a terminal the answer appears as it arrives, and you are asked at once for any approval that is needed. A pipe
    gets only the answer. Ctrl-C stops the run; its changes are kept, and --resume continues it.
    """
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    task = (text or "").strip()
    if note:
        if task or session or goes_on or resume or name:
            raise UserError("--note stands alone: the task is in the note", hint="vault-agent ask --note NOTE")
        import_module("agent.interfaces.cli.ask_here").answer_note(output, open_workspace(output.vault()), note)
        return
    if bool(resume) == bool(task):
        raise UserError("say what you want, or --resume a session", hint='vault-agent ask "What did I plan for June?"')
    if goes_on and (session or resume):
        raise UserError(
            "--continue goes on with the last talk, so it names none", hint="leave out --session or --resume"
        )
    who = asking(name, group, channel)
    if resume and name:
        raise UserError("--as goes with a new task, not with --resume", hint="the run that is resumed has its speaker")
    session = _last_talk(output, who.speaker) if goes_on else session
    run_task(output, RunTask(task, who.speaker, who.role, session, resume))


def _last_talk(output: Output, speaker: Speaker) -> str:
    """The path of the session in which this speaker said something last; raises `UserError` if there is none. One that
    arrived from elsewhere, or was changed by hand, is gone on with only by its name."""
    vault = open_workspace(output.vault()).vault
    found = import_module("agent.loop.session").latest_session(vault, speaker, ())
    if found is None or vault.own_version(found.path) != vault.read(found.path):
        raise UserError("there is no talk to go on with", hint="leave out --continue, or name one with --session")
    path: str = found.path
    return path


def run_task(output: Output, wanted: RunTask) -> None:
    """Run the task in the daemon or here, and print what has come of it; raises as `show_summary`."""
    try:
        if show_from_daemon(output, wanted):
            return
    except DaemonGone as gone:
        output.note(tr("the daemon has ended; this goes on here"))
        wanted = gone.left
    import_module("agent.interfaces.cli.ask_here").show_here(output, wanted)  # slow to load


@click.command()
@click.argument("program")
@click.pass_obj
def ask_for_program(output: Output, program: str) -> None:
    """Run the task in the first line of standard input for PROGRAM, a channel such as `mcp:claude-code`: a JSON object
    with `task`, `session` and `untrusted` (as `RunTask` has them).

    What the run does is told on standard error, each line a JSON object with `progress` and the `session`. The run
    stops when standard input ends, as nobody wants it any more, unless its last line is `keep`.
    """
    try:
        asked = json.loads(sys.stdin.buffer.readline())
        wanted = RunTask(
            str(asked["task"]),
            Speaker(program),
            "owner",
            session=str(asked["session"]),
            untrusted=str(asked["untrusted"]),
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError("standard input has no task", hint='vault-agent ask "What did I plan for June?"') from error
    Thread(target=_stop_at_end_of_input, name="vault-agent-input", daemon=True).start()
    run_task(replace(output, progress=_tell), wanted)


def _tell(session: str, line: str) -> None:
    with suppress(OSError):  # the server has ended, and the run goes on
        show(json.dumps({"progress": line, "session": session}), error=True)


def _stop_at_end_of_input() -> None:
    last = b""
    for line in iter(sys.stdin.buffer.readline, b""):
        last = line
    if last != b"keep\n":
        os.kill(os.getpid(), signal.SIGINT)
