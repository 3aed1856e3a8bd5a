"""`consolidate`: the upkeep of memory now, and a look at what contradicts itself in long-term memory."""

from agent.growth.procedures.material import bullets
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.memory.upkeep.lifecycle import report_lines, run
from agent.runs.memory_upkeep import Upkeeper

MODEL: ModelPart = "after"
WRITES: tuple[str, ...] = ()


def plain(context: ProcedureContext) -> Work:
    """Archive, merge, shorten and add facts, in a commit of its own that one undo reverts."""
    upkeep = Upkeeper(context.runs.workspace).plan()
    if not upkeep.requests:
        return Work()
    outcome = run(context.vault, upkeep, job=context.call.job)
    lines = report_lines(upkeep.report, context.language)
    return Work(bullets(lines), commits=tuple(filter(None, [outcome.commit])))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """What the model says of it is the result; it writes nothing."""
    return Work(answer)
