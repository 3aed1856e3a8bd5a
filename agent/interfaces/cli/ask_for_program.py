"""`vault-agent ask-for-program`: `ask` as the MCP server calls it for a program, not people; `--help` does not list it.

The server stays small: the agent is in the daemon where one is at work, else in this process, which ends with the run.
"""

import json
import os
import signal
import sys
from dataclasses import replace
from threading import Thread

import click

from agent.errors import UserError
from agent.events.runs import Speaker
from agent.interfaces.cli.ask import run_task
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import show
from agent.interfaces.cli.run_messages import RunTask

PROGRESS = "progress"
"""The key of a line on standard error that says what the run does."""


@click.command()
@click.argument("program")
@click.pass_obj
def command(output: Output, program: str) -> None:
    """Run the task in the first line of standard input for PROGRAM, a channel such as `mcp:claude-code`: a JSON object
    with `task`, `session` and `untrusted` (as `RunTask` has them).

    The run stops when standard input ends: the server does not want it any more, or has gone. What it does meanwhile
    is told on standard error, each line a JSON object with `progress`.
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


def _tell(line: str) -> None:
    show(json.dumps({PROGRESS: line}), error=True)


def _stop_at_end_of_input() -> None:
    while sys.stdin.buffer.readline():
        pass
    os.kill(os.getpid(), signal.SIGINT)
