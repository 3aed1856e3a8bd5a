"""`cleanup`: puts away what is over: old tasks, approvals and questions that expired, loose objects of git."""

from agent.asking.questions.notes import asked_questions, close_question
from agent.growth.curiosity.settle import expired_text
from agent.growth.procedures.material import bullets
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.runs.decisions import approvals
from agent.schedule.task_notes import archive_done, load_tasks
from agent.vault.change import Request
from agent.vault.health.packing import is_packing_due, pack

MODEL: ModelPart = "if_asked"
WRITES: tuple[str, ...] = ()


def plain(context: ProcedureContext) -> Work:
    """Archive the oldest tasks beyond the limit, close what nobody decided in time, and pack git's objects if due."""
    vault = context.vault
    archived = archive_done(vault, load_tasks(vault), context.runs.workspace.settings.schedule.tasks_kept)
    closed = approvals(context.runs.workspace).expire()
    questions = _expired_questions(context)
    lines = [context.text("cleaned_tasks", count=len(archived))] if archived else []
    lines += [context.text("cleaned_approvals", count=len(closed))] if closed else []
    lines += [context.text("cleaned_questions", count=len(questions))] if questions else []
    if is_packing_due(vault):
        done = pack(vault)
        lines.append(context.text("packed", before=done.before, after=done.after))
    return Work(bullets(lines), (*archived, *questions)) if lines else Work()


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """What the model says of it is the result; it writes nothing."""
    return Work(answer)


def _expired_questions(context: ProcedureContext) -> tuple[Request, ...]:
    """The requests for questions that nothing waits for and that are over, with what is done without an answer."""
    asked = (each for each in asked_questions(context.vault) if each.is_open and each.is_unprompted)
    found = (
        close_question(context.vault, each, "expired", expired_text(each, context.language))
        for each in asked
        if not each.answer and each.is_over(context.now)
    )
    return tuple(each for each in found if each is not None)
