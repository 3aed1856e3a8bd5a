"""Templates, from which other programs make notes: where Obsidian and its plugins say that they are."""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.markdown.placeholders import has_placeholders
from agent.vault.store import Vault

_LARGEST = 4 << 20
_ONE = "template"
_SETTINGS = (
    (".obsidian/templates.json", "folder"),
    (".obsidian/daily-notes.json", _ONE),
    (".obsidian/zk-prefixer.json", _ONE),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
    (".obsidian/plugins/quickadd/data.json", "templateFolderPath"),
)
"""Files with settings, and the key of a folder with templates, or of one template."""


@dataclass(frozen=True, slots=True)
class NoteTemplates:
    """The folders and notes of a vault that hold templates."""

    places: frozenset[str]

    def has(self, path: str, data: bytes) -> bool:
        """True if a note with these bytes is a template: by its place, or by placeholders in its header."""
        above = (str(each) for each in PurePosixPath(path).parents)
        return not self.places.isdisjoint((path, *above)) or has_placeholders(data)


def load_note_templates(vault: Vault) -> NoteTemplates:
    """The places of templates that the settings in the vault name; settings that cannot be read name none."""
    return NoteTemplates(frozenset(_places(vault)))


def _places(vault: Vault) -> Iterator[str]:
    for path, key in _SETTINGS:
        try:
            data = vault.glance(path)
            settings = json.loads(data) if len(data) <= _LARGEST else {}
        except (OSError, ValueError, RecursionError, AgentError):
            continue
        place = settings.get(key) if isinstance(settings, dict) else None
        if isinstance(place, str) and place.strip("/ "):
            named = place.strip("/ ")
            yield f"{named.removesuffix('.md')}.md" if key == _ONE else named
