"""The alerts that stand, in one small file outside the vault, so that each is told once; and their sentences."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import cast, get_args

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.memory import daily
from agent.metrics.alerts import Alert, AlertRule
from agent.texts import Language, text
from agent.vault.store import Vault

_FILE = "alerts.json"


@dataclass(frozen=True, slots=True)
class StandingAlert:
    """An alert that has stood `since` then, and the id of the notice about it."""

    alert: Alert
    since: datetime
    notice: str

    @property
    def key(self) -> tuple[str, str]:
        """What it is about: an alert with the same key is the same trouble."""
        return self.alert.rule, self.alert.subject


def load_standing(vault: Vault) -> tuple[StandingAlert, ...]:
    """The alerts that stood when the daemon looked last; none in a file that cannot be parsed."""
    try:
        rows = parse_json((vault.private_folder / _FILE).read_bytes())
        return tuple(_parsed(row) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def save_standing(vault: Vault, standing: Iterable[StandingAlert]) -> None:
    """Write them down; raises `OSError`."""
    make_folder(vault.private_folder)
    rows = [{**asdict(each.alert), "since": each.since.isoformat(), "notice": each.notice} for each in standing]
    replace(vault.private_folder / _FILE, json.dumps(rows))


def alert_title(alert: Alert, language: Language) -> str:
    """What is wrong, in one line."""
    about = daily.inert(alert.subject)
    return text(f"alert.{alert.rule}", language, about=about, count=f"{alert.number:g}")


def alert_help(alert: Alert, language: Language) -> str:
    """What the person can do about it, in one line."""
    about = daily.inert(alert.subject)
    return text(f"alert.{alert.rule}_do", language, about=about, more=f"{alert.more:g}")


def _parsed(row: dict[str, object]) -> StandingAlert:
    """Raises `ValueError`, `KeyError` or `TypeError` for what is no alert."""
    rule, since = row["rule"], datetime.fromisoformat(str(row["since"]))
    if rule not in get_args(AlertRule) or since.tzinfo is None:
        raise ValueError(rule)
    number, more = (float(str(row[name])) for name in ("number", "more"))
    return StandingAlert(Alert(cast(AlertRule, rule), str(row["subject"]), number, more), since, str(row["notice"]))
