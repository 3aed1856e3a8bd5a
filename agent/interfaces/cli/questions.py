"""`vault-agent questions`: lists the agent's questions to the person, and records the answers."""

from importlib import import_module

import click

from agent.app.open import open_workspace
from agent.asking.codes import codes_by_path
from agent.deeds.decisions import QuestionView, list_questions, question_view
from agent.interfaces.cli.decide import question_text
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output, fitted
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.resume import emit_decision
from agent.interfaces.cli.run_summary import EXIT_CODES
from agent.runs.named_decisions import NamedAnswer, answer_question, find_question
from agent.runs.resumer import Resumer
from agent.runs.short_ids import short_id
from agent.runs.waiting_questions import waiting_questions
from agent.workspace.workspace import Workspace, is_watched


@click.group(invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the questions that wait for you. ID is a question's id, the end of it, its short code, or its note."""
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
    waiting = waiting_questions(workspace)
    codes, language = codes_by_path(workspace.vault) if waiting else {}, workspace.settings.vault.language
    shown = [f"{short_id(each)}  {codes.get(each.path, '-')}  {question_text(each, language)}" for each in waiting]
    text = "\n\n".join([*shown, said("vault-agent questions answer ID TEXT")]) if waiting else said("nothing is asked")
    output.emit(lambda: list_questions(workspace), fitted(text))


@command.command("answer", epilog=EXIT_CODES)
@click.argument("name", metavar="ID")
@click.argument("text")
@click.option("--go-on", "go", is_flag=True, help="Go on with the run here when no daemon does.")
@click.pass_obj
def answer_one(output: Output, name: str, text: str, go: bool) -> None:
    """Answer a question: TEXT is one of its options, an option's number, or your own words."""
    workspace = open_workspace(output.vault())
    question = find_question(workspace, name)
    done = answer_question(workspace, question, text)
    note = said("answered in {path}: {words}", path=question.path, words=done.words)
    document = {**question_view(QuestionView, question).document(), "answer": done.words}
    if done.is_of_run:
        emit_decision(workspace, output, question.path, document, note, resume_here=go)
        return
    is_watched_now = is_watched(workspace)
    if not done.is_of_sync and not is_watched_now:
        _take_in(workspace)
    follows = _what_follows(done, is_taken_in=not is_watched_now)
    output.emit({**document, "goes_on": done.goes_on.value, "run_ended": None}, as_lines([note, follows]))


def _take_in(workspace: Workspace) -> None:
    """Take in the answers that no daemon takes in; what that needs is slow to load."""
    with import_module("agent.app.agent").counting(workspace) as publish:
        import_module("agent.growth.curiosity.look").settle(workspace, publish)


def _what_follows(done: NamedAnswer, *, is_taken_in: bool) -> str:
    """Who acts on an answer that no run waits for."""
    if not done.is_of_sync:
        here = "it is taken in; a line of your profile changes when the profile is next brought up to date"
        return said(here) if is_taken_in else said("the daemon takes it in")
    if done.goes_on is Resumer.HERE:
        return said("that is done; vault-agent undo takes it back")
    if done.goes_on is Resumer.DAEMON:
        return said("the daemon does it with the next sync")
    return said("it is done with the next sync: vault-agent sync")
