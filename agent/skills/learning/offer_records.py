"""What was offered as a skill, as a record outside the vault: what was asked, in which note, and what came of it.

Read also by those who only count what waits; making, deciding and keeping offers is `offers`'.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from agent.vault.store import Vault

OfferStatus: TypeAlias = Literal["asking", "pending", "accepted", "rejected", "outdated"]
"""`asking`: its note is not known to be written yet. `outdated`: the draft in the note, or the skill that it would
change, is not what it was any more."""


@dataclass(frozen=True, slots=True)
class SkillOffer:
    """One suggestion that was put to the person. `path` is that of its note, `skill` that of the skill it would be,
    `base` the skill as it was (None: there was none). `reason` is what the person wrote, or why it came to nothing."""

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
    """The folder of a vault's records, among its private files."""
    return vault.writer.layout.folder / "skill-suggestions"


def load_offers(folder: Path) -> tuple[SkillOffer, ...]:
    """Every offer that this machine has made and not forgotten, oldest first; a broken record offers nothing."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    found = [offer for file in files if (offer := _load(file)) is not None]
    return tuple(sorted(found, key=lambda offer: offer.id))


def waiting_offers(vault: Vault, folder: Path) -> tuple[SkillOffer, ...]:
    """The offers that wait for a yes or a no; also where a crash came between the note that asks and our record."""
    return tuple(
        offer
        for offer in load_offers(folder)
        if offer.status == "pending" or (offer.status == "asking" and vault.read(offer.path) is not None)
    )


def _load(file: Path) -> SkillOffer | None:
    try:
        raw = json.loads(file.read_text("utf-8"))
        status = raw["status"]
        if status not in get_args(OfferStatus) or not all(isinstance(raw[key], str) for key in _TEXTS):
            return None
        base = raw["base"]
        key, number, path, name, skill, draft, why = (raw[text] for text in _TEXTS)
        tools, base = tuple(str(tool) for tool in raw["tools"]), None if base is None else str(base)
        return SkillOffer(
            key, number, path, name, skill, tools, int(raw["support"]), draft, base, cast(OfferStatus, status), why
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


_TEXTS = ("key", "id", "path", "name", "skill", "draft", "reason")
