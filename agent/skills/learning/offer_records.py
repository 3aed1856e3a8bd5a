"""Records of the skills offered to the person on this machine: the note of each offer, and its answer.

Records are stored outside the vault. `status` counts waiting offers with this module; writing and deciding offers is
left to `offers`.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.vault import durable
from agent.vault.layout import SKILL_OFFERS
from agent.vault.store import Vault

OfferStatus: TypeAlias = Literal["asking", "pending", "accepted", "rejected", "outdated", "unwritten"]
"""`asking`: its note may not be written yet. `unwritten`: a model's text for it was of no use, and no note was made.
`outdated`: the draft in the note, or the skill to be changed, has changed since."""
_TEXTS = ("key", "id", "path", "name", "skill", "draft", "reason")


@dataclass(frozen=True, slots=True)
class SkillOffer:
    """One offer.

    `path` is that of its note, `skill` that of the skill to write, `base` the skill's text at that time (None: it did
    not exist), `reason` the person's, or the reason for dropping the offer.
    """

    key: str
    id: str
    path: str
    name: str
    skill: str
    tools: tuple[str, ...]
    support: int
    draft: str
    base: str | None = None
    status: OfferStatus = "asking"
    reason: str = ""


def offer_records_folder(vault: Vault) -> Path:
    """The folder of a vault's records, in its private folder."""
    return vault.private_folder / SKILL_OFFERS


def save_offer(folder: Path, offer: SkillOffer) -> SkillOffer:
    """Write a record and return the offer; durable when this returns."""
    durable.replace(folder / f"{offer.id}.json", json.dumps(asdict(offer), indent=1))
    return offer


def delete_offer(folder: Path, offer: SkillOffer) -> None:
    """Delete the record of an offer whose note was never written."""
    (folder / f"{offer.id}.json").unlink(missing_ok=True)


def load_offers(folder: Path) -> tuple[SkillOffer, ...]:
    """All offers made on this machine, oldest first; a record that cannot be parsed is skipped."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    found = [offer for file in files if (offer := _load_offer(file)) is not None]
    return tuple(sorted(found, key=lambda offer: offer.id))


def waiting_offers(vault: Vault, folder: Path) -> tuple[SkillOffer, ...]:
    """The offers without an answer, also one whose note was written just before a crash."""
    return tuple(
        offer
        for offer in load_offers(folder)
        if offer.status == "pending" or (offer.status == "asking" and vault.read(offer.path) is not None)
    )


def _load_offer(file: Path) -> SkillOffer | None:
    try:
        raw = parse_json(file.read_text("utf-8"))
        if raw["status"] not in get_args(OfferStatus) or not all(isinstance(raw[key], str) for key in _TEXTS):
            return None
        tools, base = tuple(str(tool) for tool in raw["tools"]), raw["base"]
        checked = {"tools": tools, "support": int(raw["support"]), "base": None if base is None else str(base)}
        return SkillOffer(**{**raw, **checked})
    except (OSError, ValueError, KeyError, TypeError):
        return None
