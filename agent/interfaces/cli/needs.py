"""`vault-agent needs`: lists all that waits for the person, and answers it: a yes or a no to calls, skills, arrivals
and jobs, and words to questions. `approvals` and `questions` are its parts, by their old names.
"""

from collections.abc import Callable
from importlib import import_module

import click

from agent.asking.codes import codes_by_path
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question
from agent.deeds import decisions as deeds
from agent.interfaces.cli.decide import emit_decision, question_text
from agent.interfaces.cli.declare import group, in_vault, words_argument
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output, fitted
from agent.interfaces.cli.printing import as_lines, columns, padded
from agent.interfaces.cli.run_messages import EXIT_CODES
from agent.interfaces.cli.time_format import format_time
from agent.runs import named_decisions as named
from agent.runs.decisions import Resumer
from agent.runs.kinds import pending_decisions
from agent.runs.needs import Need, other_needs
from agent.runs.short_ids import short_id
from agent.runs.waiting_questions import waiting_questions
from agent.workspace.workspace import Workspace, is_watched

F = Callable[..., None]


@group("list")
def command() -> None:
    """List all that waits for you, and answer it: what needs your yes, and questions. NAME is the short code that the
    list begins with, the name beside it, an id or its end, or a note.

    You can also tick a box in the note, or write below it; a running daemon then does what follows.
    """


@group("list")
def approvals() -> None:
    """List the calls, skills and arrivals that wait for your yes. NAME is what the list begins a line with, the short
    code beside it, or a note.

    A yes to a call is valid once, for exactly the call shown. You can also tick the box in the note; a running daemon
    then does what follows from it.
    """


@group("list")
def questions() -> None:
    """List the questions that wait for you. ID is a question's id, the end of it, its short code, or its note."""


@command.command("list", short_help="List all that waits for you.")
@in_vault
def list_all(output: Output, workspace: Workspace) -> None:
    """List what needs your yes, the oldest first, questions, requests without an answer, and what failed."""
    output.emit(lambda: deeds.list_needs(workspace), lambda: fitted(_all_lines(workspace)))


@approvals.command("list", short_help="List what waits for your yes.")
@in_vault
def list_decisions(output: Output, workspace: Workspace) -> None:
    """List what needs your yes, the oldest first."""
    hint = tr("vault-agent needs show NAME, yes NAME, no NAME; or tick a box in the note")

    def text() -> str:
        lines = _decision_lines(workspace)
        return as_lines([*lines, "", hint]) if lines else tr("nothing waits for your yes")

    output.emit(lambda: deeds.list_approvals(workspace), text)


@questions.command("list", short_help="List the questions.")
@in_vault
def list_asked(output: Output, workspace: Workspace) -> None:
    """List the questions that wait for you."""

    def text() -> str:
        text = _questions(workspace)
        hint = tr("vault-agent needs answer NAME TEXT")
        return fitted("\n\n".join([*text, hint]) if text else tr("nothing is asked"))

    output.emit(lambda: deeds.list_questions(workspace), text)


def _all_lines(workspace: Workspace) -> str:
    """All that waits, a line each; what no answer settles has the command that helps below it."""
    decisions, asked = _decision_lines(workspace), _questions(workspace)
    others = [line for each in other_needs(workspace) for line in _other(each)]
    if not (decisions or asked or others):
        return tr("nothing waits for you")
    hints = [tr("vault-agent needs show NAME, yes NAME, no NAME; or tick a box in the note")] if decisions else []
    hints += [tr("vault-agent needs answer NAME TEXT")] if asked else []
    parts = [as_lines(decisions) if decisions else "", *asked, as_lines(others) if others else "", as_lines(hints)]
    return "\n\n".join(filter(None, parts))


def _other(need: Need) -> list[str]:
    lines = [f"{need.title}  {need.path}".rstrip()]
    return [*lines, f"  → {need.command}"] if need.command else lines


def _decision_lines(workspace: Workspace) -> list[str]:
    waiting, now = pending_decisions(workspace), workspace.clock.now()
    codes = codes_by_path(workspace.vault) if waiting else {}
    width = max((columns(named.name_of(each)) for each in waiting), default=0)
    return [
        f"{padded(named.name_of(each), width)}  {codes.get(each.path, '-')}  {format_time(each.created, now)}  "
        f"{each.question or each.name}  {each.path}"
        for each in waiting
    ]


