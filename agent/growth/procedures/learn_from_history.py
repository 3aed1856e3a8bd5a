"""`learn_from_history`: reads the conversations that nobody has read yet, writes down what the person prefers, and says
what yesterday was about."""

from datetime import timedelta

from agent.growth.beliefs.blocks import NOTE
from agent.growth.beliefs.learn import learn_beliefs
from agent.growth.procedures import update_profile
from agent.growth.procedures.material import bullets, logs, quote
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.memory.store import entries_on_day
from agent.runs.conversations import conversations_of
from agent.runs.waiting_statements import silent_conversations
from agent.texts import text
from agent.vault.folders import ENTRIES

MODEL: ModelPart = "besides"
WRITES = (ENTRIES,)
_MOST = 10


def plain(context: ProcedureContext) -> Work:
    """Keep the facts of the conversations that have fallen silent, and what the person prefers; list what was asked and
    kept yesterday."""
    workspace, account = context.runs.workspace, context.runs.account
    unread = silent_conversations(workspace)
    if unread:
        conversations_of(workspace, context.runs.recall.near, account, context.runs.bus.publish_async).keep_ended()
    yesterday = context.today - timedelta(days=1)
    asked = [f"{quote(each.logged.title)} {each.logged.session}".strip() for each in logs(context, [yesterday])]
    foreign, new = context.runs.recall.foreign, entries_on_day(context.vault, yesterday).new
    own = (each for each in new if not foreign.source(each.path, each.data))
    kept = [f"{quote(each.entry.text)} ({each.link})" for each in own]
    learned = learn_beliefs(workspace, context.call.job)  # a commit of its own, which the changes below rest on
    profile = Work() if context.runs.present else update_profile.stated_changes(context)
    parts = [context.text("conversations_read", count=len(unread))] if unread else []
    if learned.outcome.commit:
        link, count = f"[[{context.path(NOTE).removesuffix('.md')}]]", len(learned.blocks)
        key = "belief.learned_one" if count == 1 else "belief.learned"
        parts += [text(key, context.language, count=count, link=link)]
    for key, lines in (("asked", asked), ("kept", kept)):
        parts += [f"{context.text(key, day=yesterday)}\n\n{bullets(lines[:_MOST])}"] if lines else []
    parts += [profile.text] if profile.text else []
    return Work("\n\n".join(parts), profile.requests)


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """What the model has learned is the result; what is worth keeping it has remembered by itself. What the person
    stated goes into their profile as in the plain form."""
    profile = update_profile.stated_changes(context)
    return Work("\n\n".join(filter(None, (answer, profile.text))), profile.requests)
