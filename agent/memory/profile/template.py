"""The profile's notes as the template has them, in a language."""

from functools import cache
from pathlib import PurePosixPath

from agent.config.resources import resource
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.profile.profile_file import layer_of
from agent.texts import Language
from agent.vault.folders import PROFILE
from agent.vault.template import read_template


@cache
def template_notes(language: Language) -> dict[str, bytes]:
    """All notes of the template's folder, by name: the seventeen, the changelog, and those that explain the folders."""
    files = read_template(resource("vault_template"), language)
    return {path.removeprefix(PROFILE): data for path, data in files.items() if path.startswith(PROFILE)}


def template_note(name: str, language: Language) -> bytes:
    """The note of this name before anybody has filled it; for a topic, one with its title only."""
    found = template_notes(language).get(name)
    if found is not None:
        return found
    title = PurePosixPath(name).stem.replace("-", " ").replace("_", " ")
    title = title[:1].upper() + title[1:]
    header: dict[str, Value] = {"type": "profile", "title": title, "layer": layer_of(name), "keywords": []}
    header |= {"summary": "", "confidence": 0, "related_files": [], "evidence": []}
    return Note.compose(header, f"# {title}\n").data
