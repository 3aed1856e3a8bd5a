"""Opens the agent of a scratch vault, in which past tasks are done again to measure a change."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from agent.app.agent import build_runs
from agent.app.subscriptions import subscribe_unheard
from agent.context.tokens import estimate
from agent.growth.gate.change import ChangedNote, GateReport, ProposedChange
from agent.growth.gate.measure import GateContext, OpenReplays, measure_change
from agent.index.embedder import EmbedderChoice
from agent.llm.provider import Cancelled, never
from agent.runs.accounts import open_accounts
from agent.runs.service import RunService, do_nothing
from agent.skills.learning.offers import MeasuredDraft, MeasureDraft
from agent.skills.learning.suggestion import Suggestion
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace, reload_settings


def replays(chosen: Callable[[], EmbedderChoice]) -> OpenReplays:
    """The function that opens the agent of a scratch vault; `chosen` gives the embedder of the person's index."""
    return partial(_opened, chosen)


def gate_context(
    workspace: Workspace, chosen: Callable[[], EmbedderChoice], cancelled: Cancelled = never
) -> GateContext:
    """What measuring a change needs, with the settings as they are now; raises `ConfigError`."""
    fresh = reload_settings(workspace)
    return GateContext(fresh, replays(chosen), open_accounts(fresh, estimate), cancelled)


def measured(
    workspace: Workspace, chosen: Callable[[], EmbedderChoice], change: ProposedChange, cancelled: Cancelled = never
) -> GateReport:
    """The report on a change; raises `ConfigError`, and `Interrupted` when it is cancelled."""
    return measure_change(gate_context(workspace, chosen, cancelled), change)


def draft_measure(workspace: Workspace, chosen: Callable[[], EmbedderChoice]) -> MeasureDraft:
    """The function that measures the draft of a learned skill, by past tasks that have a word of its triggers and were
    not among the runs from which it was learned."""

    def measure(suggestion: Suggestion, path: str, draft: bytes) -> MeasuredDraft:
        words = [word.lower() for word in suggestion.keywords]
        change = ProposedChange(
            suggestion.name,
            (ChangedNote(path, draft.decode()),),
            frozenset(each.run for each in suggestion.evidence),
            lambda task: not words or any(word in task.lower() for word in words),
        )
        report = measured(workspace, chosen, change)
        return MeasuredDraft(report.verdict == "below", report.text)

    return measure


@contextmanager
def _opened(chosen: Callable[[], EmbedderChoice], scratch: Workspace) -> Iterator[RunService]:
    with (
        closing(open_index(scratch, chosen=chosen())) as index,
        closing(build_runs(scratch, index, subscribe_unheard)) as runs,
    ):
        runs.close_conversations = do_nothing
        yield runs
