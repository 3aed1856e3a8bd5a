"""The cost of models on the person's other machines, as far as it is known here: they tell it with their last contact.

One file beside the ledger, by the id of each ledger, as the limits of a day are for all vaults and machines together.
"""

import json
import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.llm.ledger import SpendTotals
from agent.llm.messages import Usage

_FILE = "elsewhere.json"
_MOST = 1e12
"""Tokens, or dollars, that a day can have cost; more is a mistake."""


@dataclass(frozen=True, slots=True)
class DaySpend:
    """The totals of one day in one ledger. `ledger` is its id."""

    ledger: str
    day: date
    calls: int
    tokens: int
    money: float

    def written(self) -> str:
        """The text for other machines."""
        totals = {"calls": self.calls, "tokens": self.tokens, "money": round(self.money, 6)}
        return json.dumps({"ledger": self.ledger, "day": self.day.isoformat(), **totals})


def parse_spend(text: str) -> DaySpend | None:
    """The day's spend that another machine has reported; None for other text."""
    try:
        record = parse_json(text)
        calls, tokens, money = int(record["calls"]), int(record["tokens"]), float(record["money"])
        known = DaySpend(str(record["ledger"])[:40], date.fromisoformat(record["day"]), calls, tokens, money)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return known if all(math.isfinite(each) and 0 <= each < _MOST for each in (calls, tokens, money)) else None


def save_elsewhere(folder: Path, reported: Mapping[str, DaySpend]) -> None:
    """Record what other machines have told, by ledger; what is known of other ledgers stays. `folder` is the
    ledger's."""
    known = {**_load(folder), **reported}
    newest = max((each.day for each in known.values()), default=date.min)
    recent = [each.written() for each in known.values() if (newest - each.day).days <= 2]
    make_folder(folder)
    replace(folder / _FILE, json.dumps(recent))


def spent_elsewhere(folder: Path, day: date) -> SpendTotals:
    """The cost of a day on other machines."""
    found = [each for each in _load(folder).values() if each.day == day]
    usage = Usage(sum(each.tokens for each in found), 0)
    return SpendTotals(sum(each.calls for each in found), usage, sum(each.money for each in found))


def ledger_id(folder: Path, new_id: str) -> str:
    """The id of the ledger in `folder`; `new_id` if it has none yet."""
    file = folder / "id"
    try:
        known = file.read_text("ascii").strip()
    except (OSError, ValueError):
        known = ""
    if not known:
        make_folder(folder)
        replace(file, new_id)
    return known or new_id


def _load(folder: Path) -> dict[str, DaySpend]:
    try:
        rows = parse_json((folder / _FILE).read_text("utf-8"))
        found = [parse_spend(row) for row in rows if isinstance(row, str)]
    except (OSError, ValueError, TypeError):
        return {}
    return {each.ledger: each for each in found if each is not None}
