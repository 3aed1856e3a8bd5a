"""`prepare`, `draft` and `chase`: work for the person from their notes; the result stands in the task's note, and the
next briefing names it. Nothing is sent, and no note of theirs is changed.

Without a model it is what their notes say on the title, quoted with links.
"""

from agent.growth.patterns.pattern import quoted
from agent.growth.procedures.procedure import ProcedureContext, Work, bullets

_PASSAGES, _QUOTED = 8, 200


def plain(context: ProcedureContext) -> Work:
    """The passages of the person's own notes about the task; nothing if no note says anything."""
    call, runs = context.call, context.runs
    foreign, vault = runs.recall.foreign, context.vault
    hits = runs.recall.search(" ".join(filter(None, (call.title, call.description))), _PASSAGES).hits
    own = (hit for hit in hits if not foreign.source(hit.path, vault.read(hit.path) or b"", hit.lines))
    rows = dict.fromkeys(f"{quoted(hit.passage, _QUOTED)} ([[{hit.path.removesuffix('.md')}]])" for hit in own)
    if rows or runs.present:
        return Work(bullets(rows))
    return Work(context.text("nothing_about", topic=call.title), is_quiet=True)
