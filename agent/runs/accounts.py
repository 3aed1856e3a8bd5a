"""The models of the settings, on the account of each run: redacted, priced, metered."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.context.budget import Count
from agent.llm.ledger import Ledger, SpendScope, SpendTotals
from agent.llm.presets import price
from agent.llm.provider import Provider
from agent.llm.providers import Providers, providers
from agent.llm.redaction import RedactingProvider
from agent.llm.spend import Meter
from agent.loop.agent import Models
from agent.runs.extractive_provider import ExtractiveProvider
from agent.runs.status import ledger_of
from agent.workspace.workspace import Workspace, learn_secrets


@dataclass(frozen=True, slots=True)
class Accounts:
    """The machine's models with one ledger for all its vaults, as the day's ceilings are the person's."""

    models: Providers
    ledger: Ledger
    of_run: Callable[[str, str], Models]

    def spent(self, run: str) -> SpendTotals:
        """What a run and its sub-runs have cost."""
        return self.ledger.totals_of(run)


def open_accounts(workspace: Workspace, count: Count, stand_in: Provider) -> Accounts:
    """The models that the settings name, `stand_in` where they name none. Connects to nothing.

    Raises `ConfigError` for half a configuration.
    """
    secrets = learn_secrets(workspace)
    found = providers(workspace.settings.llm, workspace.clock, count)
    ledger = ledger_of(workspace)

    def metered(provider: Provider, scope: SpendScope) -> Provider:
        if not provider.model.present:
            return stand_in.of_run(scope.run) if isinstance(stand_in, ExtractiveProvider) else stand_in
        meter = Meter(
            provider, ledger, workspace.settings.spend, price(provider.model.name), count, workspace.clock, scope
        )
        return RedactingProvider(meter, secrets)

    def of_run(run: str, job: str) -> Models:
        scope = SpendScope(run, job)
        return Models(metered(found.main, scope), metered(found.fast, scope))

    return Accounts(found, ledger, of_run)
