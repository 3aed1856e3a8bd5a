"""Work for the person. `prepare`, `draft` and `chase` are done from their notes: the result stands in the task's note,
and the next briefing names it. `explore_topic` is a research, whose report is in `research/`. Nothing is sent, and no
note of theirs is changed.

Without a model it is what their notes say on the title, quoted with links.
"""

from agent.growth.patterns.pattern import quoted
from agent.growth.procedures.procedure import ProcedureContext, ProcedureResult, Work, bullets, title_of
from agent.growth.research.findings import Research, ResearchCall
from agent.growth.research.research import mark_strangers, research
from agent.markdown.links import note_link
from agent.markdown.title import short_title
from agent.texts import text
from agent.vault.folders import RESEARCH

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


def explore(context: ProcedureContext) -> Work:
    """Research the topic, with a model or without. One that is stopped has written nothing, and is begun anew when the
    task is done again."""
    call, runs = context.call, context.runs
    if not runs.workspace.settings.growth.enabled:
        return Work(text("research.growth_is_off", context.language), is_quiet=True)
    path = context.path(call.target_file or f"{RESEARCH}{short_title(_topic(context)) or 'topic'}.md")
    asked = ResearchCall(_asked_words(context), path=path, job=call.job, spend=call.spend, cancelled=call.cancelled)
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
        return Work(says, is_quiet=True, result=result)
    mark_strangers(runs, found)
    return Work(_report_words(context, found), found.requests, result=result)


def _topic(context: ProcedureContext) -> str:
    call = context.call
    return call.title or (title_of(call.target_file) if call.target_file else call.description)


def _asked_words(context: ProcedureContext) -> str:
    """What is asked for, in the words of the task."""
    topic, more = _topic(context), context.call.description
    return f"{topic}: {more}" if more and more != topic else topic


def _report_words(context: ProcedureContext, found: Research) -> str:
    """Where the report is, and what it says; the words of strangers stay in it."""
    link = note_link(found.path)
    if found.is_plain:
        own = sum(not each.origin for each in found.sources)
        return context.text("explored", count=own or len(found.sources), link=link)
    says = context.text("reported", link=link)
    return says if found.strangers or not found.short else f"{says}\n\n{found.short}"
