"""`upkeep`: what keeps vault and memory in order, in silence: old tasks and expired questions are put away, memory is
tended, conversations that nobody has read yet are read, the profile and its patterns are brought up to date. Only what
is newly wrong with the vault is said.

A daemon does most of it by itself; this is for a job, and for whoever runs none.
"""

import re
from collections.abc import Sequence
from functools import partial

from agent.growth.beliefs.learn import lines_learned
from agent.growth.curiosity.settle import settle
from agent.growth.patterns.likeness import vectors_of
from agent.growth.patterns.look import take_patterns
from agent.growth.procedures.procedure import ProcedureContext, Work, bullets
from agent.records.table import Table
from agent.runs.conversations import conversations_of
from agent.runs.decisions import approvals
from agent.runs.upkeep_jobs import Upkeeper
from agent.runs.waiting_statements import silent_conversations
from agent.schedule.task_notes import archive_done, load_tasks
from agent.texts import translated
from agent.vault.health import examine, note_checks
from agent.vault.health.packing import is_packing_due, pack
from agent.vault.health.probe import Check, Level
from agent.vault.store import Vault
from agent.workspace.workspace import is_watched

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LINK = re.compile(r"\[\[(.*?)\]\]")
"""A link that leads nowhere is named, not made again: the next check would find it here."""
_SHOWN = 5
_SECONDS = 2.0
"""After so many seconds a new finding is looked for again: a change that is just being written, by the agent itself or
by git, looks like one that was cut off."""


def plain(context: ProcedureContext) -> Work:
    """Do all of it; the result is what is newly wrong with the vault, nothing if nothing is."""
    workspace, runs = context.runs.workspace, context.runs
    if silent_conversations(workspace):
        conversations_of(workspace, runs.recall.near, runs.account, runs.bus.publish_async).keep_ended()
    Upkeeper(workspace, partial(lines_learned, workspace)).tend()
    take_patterns(workspace, vectors_of(runs.recall.library.chosen.embedder), runs.bus.publish)
    approvals(workspace).expire()
    if is_packing_due(context.vault):
        pack(context.vault)
    old = archive_done(context.vault, load_tasks(context.vault), workspace.settings.schedule.tasks_kept)
    if not is_watched(workspace):  # a daemon takes answers in itself, when it is its turn among several machines
        settle(workspace, runs.bus.publish)
    found = _news(context)  # last, as it is said once: whatever fails above is tried again, and this with it
    says = f"{context.text('health_new')}\n\n{bullets(found)}" if found else ""
    return Work(says, old)


def _news(context: ProcedureContext) -> Sequence[str]:
    """The findings about the vault that were not there last time, in words."""
    table = Table(context.vault.records, "health-findings", frozenset[str])
    found, known = _findings(context.vault), table.get() or frozenset()
    if found.keys() - known:
        context.vault.clock.sleep(_SECONDS)
        found = {key: check for key, check in _findings(context.vault).items() if key in found}
    if found.keys() != known:
        table.put(frozenset(found))
    return [_words(context, check) for key, check in found.items() if key not in known]


def _findings(vault: Vault) -> dict[str, Check]:
    checks = (*examine.repository(vault, fix=False), *note_checks.notes(vault))
    return {_key(check): check for check in checks if check.level is not Level.OK}


def _words(context: ProcedureContext, check: Check) -> str:
    language = context.language
    line = f"{translated(check.name, language)}: {translated(check.what, language)}"
    details = [_LINK.sub(r"“\1”", translated(each, language)) for each in check.details[:_SHOWN]]
    line += f" ({'; '.join(details)})" if details else ""
    return line + (f" → `{translated(check.next, language)}`" if check.next else "")


def _key(check: Check) -> str:
    """A finding without its numbers: an age that grows is no new finding."""
    return _NUMBER.sub("#", f"{check.name}: {check.what} {' '.join(check.details)}")
