"""The alerts that stand, outside the vault, so that each is told once; and their sentences."""

from collections.abc import Iterable
from datetime import datetime

from agent.dataclass import dataclass
from agent.memory import daily
from agent.metrics.alerts import Alert
from agent.records.table import Table
from agent.texts import Language, text
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """An alert that has stood `since` then, and the id of the notice about it."""

    alert: Alert
    since: datetime
    notice: str

    @property
    def key(self) -> tuple[str, str]:
        """The key: an alert with the same key is the same trouble."""
        return self.alert.rule, self.alert.subject


def load_active_alerts(vault: Vault) -> tuple[ActiveAlert, ...]:
    """The alerts that stood when the daemon looked last; none where they are damaged."""
    return _table(vault).get() or ()


def save_active_alerts(vault: Vault, active: Iterable[ActiveAlert]) -> None:
    """Write them down."""
    _table(vault).put(tuple(active))


def alert_title(alert: Alert, language: Language) -> str:
    """The trouble, in one line."""
    about = daily.inert(alert.subject)
    return text(f"alert.{alert.rule}", language, about=about, count=f"{alert.number:g}")


def alert_help(alert: Alert, language: Language) -> str:
    """The help for the person, in one line."""
    about = daily.inert(alert.subject)
    return text(f"alert.{alert.rule}_do", language, about=about, more=f"{alert.more:g}")


def _table(vault: Vault) -> Table[tuple[ActiveAlert, ...]]:
    return Table(vault.records, "standing-alerts", tuple[ActiveAlert, ...], is_flushed=False)
