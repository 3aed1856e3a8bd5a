"""`explore_topic`: a research on a topic, by `growth.research`; its report is in `research/`."""

from functools import partial

from agent.growth.procedures.procedure import ProcedureContext, ProcedureResult, Work, title_of
from agent.growth.research.findings import Research, ResearchCall
from agent.growth.research.research import after_commit, mark_strangers, research
from agent.markdown.links import note_link
from agent.markdown.title import short_title
from agent.texts import text
from agent.vault.folders import RESEARCH


def plain(context: ProcedureContext) -> Work:
    """Research the topic, with a model or without; what was begun is gone on with. One that is stopped has written
    nothing, and goes on when the task is done again."""
    call, runs = context.call, context.runs
    if not runs.workspace.settings.growth.enabled:
        return Work(text("research.growth_is_off", context.language), is_quiet=True)
    path = context.path(call.target_file or f"{RESEARCH}{short_title(_topic(context)) or 'topic'}.md")
    asked = ResearchCall(_words(context), path=path, job=call.job, spend=call.spend, cancelled=call.cancelled)
    found = research(runs, asked)
    result = ProcedureResult(
        run=found.run,
        money=found.money,
        is_plain=found.is_plain,
        is_stopped=found.end == "stopped",
        strangers=found.strangers,
    )
    is_empty = not found.is_plain and not found.findings.cited  # nobody has asked: a note that says nothing is noise
    if found.end in ("stopped", "nothing") or is_empty:
        says = "" if found.end == "stopped" else context.text("nothing_about", topic=_topic(context))
        return Work(says, is_quiet=True, result=result, after=found.done)
    mark_strangers(runs, found)
    return Work(_says(context, found), found.requests, result=result, after=partial(after_commit, runs, found))


def _topic(context: ProcedureContext) -> str:
    call = context.call
    return call.title or (title_of(call.target_file) if call.target_file else call.description)


def _words(context: ProcedureContext) -> str:
    """What is asked for, in the words of the task."""
    topic, more = _topic(context), context.call.description
    return f"{topic}: {more}" if more and more != topic else topic


def _says(context: ProcedureContext, found: Research) -> str:
    """Where the report is, and what it says; the words of strangers stay in it."""
    link = note_link(found.path)
    if found.is_plain:
        own = sum(not each.origin for each in found.sources)
        return context.text("explored", count=own or len(found.sources), link=link)
    says = context.text("reported", link=link)
    return says if found.strangers or not found.short else f"{says}\n\n{found.short}"
