"""Runs of `ask` in this process: a task, or the requests in a note.

Whoever reads the answer from a pipe has it as soon as it is there: what is to be remembered of the run is written once
standard output is closed.
"""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial

import click

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.background.inbox.answering import WrittenAnswer, commit_record, request_lock, run_request, write_answer
from agent.background.inbox.turns import TurnByHand, turn_by_hand
from agent.errors import AgentError, LockHeld, UserError
from agent.interfaces.cli.decide import resume_after
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.foreground import Foreground, foreground, update_index
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.news import show_skill_news
from agent.interfaces.cli.notes import named_note
from agent.interfaces.cli.output import CommandFailed, Output, progress
from agent.interfaces.cli.printing import close_output
from agent.interfaces.cli.run_messages import EXIT_CODES, SILENT, RunTask, check_whole, show_summary
from agent.interfaces.cli.run_report import failure, remarks, report_of, run_document, summary_of
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.markdown.requests import NoteRequest
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.crash_recovery import close_cut_off
from agent.runs.open_requests import asked_in, is_read_by_every_run
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.vault.folders import INBOX
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import AnotherMachineHasIt
from agent.workspace.machine import open_claims
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace


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
            summary = summary_of(found, workspace)
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
        output.note(tr(SILENT, session=session))
        session = ""
    return here.run_and_decide(lambda line: agent.ask(asked, session, line, wanted.untrusted), go_on)


def _resumed(agent: RunService, wanted: RunTask, line: RunIO) -> Ended:
    """Take up a run, as soon as the process that is still in its session has left it."""
    clock, decision = agent.workspace.clock, wanted.given
    until = clock.monotonic() + wanted.patience
    while True:
        try:
            if decision is not None:
                return resume_after(agent, wanted.resume, decision, line)
            return agent.resume(wanted.resume, line)
        except LockHeld:
            if clock.monotonic() >= until or line.cancelled():
                raise


@click.command(epilog=EXIT_CODES)
@click.argument("path")
@in_vault
def run_note(output: Output, workspace: Workspace, path: str) -> None:
    """Run the requests in the note at PATH, and write the answers into it in one commit.

    A note in inbox/, or with `agent: ask` in its header, is one request; else each open task that begins with @agent is
    one, and without any the whole note. The daemon does the same for the notes that you write in inbox/; of several
    machines with the vault, one answers.
    """
    answer_note(output, workspace, path)


def answer_note(output: Output, workspace: Workspace, path: str) -> None:
    """Answer the requests in the note that a person names, in the note; raises `UserError` where nothing is asked, and
    `CommandFailed` for a run that failed."""
    name = named_note(workspace.vault, path)
    if is_read_by_every_run(workspace.vault, name):
        raise UserError(
            "{name} is before the agent in every run, so no answer is written into it",
            hint='ask in a note in {inbox}, or here: vault-agent ask "…"',
            name=name,
            inbox=workspace.vault.home.at(INBOX),
        )
    _open_requests(workspace, name)
    claims = open_claims(workspace)
    if claims.remote is not None:
        progress("asking the remote …")
    documents: list[dict[str, object]] = []
    all_ended: list[Ended] = []
    with (
        request_lock(workspace, name),
        _turn(workspace, claims, output, name) as turn,
        closing(open_index(workspace)) as index,
    ):
        asked = _open_requests(workspace, name)  # again: another machine may have answered meanwhile
        update_index(workspace, index, output)
        close_cut_off(workspace)
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        with here.closing():
            for request in asked:
                ended, document = _answer_request(agent, here, output, name, request, turn)
                documents.append(document)
                all_ended.append(ended)
                if ended.outcome is RunOutcome.FAILED:
                    raise CommandFailed(failure(ended), {"path": name, "answers": documents})
                if ended.outcome is RunOutcome.INTERRUPTED:
                    break
    answers = "\n\n".join(str(document["answer"]) for document in documents)
    output.emit({"path": name, "answers": documents}, "" if sys.stdout.isatty() else answers)
    check_whole(*all_ended)


def _open_requests(workspace: Workspace, path: str) -> tuple[NoteRequest, ...]:
    """What is asked in a note; raises `UserError` if that is nothing."""
    asked = asked_in(workspace, path, named=True)
    if not asked:
        hint = "write below the last answer, untick the task, or put `status: pending` into the note's header"
        raise UserError("nothing new is asked in {name}", hint=hint, name=path)
    return asked


@contextmanager
def _turn(workspace: Workspace, claims: Claims, output: Output, path: str) -> Iterator[TurnByHand]:
    """The turn for the note; raises `LockHeld` while another machine has it."""
    try:
        with turn_by_hand(claims, workspace.vault, path) as turn:
            if turn.unknown:
                output.note(tr("another machine may answer {path}, too: {reason}", path=path,
                                 reason=tr(turn.unknown)))  # fmt: skip
            yield turn
    except AnotherMachineHasIt as error:
        hint = "wait for its answer, then vault-agent sync brings it here"
        raise LockHeld("another machine is answering {path}", hint=hint, path=path) from error


def _answer_request(
    agent: RunService, here: Foreground, output: Output, path: str, request: NoteRequest, turn: TurnByHand
) -> tuple[Ended, dict[str, object]]:
    """Run one request and write its answer into the note, unless the person has stopped the run."""
    workspace, capturing = agent.workspace, agent.capturing
    capturing.hold = True  # the commit of the answer has the record of the run

    def answered(line: RunIO) -> Ended:
        stopped = replace(line, cancelled=lambda: line.cancelled() or turn.is_lost())
        ended = run_request(workspace, agent, path, request, stopped)
        capturing.close()
        return ended

    ended = here.run(answered)
    placed: WrittenAnswer | None = None
    unplaced = ""
    if turn.is_lost() or (ended.outcome is not RunOutcome.INTERRUPTED and not turn.may_answer()):
        unplaced = tr("another machine has taken it over, and answers it")
        commit_record(workspace.vault, ended)
    elif ended.outcome is not RunOutcome.INTERRUPTED:
        try:
            placed = write_answer(workspace, path, request, ended)
            unplaced = "" if placed else tr("the task is not in the note any more")
        except AgentError as error:
            unplaced = tr(error.message)
    output.note("\n".join(remarks(ended, workspace)))
    if unplaced:
        output.warn(
            tr(
                "the answer is not in {path}: {unplaced}; it is in {session}",
                path=path,
                unplaced=unplaced,
                session=ended.session,
            )
        )
    document = {
        "request": request.text,
        "line": request.line or None,
        **run_document(agent, ended),
        "status": placed.status if placed else None,
        "commit": placed.commit if placed else None,
        "problem": unplaced or None,
    }
    return ended, document
