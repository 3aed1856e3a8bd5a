"""The configured models, metered on the account of each run, with secrets redacted and calls priced."""

from collections.abc import Callable
from datetime import date
from random import random
from typing import Protocol, TypeAlias

from agent.context.budget import Count
from agent.dataclass import dataclass
from agent.events.runs import ModelRetry
from agent.llm.known_models import FILE as MODELS
from agent.llm.known_models import ModelMemory
from agent.llm.ledger import Ledger, SpendScope, SpendTotals
from agent.llm.messages import Provider
from agent.llm.offline import Offline
from agent.llm.presets import price
from agent.llm.providers import Providers, providers
from agent.llm.redaction import RedactingProvider, with_fallback
from agent.llm.spend import Meter
from agent.llm.spend_elsewhere import spent_elsewhere
from agent.llm.wire import Wire
from agent.loop.agent import Models
from agent.runs.shared_spend import SpendSharing
from agent.runs.status import SPEND, ledger_of
from agent.workspace.workspace import Workspace, learn_secrets

StandIn: TypeAlias = Callable[[str, str, bool], Provider]
"""Gives what answers in a run, by its id and its job (empty for none), in place of the main model: where none is
configured, or one is, which does not answer (True)."""


class ModelsOfRun(Protocol):
    """Gives the models for a run's id and its job (empty for none); `spend` is what all runs of the job together may
    cost on a day, in US dollars (None: no limit of its own)."""

    def __call__(self, run: str, job: str, spend: float | None = None, /) -> Models: ...


@dataclass(frozen=True, slots=True)
class Accounts:
    """The configured models, with one ledger for all vaults of this machine, as the daily limits are per person."""

    models: Providers
    ledger: Ledger
    of_run: ModelsOfRun

    def spent(self, run: str) -> SpendTotals:
        """The cost of a run and its sub-runs."""
        return self.ledger.totals_of(run)


def do_nothing(event: ModelRetry) -> None:
    """Do nothing; for work that nobody watches."""


def open_accounts(
    workspace: Workspace,
    count: Count,
    stand_in: StandIn | None = None,
    publish: Callable[[ModelRetry], object] = do_nothing,
) -> Accounts:
    """The accounts with the configured models, or with `stand_in` if there is none; without one, work is only done with
    a model. Opens no connection.

    Each pause before another try of a call is published.

    Raises `ConfigError` for an incomplete configuration.
    """
    secrets = learn_secrets(workspace)

    def on_retry(seconds: float, reason: str) -> None:
        publish(ModelRetry(seconds, reason))

    memory = ModelMemory(workspace.directories.state / MODELS, workspace.vault.clock)
    found = providers(workspace.settings.llm, workspace.vault.clock, count, random, on_retry, memory)
    ledger = ledger_of(workspace)

    sharing = SpendSharing(workspace) if workspace.settings.sync.claims == "postgres" else None

    def elsewhere(day: date, mine: SpendTotals) -> SpendTotals:
        if sharing is not None:
            sharing.show_first(day, mine)
        return spent_elsewhere(workspace.directories.state / SPEND, day)

    def metered(provider: Provider, scope: SpendScope, spend: float | None) -> Provider:
        if not provider.model.present:
            return stand_in(scope.run, scope.job, False) if stand_in is not None else Offline()
        clock, url = workspace.vault.clock, str(getattr(provider, "url", ""))
        if isinstance(provider, Wire):
            provider.learn_window()
        rate = price(provider.model.name, url)
        meter = Meter(provider, ledger, workspace.settings.spend, rate, count, clock, scope, elsewhere, spend)
        return RedactingProvider(meter, secrets)

    def left(scope: SpendScope) -> float:
        if not found.main.model.present:
            return 1.0
        spend, clock = workspace.settings.spend, workspace.vault.clock
        return Meter(found.main, ledger, spend, None, count, clock, scope).left()

    def of_run(run: str, job: str, spend: float | None = None, /) -> Models:
        scope = SpendScope(run, job)
        models = found.wrapped(lambda provider: metered(provider, scope, spend))
        fallback = models.fallback
        models = models.wrapped(lambda provider: with_fallback(provider, fallback, workspace.vault.clock))
        instead = stand_in(run, job, True) if stand_in is not None and found.main.model.present else None
        return Models(models.main, models.fast, models.others, fallback, left=lambda: left(scope), stand_in=instead)

    return Accounts(found, ledger, of_run)
