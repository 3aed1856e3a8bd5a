"""`vault-agent ask --note`: answers the requests in a note at once; the answers go into the note and on the screen."""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import click

from agent.app.agent import build_runs
from agent.background.inbox.answering import (
    WrittenAnswer,
    commit_record,
    request_lock,
    run_request,
    write_answer,
)
from agent.background.inbox.turns import TurnByHand, turn_by_hand
from agent.errors import AgentError, LockHeld, UserError
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.foreground import Foreground, foreground, update_index
from agent.interfaces.cli.language import said
from agent.interfaces.cli.lookup import named_note
from agent.interfaces.cli.output import CommandFailed, Output, progress
from agent.interfaces.cli.run_report import document as run_document
from agent.interfaces.cli.run_report import failure, remarks
from agent.interfaces.cli.run_summary import EXIT_CODES, check_whole
from agent.loop.outcome import Ended, RunOutcome
from agent.markdown.requests import NoteRequest
from agent.runs.crash_recovery import close_cut_off
from agent.runs.open_requests import asked_in, is_standing
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.vault.folders import INBOX
from agent.vault.sync.claims import Claims
from agent.vault.sync.turns import AnotherMachineHasIt
from agent.workspace.machine import open_claims
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace


@click.command(epilog=EXIT_CODES)
@click.argument("path")
@in_vault
def command(output: Output, workspace: Workspace, path: str) -> None:
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
    if is_standing(workspace.vault, name):
        raise UserError(
            "{name} is before the agent in every run, so no answer is written into it",
            hint='ask in a note in {inbox}, or here: vault-agent ask "…"',
            name=name,
            inbox=workspace.vault.home.at(INBOX),
        )
    _asked(workspace, name)
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
        asked = _asked(workspace, name)  # again: another machine may have answered meanwhile
        update_index(workspace, index, output)
        close_cut_off(workspace)
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        with here.closing():
            for request in asked:
                ended, document = _work(agent, here, output, name, request, turn)
                documents.append(document)
                all_ended.append(ended)
                if ended.outcome is RunOutcome.FAILED:
                    raise CommandFailed(failure(ended), {"path": name, "answers": documents})
                if ended.outcome is RunOutcome.INTERRUPTED:
                    break
    answers = "\n\n".join(str(document["answer"]) for document in documents)
    output.emit({"path": name, "answers": documents}, "" if sys.stdout.isatty() else answers)
    check_whole(*all_ended)


def _asked(workspace: Workspace, path: str) -> tuple[NoteRequest, ...]:
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
                output.note(said("another machine may answer {path}, too: {reason}", path=path,
                                 reason=said(turn.unknown)))  # fmt: skip
            yield turn
    except AnotherMachineHasIt as error:
        hint = "wait for its answer, then vault-agent sync brings it here"
        raise LockHeld("another machine is answering {path}", hint=hint, path=path) from error


def _work(
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
        unplaced = said("another machine has taken it over, and answers it")
        commit_record(workspace.vault, ended)
    elif ended.outcome is not RunOutcome.INTERRUPTED:
        try:
            placed = write_answer(workspace, path, request, ended)
            unplaced = "" if placed else said("the task is not in the note any more")
        except AgentError as error:
            unplaced = said(error.message)
    output.note("\n".join(remarks(ended, workspace.settings.vault.language)))
    if unplaced:
        output.warn(
            said(
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
