"""Quick looks whether anything was asked, before what reads it is loaded."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.vault.glance import has_records
from agent.vault.layout import ASKED
from agent.vault.store import Vault

if TYPE_CHECKING:
    from agent.asking.proposal import ProposalKind

OLDER_FOLDERS: Mapping["ProposalKind", str] = {
    "call": "approvals",
    "skill_review": "reviewed/asked",
    "skill_offer": "skill-suggestions",
    "arrived_note": "arrivals",
    "arrived_files": "arrivals",
    "remote": "arrivals",
    "job": "job-approvals",
    "rule": "proposals",
    "mutation": "proposals",
    "remote_wait": "sync-questions",
    "conflict": "sync-questions",
}
"""The private folder in which each kind had its records in earlier versions."""


def has_any(vault: Vault, *kinds: "ProposalKind") -> bool:
    """True if there is a record of one of these kinds, also of an earlier version."""
    return any(has_records(vault, f"{ASKED}/{kind}") or has_records(vault, OLDER_FOLDERS[kind]) for kind in kinds)
