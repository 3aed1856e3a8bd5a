"""Runs a task of `ask` in this process.

Whoever reads the answer from a pipe has it as soon as it is there: what is to be remembered of the run is written once
standard output is closed.
"""

import sys
from contextlib import closing
from functools import partial

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.errors import LockHeld
from agent.interfaces.cli.decide import resume_after
from agent.interfaces.cli.foreground import Foreground, foreground, update_index
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import close_output
from agent.interfaces.cli.run_messages import SILENT, RunTask
from agent.interfaces.cli.run_report import report_of, summary_of
from agent.interfaces.cli.run_summary import show_summary
from agent.interfaces.cli.skill_news import show_skill_news
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.crash_recovery import close_cut_off
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.workspace.search_index import open_index


def show_here(output: Output, wanted: RunTask) -> None:
    """Run the task on the screen of this command, and print what has come of it; raises as `show_summary`."""
    workspace = open_workspace(output.vault())
    with closing(open_index(workspace)) as index:
        close_cut_off(workspace)
        update_index(workspace, index, output)
        arrived = arrivals_before_a_run(workspace)
        if arrived and wanted.is_owners:
            output.note(arrived)
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        is_read_at_once = output.json or not sys.stdout.isatty()
        with here.closing():
            ended = _run(agent, here, output, wanted)
            found = report_of(agent, ended, resumed=bool(wanted.resume))
            summary = summary_of(found, workspace.settings.vault.language)
            if is_read_at_once:
                show_summary(output, summary)
                close_output()
    if not is_read_at_once:
        show_summary(output, summary)
    if wanted.is_owners:
        show_skill_news(workspace, output)


def _run(agent: RunService, here: Foreground, output: Output, wanted: RunTask) -> Ended:
    go_on, session = partial(resume_after, agent), wanted.session
    if wanted.resume:
        return here.run_and_decide(partial(_resumed, agent, wanted), go_on)
    asked = RunRequest(wanted.task, wanted.speaker, wanted.role)
    if session and agent.is_stale(load_session(agent.workspace.vault, session)):
        output.note(said(SILENT, session=session))
        session = ""
    return here.run_and_decide(lambda line: agent.ask(asked, session, line, wanted.untrusted), go_on)


def _resumed(agent: RunService, wanted: RunTask, line: RunIO) -> Ended:
    """Take up a run, as soon as the process that is still in its session has left it."""
    clock, given = agent.workspace.clock, wanted.given
    until = clock.monotonic() + wanted.patience
    while True:
        try:
            if given is not None:
                return resume_after(agent, wanted.resume, given, line)
            return agent.resume(wanted.resume, line)
        except LockHeld:
            if clock.monotonic() >= until or line.cancelled():
                raise
