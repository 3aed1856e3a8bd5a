"""`vault-agent questions`: lists the agent's questions to the person, and records the answers."""

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.decide import question_text
from agent.interfaces.cli.language import said
from agent.interfaces.cli.lookup import SHORT_ID, NotFound, find_by_id, short_id
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.resume import emit_decision
from agent.interfaces.cli.run_report import EXIT_CODES
from agent.runs.decision_codes import codes_by_path, find_code
from agent.runs.decisions import Question, answer, question_document
from agent.runs.resumer import Resumer
from agent.runs.sync_questions import answer_sync_question, open_sync_questions
from agent.runs.waiting_questions import waiting_questions
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace

_NOT_FOUND = NotFound(
    "nothing waits here for an answer to a question with the id {name}",
    "several questions end in {name}",
    "vault-agent questions lists them",
)


@click.group(short_help="List what the agent asks you, and answer.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the questions that wait for you. ID is a question's id, the end of it, its short code, or its note."""
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
    waiting = waiting_questions(workspace)
    codes, language = codes_by_path(workspace) if waiting else {}, workspace.settings.vault.language
    shown = [f"{short_id(each)}  {codes.get(each.path, '-')}  {question_text(each, language)}" for each in waiting]
    text = "\n\n".join([*shown, said("vault-agent questions answer ID TEXT")]) if waiting else said("nothing is asked")
    output.emit({"questions": [{**question_document(each), "code": codes.get(each.path)} for each in waiting]}, text)


@command.command("answer", epilog=EXIT_CODES)
@click.argument("name", metavar="ID")
@click.argument("text")
@click.option("--go-on", "go", is_flag=True, help="Go on with the run here when no daemon does.")
@click.pass_obj
def answer_one(output: Output, name: str, text: str, go: bool) -> None:
    """Answer a question: TEXT is one of its options, an option's number, or your own words."""
    workspace = open_workspace(output.vault())
    question = _find(workspace, name)
    number = int(text) if text.isdecimal() and len(text) < SHORT_ID else 0
    words = question.options[number - 1] if 0 < number <= len(question.options) else text
    document, note = (
        {**question_document(question), "answer": words},
        said("answered in {path}: {words}", path=question.path, words=words),
    )
    if question in open_sync_questions(workspace):
        _answer_sync(workspace, output, question, words, document, note)
        return
    answer(workspace, question, words)
    if not question.run:
        follows = said("it is taken in the next time that its task is done, such as update_profile")
        output.emit({**document, "goes_on": Resumer.LATER.value, "run_ended": None}, as_lines([note, follows]))
        return
    emit_decision(workspace, output, question.path, document, note, resume_here=go)


def _answer_sync(
    workspace: Workspace, output: Output, question: Question, words: str, document: dict[str, object], note: str
) -> None:
    """Answer a question of sync, and say who carries it out."""
    if answer_sync_question(workspace, question, words):
        who, follows = Resumer.HERE, said("that is done; vault-agent undo takes it back")
    elif is_watched(workspace):
        who, follows = Resumer.DAEMON, said("the daemon does it with the next sync")
    else:
        who, follows = Resumer.LATER, said("it is done with the next sync: vault-agent sync")
    output.emit({**document, "goes_on": who.value, "run_ended": None}, as_lines([note, follows]))


def _find(workspace: Workspace, name: str) -> Question:
    """The open question with this id, note, or end of an id; raises `UserError` if there is none or more than one."""
    waiting = waiting_questions(workspace)
    coded = find_code(workspace, name)
    there = next((each for each in waiting if each.path in {name, coded.path if coded else name}), None)
    return there or find_by_id(name, waiting, _NOT_FOUND)
