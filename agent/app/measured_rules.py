"""Builds the work on rules with the models, and with a measure of each new rule on past tasks."""

from collections.abc import Callable

from agent.app.replays import measured
from agent.app.rules import rule_work
from agent.context.tokens import estimate
from agent.growth.gate.change import GateReport, ProposedChange
from agent.growth.patterns.likeness import vectors_of
from agent.growth.rules.rule_work import RuleWork
from agent.llm.provider import Cancelled
from agent.runs.accounts import Accounts, open_accounts
from agent.workspace.search_index import SearchIndex
from agent.workspace.workspace import Workspace, reload_settings


def measured_rule_work(
    workspace: Workspace, index: SearchIndex, tell: Callable[[object], object], cancelled: Cancelled
) -> RuleWork:
    """The work on a vault's rules, with the settings as they are now; `cancelled` says whether to stop measuring."""
    fresh = reload_settings(workspace)

    def accounts() -> Accounts:
        return open_accounts(fresh, estimate)

    def measure(change: ProposedChange) -> GateReport:
        return measured(fresh, lambda: index.chosen, change, cancelled)

    return rule_work(fresh, lambda: vectors_of(index.chosen.embedder), accounts, measure, tell)
