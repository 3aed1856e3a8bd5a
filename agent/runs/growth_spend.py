"""What the agent's own growth costs: the accounts under which its parts ask models, and what they have spent today.

Each account is a job's name in the ledger, so that the daily limit of all jobs (`spend.jobs`) holds for growth too. No
job of the vault can have such a name, as a job's id is that of its note in one folder.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from agent.llm.ledger import Ledger, SpendTotals

GrowthPart: TypeAlias = Literal["reflections", "rules", "mutations", "beliefs", "questions", "research", "patterns"]
_PARTS: tuple[GrowthPart, ...] = get_args(GrowthPart)
_BEGINNING = "growth/"


def growth_account(part: GrowthPart) -> str:
    """The name under which a part of growth asks models, and which its commits have as their job."""
    return f"{_BEGINNING}{part}"


def is_of_growth(job: str) -> bool:
    """True for a job that is a part of growth: nothing is reflected on, or learned from, its runs."""
    return job.startswith(_BEGINNING)


def growth_today(ledger: Ledger) -> SpendTotals:
    """What all parts of growth together have spent today; raises `Permanent` for a ledger that cannot be read."""
    return ledger.totals_of_jobs(ledger.today(), _BEGINNING)


def growth_parts_today(ledger: Ledger) -> Mapping[GrowthPart, SpendTotals]:
    """What each part of growth has spent today, of those that have asked a model; raises as `growth_today`."""
    today = ledger.today()
    found = {part: ledger.totals_of_jobs(today, growth_account(part)) for part in _PARTS}
    return {part: spent for part, spent in found.items() if spent.calls}
