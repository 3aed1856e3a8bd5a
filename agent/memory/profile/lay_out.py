"""Lays out the forms of the notes about the person that are missing, for a person who wants to fill them in."""

from pathlib import Path

from agent.memory.profile.profile_file import is_core
from agent.memory.profile.template import template_notes
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.folders import PROFILE
from agent.vault.store import Vault


def lay_out_profile(vault: Vault, language: Language) -> tuple[str, ...]:
    """Write the forms that are missing, in one commit; returns their paths."""
    forms = {vault.home.at(PROFILE + name): data for name, data in template_notes(language).items() if is_core(name)}
    lay = {path: data for path, data in forms.items() if not Path(vault.place.root, path).exists()}
    if not lay:
        return ()
    with vault.transaction(f"profile(init): added {len(lay)} notes", Stamp("agent", tool="init")) as change:
        for path, data in lay.items():
            change.create(path, data)
    return tuple(lay)
