"""`health_check`: what is wrong with the vault, as `doctor` sees it; only what is new since the last time is said."""

import re

from agent.growth.procedures.material import bullets
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.records.table import Table
from agent.texts import translated
from agent.vault.health import examine, note_checks
from agent.vault.health.probe import Check, Level
from agent.vault.store import Vault

MODEL: ModelPart = "if_asked"
WRITES: tuple[str, ...] = ()
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LINK = re.compile(r"\[\[(.*?)\]\]")
"""A link that leads nowhere is named, not made again: the next check would find it here."""
_SHOWN = 5
_SECONDS = 2.0
"""After so many seconds a new finding is looked for again: a change that is just being written, by the agent itself or
by git, looks like one that was cut off."""


def plain(context: ProcedureContext) -> Work:
    """The findings that were not there last time, and those that are gone; nothing if all is as it was."""
    table = Table(context.vault.records, "health-findings", frozenset[str])
    found, known = _findings(context.vault), table.get() or frozenset()
    if found.keys() - known:
        context.vault.clock.sleep(_SECONDS)
        found = {key: check for key, check in _findings(context.vault).items() if key in found}
    fresh = [check for key, check in found.items() if key not in known]
    gone = [key for key in known if key not in found]
    if not fresh and not gone:
        return Work()
    table.put(frozenset(found))
    lines = [_said(context, check) for check in fresh]
    parts = [f"{context.text('health_new')}\n\n{bullets(lines)}"] if lines else []
    parts += [context.text("health_gone", count=len(gone))] if gone else []
    return Work("\n\n".join(parts))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """What the model advises is the result; it writes nothing."""
    return Work(answer)


def _findings(vault: Vault) -> dict[str, Check]:
    checks = (*examine.repository(vault, fix=False), *note_checks.notes(vault))
    return {_key(check): check for check in checks if check.level is not Level.OK}


def _said(context: ProcedureContext, check: Check) -> str:
    language = context.language
    line = f"{translated(check.name, language)}: {translated(check.what, language)}"
    details = [_LINK.sub(r"“\1”", translated(each, language)) for each in check.details[:_SHOWN]]
    line += f" ({'; '.join(details)})" if details else ""
    return line + (f" → `{translated(check.next, language)}`" if check.next else "")


def _key(check: Check) -> str:
    """A finding without its numbers: an age that grows is no new finding."""
    return _NUMBER.sub("#", f"{check.name}: {check.what} {' '.join(check.details)}")
