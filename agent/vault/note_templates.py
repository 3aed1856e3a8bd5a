"""Templates, from which other programs make notes: where Obsidian and its plugins say that they are.

Their placeholders are filled in when a note is made: `{{date}}`, `<% tp.file.title %>`.
"""

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import PurePosixPath

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.markdown import note
from agent.markdown.note import Note
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
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)
_LINE = re.compile(
    r"^[ \t]*(?:PLACEHOLDER[ \t]*)+\r?\n".replace("PLACEHOLDER", _PLACEHOLDER.pattern), re.MULTILINE | re.DOTALL
)
"""A line of placeholders and nothing else: the program puts whole lines there, or none."""


@dataclass(frozen=True, slots=True)
class NoteTemplates:
    """The folders and notes of a vault that hold templates."""

    places: frozenset[str]

    def has(self, path: str, data: bytes) -> bool:
        """True if a note with these bytes is a template: by its place, or by placeholders in its header."""
        above = (str(each) for each in PurePosixPath(path).parents)
        return not self.places.isdisjoint((path, *above)) or _has_placeholders(data)


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


def _has_placeholders(data: bytes) -> bool:
    """True if the note's header has placeholders, and can be read once they are filled in."""
    parts = note.split(data)
    header = parts.header.decode("utf-8", "replace")
    if not _PLACEHOLDER.search(header):
        return False
    numbers = count()
    filled = _PLACEHOLDER.sub(lambda found: f"x{next(numbers)}", _LINE.sub("", header))
    return Note.parse(parts.opening + filled.encode() + parts.closing).problem is None
