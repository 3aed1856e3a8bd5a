"""`vault-agent run`: answers the requests in a note at once; the answers go into the note and on the screen."""

import sys
from contextlib import closing

import click

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.background.inbox.answering import (
    WrittenAnswer,
    asked_in,
    is_standing,
    request_lock,
    run_request,
    write_answer,
)
from agent.errors import AgentError, UserError
from agent.interfaces.cli.foreground import Foreground, foreground, update_index
from agent.interfaces.cli.language import said
from agent.interfaces.cli.lookup import named_note
from agent.interfaces.cli.output import Failed, Output
from agent.interfaces.cli.run_report import EXIT_CODES, check_whole, failure, remarks
from agent.interfaces.cli.run_report import document as run_document
from agent.loop.outcome import Ended, RunOutcome
from agent.markdown.requests import NoteRequest
from agent.runs.crash_recovery import close_cut_off
from agent.runs.service import RunIO
from agent.vault.folders import INBOX
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace


@click.command(short_help="Answer what a note asks, in the note.", epilog=EXIT_CODES)
@click.argument("path")
@click.pass_obj
def command(output: Output, path: str) -> None:
    """Run the requests in the note at PATH, and write the answers into it in one commit.

    A note in inbox/, or with `agent: ask` in its header, is one request; else each open task that begins with @agent is
    one, and without any the whole note. The daemon does the same for the notes that you write in inbox/.
    """
    workspace = open_workspace(output.vault())
    name = named_note(workspace.vault, path)
    asked = asked_in(workspace, name, named=True)
    if is_standing(workspace.vault, name):
        raise UserError(
            "{name} is before the agent in every run, so no answer is written into it",
            hint='ask in a note in {inbox}, or here: vault-agent ask "…"',
            name=name,
            inbox=workspace.vault.home.at(INBOX),
        )
    if not asked:
        hint = "write below the last answer, untick the task, or put `status: pending` into the note's header"
        raise UserError("nothing new is asked in {name}", hint=hint, name=name)
    documents: list[dict[str, object]] = []
    all_ended: list[Ended] = []
    with request_lock(workspace, name), closing(open_index(workspace)) as index:
        update_index(workspace, index, output)
        close_cut_off(workspace)
        here = foreground(build_runs(workspace, index), output)
        with here.closing():
            for request in asked:
                ended, document = _work(workspace, here, output, name, request)
                documents.append(document)
                all_ended.append(ended)
                if ended.outcome is RunOutcome.FAILED:
                    raise Failed(failure(ended), {"path": name, "answers": documents})
                if ended.outcome is RunOutcome.INTERRUPTED:
                    break
    answers = "\n\n".join(str(document["answer"]) for document in documents)
    output.emit({"path": name, "answers": documents}, "" if sys.stdout.isatty() else answers)
    check_whole(*all_ended)


def _work(
    workspace: Workspace, here: Foreground, output: Output, path: str, request: NoteRequest
) -> tuple[Ended, dict[str, object]]:
    """Run one request and write its answer into the note, unless the person has stopped the run."""
    capturing = here.agent.capturing
    capturing.hold = True  # the commit of the answer has the record of the run

    def answered(line: RunIO) -> Ended:
        ended = run_request(workspace, here.agent, path, request, line)
        capturing.close()
        return ended

    ended = here.run(answered)
    placed: WrittenAnswer | None = None
    unplaced = ""
    if ended.outcome is not RunOutcome.INTERRUPTED:
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
        **run_document(here.agent, ended),
        "status": placed.status if placed else None,
        "commit": placed.commit if placed else None,
        "problem": unplaced or None,
    }
    return ended, document
