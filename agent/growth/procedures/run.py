"""Runs a procedure: its plain form without a model, else a run of the agent whose answer the program writes down.

The answer of a model is text that the program puts where it belongs: so no line of a person's is ever touched, and all
that a procedure writes is one commit with what its caller wants to write.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from agent.channel_names import OF_JOBS
from agent.context.prompt import fill
from agent.errors import AgentError, NoteGone
from agent.events.runs import Speaker
from agent.growth.procedures import for_person, self_reflection, upkeep
from agent.growth.procedures.procedure import Procedure, ProcedureCall, ProcedureContext, ProcedureResult, Work
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.markdown.inertness.active import inert_blocks
from agent.markdown.links import note_link
from agent.runs.run_io import RunIO
from agent.schedule.procedures import TaskType
from agent.texts import text
from agent.vault.change import Outcome, Stamp

NOTHING = "NOTHING"
"""The answer of a model that has found nothing to do; the prompts say so."""
_TOOL = "procedure"
_PROMPTS = "tasks"
"""The folder of the prompts, below all prompts."""
_PROCEDURES: Mapping[TaskType, Procedure] = MappingProxyType(
    {
        **dict.fromkeys(("prepare", "draft", "chase"), Procedure("instead", for_person.plain)),
        "explore_topic": Procedure("own", for_person.explore),
        "self_reflection": Procedure("if_found", self_reflection.plain, self_reflection.from_answer),
        "upkeep": Procedure("never", upkeep.plain),
    }
)


def run_procedure(kind: TaskType, call: ProcedureCall) -> ProcedureResult:
    """Do one piece of work; what it wrote is committed when this returns. Raises what a transaction raises."""
    procedure = _PROCEDURES[kind]
    with call.open_runs() as runs:
        runs.capturing.hold = True  # the commit of the result has the record of the run
        context = ProcedureContext(call, runs, runs.workspace.clock.now())
        found = procedure.plain(context)
        is_found = bool(found.text) and not found.is_quiet
        if procedure.model == "own":
            return _of_itself(kind, context, found)
        if runs.present and (procedure.model == "instead" or (procedure.model == "if_found" and is_found)):
            return _with_model(kind, procedure, context, found)
        return _written(kind, context, found, ProcedureResult(_plain_text(kind, context, found), is_found))


def _of_itself(kind: TaskType, context: ProcedureContext, found: Work) -> ProcedureResult:
    """The result of a procedure that asks models itself; one that was stopped writes nothing, and is done again."""
    if found.result.is_stopped:
        return found.result
    is_found = bool(found.text) and not found.is_quiet
    says = _plain_text(kind, context, found) if found.result.is_plain else found.text or context.text("nothing")
    return _written(kind, context, found, replace(found.result, text=says, did_something=is_found))


def resume_procedure(kind: TaskType, call: ProcedureCall, ended: Ended) -> ProcedureResult:
    """What a run came to that had waited for its person, and has ended now; as `run_procedure`."""
    with call.open_runs() as runs:
        context = ProcedureContext(call, runs, runs.workspace.clock.now())
        return _of_run(kind, _PROCEDURES[kind], context, ended)


def _with_model(kind: TaskType, procedure: Procedure, context: ProcedureContext, found: Work) -> ProcedureResult:
    call, runs = context.call, context.runs
    request = RunRequest(
        _task(kind, context, found), Speaker(OF_JOBS), job=call.job, purpose=kind, writes=(), spend=call.spend
    )
    return _of_run(kind, procedure, context, runs.ask(request, line=RunIO(cancelled=call.cancelled)))


def _of_run(kind: TaskType, procedure: Procedure, context: ProcedureContext, ended: Ended) -> ProcedureResult:
    """The result of a run that has ended or waits."""
    context.runs.capturing.settle()  # the record of the run is held from now on
    money = context.runs.account.spent(ended.run).money
    strangers = _strangers(context, ended)
    result = ProcedureResult(run=ended.run, session=ended.session, money=money, is_plain=False)
    result = replace(result, strangers=strangers, is_changed=ended.is_changed)
    if ended.outcome.waits:  # the caller commits what is held of the session with what it says of the wait
        return replace(result, waits_for=ended.waits_for, text=ended.reason)
    if ended.outcome is RunOutcome.INTERRUPTED:
        return replace(result, is_stopped=True, text=ended.reason)
    if ended.outcome is not RunOutcome.FINISHED:
        reason = ". ".join(filter(None, (context.vault.masked(ended.reason), context.vault.masked(ended.hint))))
        return _written(kind, context, Work(), replace(result, failure=reason, text=reason), ended)
    work = _work_of_answer(procedure, replace(context, session=ended.session), ended, strangers)
    says = work.text or context.text("nothing")
    is_done = bool(work.requests) or ended.is_changed or (bool(work.text) and not work.is_quiet)
    return _written(kind, context, work, replace(result, text=says, did_something=is_done), ended)


def _work_of_answer(procedure: Procedure, context: ProcedureContext, ended: Ended, strangers: tuple[str, ...]) -> Work:
    """What is written of a model's answer: nothing of one that found nothing, and of one that has read strangers' text
    only where it stands."""
    answer = context.vault.masked(ended.answer.strip())
    if not answer or answer.partition("\n")[0].strip(" .。*`") == NOTHING:
        return Work()
    if strangers:
        return Work(context.text("strangers", link=note_link(ended.session)))
    return procedure.from_answer(context, inert_blocks(answer))


def _written(
    kind: TaskType, context: ProcedureContext, work: Work, result: ProcedureResult, ended: Ended | None = None
) -> ProcedureResult:
    """The result, with what it wrote, in one commit with the record of its run and what the caller wants."""
    call, vault = context.call, context.vault
    paths = tuple(dict.fromkeys(each.path for each in work.requests))
    result = replace(result, paths=paths, stands_in=work.stands_in)
    requests = (*work.requests, *call.also(result))
    if not requests and not result.did_something:
        return result
    session = ended.session if ended is not None else ""
    stamp = Stamp(context.actor, run=ended.run if ended else result.run, tool=_TOOL, session=session)
    subject = f"task({kind.replace('_', '-')}): {vault.masked(call.title) or kind}"
    outcome = Outcome()
    if requests or vault.held_of(session):
        with vault.transaction(subject, stamp, masked=True) as change:
            change.requests += requests
            change.release(*vault.held_of(session))
        outcome = change.outcome
    return replace(result, commits=(*result.commits, *filter(None, [outcome.commit])))


def _task(kind: TaskType, context: ProcedureContext, found: Work) -> str:
    """The task of the run: the prompt with what was asked, and with what the plain form has found."""
    call = context.call
    target = f"[[{context.path(call.target_file).removesuffix('.md')}]]" if call.target_file else ""
    asked = "\n\n".join(filter(None, (call.title, call.description, call.context, target))) or kind
    language = text("prompt.language", context.language)
    read = context.vault.own_version_of
    prompt = fill(f"{_PROMPTS}/{kind}", read, task=asked, found=found.text or "(nothing)", language=language)
    return f"{call.title or kind}\n\n{prompt}"  # the session is named by its first words


def _plain_text(kind: TaskType, context: ProcedureContext, found: Work) -> str:
    """What the plain form says, with the remark that no model has worked on it."""
    if not found.text:
        return context.text("nothing")
    is_whole = context.runs.present or found.is_quiet or _PROCEDURES[kind].model == "never"  # a model adds nothing
    return found.text if is_whole else f"{found.text}\n\n{context.text('plain')}"


def _strangers(context: ProcedureContext, ended: Ended) -> tuple[str, ...]:
    """The sources of text in a run that its person did not write."""
    try:
        return tuple(load_session(context.vault, ended.session).untrusted)
    except (NoteGone, AgentError):
        return ()
