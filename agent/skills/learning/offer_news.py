"""News for the person at a prompt: a skill was offered, or an offer was accepted. Each is taken once on this machine,
by whichever process shows it."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent.asking.answers import undecided
from agent.asking.proposal import Proposal
from agent.asking.records import proposals_of
from agent.config.private import make_folder
from agent.vault.store import Vault


def take_news(vault: Vault) -> tuple[Proposal, ...]:
    """The offers that wait, and the accepted ones whose skill is still there, that were not taken before."""
    folder = _folder(vault)
    return tuple(offer for offer in _current(vault) if _take(folder, offer))


def has_news(vault: Vault) -> bool:
    """True if there is an offer that `take_news` would take."""
    folder = _folder(vault)
    return any(not (folder / _name(offer)).exists() for offer in _current(vault))


def _folder(vault: Vault) -> Path:
    return vault.private_folder / "skill-news"


def _current(vault: Vault) -> Iterator[Proposal]:
    yield from undecided(vault, "skill_offer")
    for offer in proposals_of(vault, "skill_offer"):
        if offer.status == "approved" and vault.read(offer.notes[0].path) is not None:
            yield offer


def _take(folder: Path, offer: Proposal) -> bool:
    """True for the first process that takes this offer with its status: it creates the file of this name."""
    make_folder(folder)
    try:
        os.close(os.open(folder / _name(offer), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    return True


def _name(offer: Proposal) -> str:
    return f"{offer.id}-{'accepted' if offer.status == 'approved' else 'offered'}"
