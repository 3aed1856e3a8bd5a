"""Compares how past tasks come out without and with a change, each done again in a scratch vault of its own.

What a replay can show: whether the change makes the agent worse at what it did well, with the same results of its
tools. What it cannot show: whether the change is better for tasks that come, or where it makes the agent ask for
something that it never asked for; such a replay ends as not measurable. The report says so.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted
from agent.escape import escape_line
from agent.growth.gate.change import ChangedNote, GateReport, GateVerdict, ProposedChange
from agent.growth.gate.past_tasks import PastTask, held_out_tasks
from agent.growth.gate.replay import ACCOUNT, Replay, replay
from agent.growth.gate.scratch import scratch_workspace
from agent.llm.provider import Cancelled, never
from agent.markdown.title import short_title
from agent.runs.accounts import Accounts
from agent.runs.service import RunService
from agent.texts import Language, text
from agent.workspace.workspace import Workspace

OpenReplays: TypeAlias = Callable[[Workspace], AbstractContextManager[RunService]]
"""Opens the agent of a scratch vault: with all that a run is given, and with nobody who listens to what happens."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateContext:
    """What measuring needs: the person's workspace, the agent of scratch vaults, and the accounts that are paid from.

    `cancelled` says whether to stop; a measurement that was stopped raises `Interrupted`.
    """

    workspace: Workspace
    open_replays: OpenReplays
    account: Accounts
    cancelled: Cancelled = never

    @property
    def is_possible(self) -> bool:
        """True with a model, unless measuring is switched off."""
        return self.account.models.main.model.present and self.workspace.settings.growth.gate.tasks > 0


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """One task without and with the change."""

    task: PastTask
    before: Replay
    after: Replay

    @property
    def is_measured(self) -> bool:
        return "not_measurable" not in {self.before.result, self.after.result}


def measure_change(context: GateContext, change: ProposedChange) -> GateReport:
    """Measure a change on the newest past tasks that it was not made from, as many as the settings say."""
    if not context.is_possible:
        return measure(context, change, ())
    most = context.workspace.settings.growth.gate.tasks
    return measure(context, change, held_out_tasks(context.workspace.vault, change, most))


def measure(context: GateContext, change: ProposedChange, tasks: Sequence[PastTask]) -> GateReport:
    """Do these tasks again without and with the change. Raises `Interrupted` when it is cancelled, and nothing else:
    what fails is not measurable."""
    language = context.workspace.settings.vault.language
    if not context.account.models.main.model.present:
        return _not_measured(text("gate.no_model", language), language)
    if context.workspace.settings.growth.gate.tasks <= 0:
        return _not_measured(text("gate.off", language), language)
    if not tasks:
        return _not_measured(text("gate.no_tasks", language), language)
    paid = context.account.ledger.totals(context.account.ledger.today(), job=ACCOUNT).money
    compared = tuple(_compare(context, change, each) for each in tasks)
    money = context.account.ledger.totals(context.account.ledger.today(), job=ACCOUNT).money - paid
    return _report(compared, max(money, 0.0), language)


def _compare(context: GateContext, change: ProposedChange, task: PastTask) -> ComparedTask:
    before = _replay(context, (), task)
    if before.result == "not_measurable":
        return ComparedTask(task, before, before)  # the other half would cost, and say nothing
    return ComparedTask(task, before, _replay(context, change.notes, task))


def _replay(context: GateContext, notes: Sequence[ChangedNote], task: PastTask) -> Replay:
    if context.cancelled():
        raise Interrupted("stopped by you")
    spend = context.workspace.settings.growth.gate.spend
    try:
        with scratch_workspace(context.workspace, notes, task.at) as scratch, context.open_replays(scratch) as runs:
            return replay(runs, task, context.account, spend, context.cancelled)
    except Interrupted:
        raise
    except (AgentError, OSError) as error:
        logger.info("the task of %s cannot be done again: %s", task.session, error)
        return Replay("not_measurable")


def _report(compared: Sequence[ComparedTask], money: float, language: Language) -> GateReport:
    measured = [each for each in compared if each.is_measured]
    if not measured:
        why = text("gate.none_measurable", language, count=len(compared))
        return _not_measured(why, language, compared, money)
    counts = [sum(found.result == "well" for found in side) for side in zip(*map(_sides, measured), strict=True)]
    before, after = (count / len(measured) for count in counts)
    verdict: GateVerdict = "below" if after < before else "not_below"
    said = text(f"gate.{verdict}", language, tasks=len(measured), all=len(compared), before=counts[0], after=counts[1])
    return GateReport(verdict, before, after, len(measured), _text(said, compared, language), money)


def _sides(each: ComparedTask) -> tuple[Replay, Replay]:
    return each.before, each.after


def _not_measured(
    why: str, language: Language, compared: Sequence[ComparedTask] = (), money: float = 0.0
) -> GateReport:
    return GateReport("not_measurable", None, None, 0, _text(why, compared, language), money)


def _text(said: str, compared: Sequence[ComparedTask], language: Language) -> str:
    rows = "\n".join(_rows(compared, language))
    return "\n\n".join(filter(None, (said, rows, text("gate.limits", language) if compared else "")))


def _rows(compared: Sequence[ComparedTask], language: Language) -> Iterator[str]:
    for each in compared:
        link = f"[[{each.task.session.removesuffix('.md')}|{_plain(each.task.task)}]]"
        yield "- " + text(
            "gate.row",
            language,
            task=link,
            before=_said(each.before, language),
            after=_said(each.after, language),
        )


def _said(found: Replay, language: Language) -> str:
    return text(f"gate.{found.result}", language, steps=found.steps)


def _plain(task: str) -> str:
    """A task as the text of a link."""
    return "".join(c for c in escape_line(short_title(task)) if c not in "[]|`<>#^") or "?"
