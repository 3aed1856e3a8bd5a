"""Lays out the notes of a profile that are missing."""

from pathlib import Path

from agent.memory.profile.template import template_notes
from agent.texts import LANGUAGES, Language
from agent.vault.change import Stamp
from agent.vault.folders import PROFILE
from agent.vault.store import Vault


def lay_out_profile(vault: Vault, language: Language) -> tuple[str, ...]:
    """Write the template's notes that are missing, in one commit; returns their paths."""
    notes = {vault.home.at(PROFILE + name): data for name, data in template_notes(language).items()}
    lay = {path: data for path, data in notes.items() if not Path(vault.place.root, path).exists()}
    if lay and _has_about(vault):  # an explaining note in the other language says the same
        lay = {path: data for path, data in lay.items() if b"\ntype: about\n" not in data}
    if not lay:
        return ()
    with vault.transaction(f"profile(init): added {len(lay)} notes", Stamp("agent", tool="init")) as change:
        for path, data in lay.items():
            change.create(path, data)
    return tuple(lay)


def _has_about(vault: Vault) -> bool:
    return any(
        Path(vault.place.root, vault.home.at(PROFILE + name)).exists()
        for language in LANGUAGES
        for name, data in template_notes(language).items()
        if b"\ntype: about\n" in data and "/" not in name
    )
