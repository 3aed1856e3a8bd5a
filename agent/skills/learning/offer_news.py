"""News for the person at a prompt: a skill was offered, or an offer was accepted. Each is taken once on this machine,
by whichever process shows it."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent.config.private import make_folder
from agent.skills.learning.offer_records import SkillOffer, load_offers, offer_records_folder, waiting_offers
from agent.vault.store import Vault


def take_news(vault: Vault) -> tuple[SkillOffer, ...]:
    """The offers that wait, and the accepted ones whose skill is still there, that were not taken before."""
    shown = _folder(vault)
    return tuple(offer for offer in _current(vault) if _take(shown, offer))


def has_news(vault: Vault) -> bool:
    """True if there is an offer that `take_news` would take."""
    shown = _folder(vault)
    return any(not (shown / _name(offer)).exists() for offer in _current(vault))


def _folder(vault: Vault) -> Path:
    return vault.private_folder / "skill-news"


def _current(vault: Vault) -> Iterator[SkillOffer]:
    records = offer_records_folder(vault)
    yield from waiting_offers(vault, records)
    for offer in load_offers(records):
        if offer.status == "accepted" and vault.read(offer.skill) is not None:
            yield offer


def _take(folder: Path, offer: SkillOffer) -> bool:
    """True for the first process that takes this offer with its status: it creates the file of this name."""
    make_folder(folder)
    try:
        os.close(os.open(folder / _name(offer), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def _name(offer: SkillOffer) -> str:
    return f"{offer.id}-{'accepted' if offer.status == 'accepted' else 'offered'}"
