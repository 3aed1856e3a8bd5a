"""`cleanup`: puts away what is over: old tasks, approvals and questions that expired, loose objects of git."""

from datetime import datetime

from agent.errors import AgentError, BadNote
from agent.growth.procedures.material import bullets, names_in_home
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.markdown.note import Note
from agent.memory.store import with_offset
from agent.runs.decisions import approvals
from agent.schedule.task_notes import archive_done, load_tasks
from agent.vault.change import Edit
from agent.vault.folders import QUESTIONS
from agent.vault.health.packing import is_packing_due, pack

MODEL: ModelPart = "if_asked"
WRITES: tuple[str, ...] = ()


def plain(context: ProcedureContext) -> Work:
    """Archive the oldest tasks beyond the limit, close what nobody decided in time, and pack git's objects if due."""
    vault = context.vault
    archived = archive_done(vault, load_tasks(vault), context.runs.workspace.settings.schedule.tasks_kept)
    closed = approvals(context.runs.workspace).expire()
    questions = tuple(_expired_questions(context))
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


def _expired_questions(context: ProcedureContext) -> list[Edit]:
    """The questions that no run waits for, and that nobody has answered in time, marked as expired."""
    found: list[Edit] = []
    for path in names_in_home(context, QUESTIONS, "*.md"):
        data = context.vault.read(path) or b""
        note = Note.parse(data)
        expires = note.header.get("expires")
        is_open = note.type == "question" and note.string("status") == "open" and not note.string("run")
        if is_open and isinstance(expires, datetime) and with_offset(expires) <= context.now:
            try:
                found.append(Edit(path, data, note.with_key("status", "expired").data))
            except (BadNote, AgentError):
                continue
    return found