def _questions(workspace: Workspace) -> list[str]:
    waiting = waiting_questions(workspace)
    codes, language = codes_by_path(workspace.vault) if waiting else {}, workspace.settings.vault.language
    return [f"{short_id(each)}  {codes.get(each.path, '-')}  {question_text(each, language)}" for each in waiting]


@command.command("show")
@click.argument("name", metavar="NAME")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show what is asked in full: a call with the changes that it would make, a question, or the note about a skill or
    arrival."""
    asked = deeds.find_need(workspace, name)
    if isinstance(asked, Question):
        text = question_text(asked, workspace.settings.vault.language)
        output.emit(deeds.question_view(deeds.QuestionView, asked), fitted(text))
        return
    found = deeds.approval(deeds.WholeApproval, asked, text=named.decision_text(workspace, asked))
    output.emit(found, f"{found.text}\n{tr(found.status)}")


approvals.add_command(show)


def _may_go_on(function: F) -> F:
    return click.option("--go-on", "go", is_flag=True, help="Go on with the run here when no daemon does.")(function)


@command.command("answer", epilog=EXIT_CODES)
@click.argument("name", metavar="NAME")
@words_argument("words", metavar="TEXT...")
@_may_go_on
@in_vault
def answer_any(output: Output, workspace: Workspace, name: str, words: str, go: bool) -> None:
    """Answer what waits: TEXT is yes or no, with a reason if you like; for a question one of its options, an option's
    number, or your own words."""
    asked = deeds.find_need(workspace, name)
    if isinstance(asked, Question):
        _answer(output, workspace, asked, words, go)
    else:
        _decide(output, workspace, asked, *deeds.yes_or_no(words), go)


@questions.command("answer", epilog=EXIT_CODES)
@click.argument("name", metavar="ID")
@click.argument("text")
@_may_go_on
@in_vault
def answer_one(output: Output, workspace: Workspace, name: str, text: str, go: bool) -> None:
    """Answer a question: TEXT is one of its options, an option's number, or your own words."""
    _answer(output, workspace, named.find_question(workspace, name), text, go)


def _deciding(yes: bool) -> F:
    def decide_named(output: Output, workspace: Workspace, name: str, reason: str, go: bool) -> None:
        _decide(output, workspace, named.find_decision(workspace, name), yes, reason, go)

    return decide_named


for _word, _yes, _help in (("yes", True, "Say yes: a call is allowed once."), ("no", False, "Say no.")):
    _named = click.option("--reason", default="", metavar="TEXT", help="Why; the agent is told.")
    _decided = click.argument("name", metavar="NAME")(_named(_may_go_on(in_vault(_deciding(_yes)))))
    _command = command.command(_word, help=_help, epilog=EXIT_CODES)(_decided)
    approvals.add_command(_command)


def _decide(output: Output, workspace: Workspace, asked: Proposal, yes: bool, reason: str, go: bool) -> None:
    done = deeds.decide(workspace, asked, yes, reason)
    status = tr(done.status)
    if asked.kind != "call":
        state = tr("waits until git has finished what it is doing") if done.status == "pending" else status
        output.emit(done, tr("{shown}: {name}, in {path}", shown=state, name=asked.name, path=asked.path))
        return
    note = tr("{status}: {tool}, in {path}", status=status, tool=done.tool, path=done.path)
    if done.session:
        emit_decision(workspace, output, done.path, done.document(), note, resume_here=go)
        return
    follows = [tr("the program that asked for it can make the call again")] if yes else []  # in no session
    document = {**done.document(), "goes_on": Resumer.NOBODY.value, "run_ended": None}
    output.emit(document, as_lines([note, *follows]))


def _answer(output: Output, workspace: Workspace, question: Question, words: str, go: bool) -> None:
    done = named.answer_question(workspace, question, words)
    note = tr("answered in {path}: {words}", path=question.path, words=done.words)
    document = {**deeds.question_view(deeds.QuestionView, question).document(), "answer": done.words}
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
        import_module("agent.growth.curiosity.settle").settle(workspace, publish)


def _what_follows(done: named.NamedAnswer, *, is_taken_in: bool) -> str:
    """Who acts on an answer that no run waits for."""
    if not done.is_of_sync:
        here = "it is taken in; a line of your profile changes when the profile is next brought up to date"
        return tr(here) if is_taken_in else tr("the daemon takes it in")
    if done.goes_on is Resumer.HERE:
        return tr("that is done; vault-agent undo takes it back")
    if done.goes_on is Resumer.DAEMON:
        return tr("the daemon does it with the next sync")
    return tr("it is done with the next sync: vault-agent sync")
