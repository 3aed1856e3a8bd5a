"""The profile's notes as the template has them, in a language: forms to fill in, and the outline of each.

A note is laid with its first line, below the form's own heading for it: a form of empty fields is laid only for a
person who asks for it.
"""

from functools import cache
from pathlib import PurePosixPath

from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.profile.profile_file import CHANGELOG, field_in, layer_of
from agent.texts import Language
from agent.vault.folders import PROFILE
from agent.vault.template import read_template

_HEADING = "## "


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a form in order, and its fields: each label with the heading that it stands below."""

    headings: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]

    def heading_of(self, label: str) -> str:
        """The heading below which the field of this label stands; empty for a label that the form does not have."""
        wanted = label.strip().casefold()
        return next((heading for name, heading in self.fields if name.casefold() == wanted), "")

    def after(self, heading: str) -> tuple[str, ...]:
        """The headings that follow this one."""
        return self.headings[self.headings.index(heading) + 1 :] if heading in self.headings else ()


@cache
def template_notes(language: Language) -> dict[str, bytes]:
    """The template's notes about the person, by name: the seventeen forms, and the changelog."""
    files = read_template(resource("vault_template"), language)
    return {path.removeprefix(PROFILE): data for path, data in files.items() if path.startswith(PROFILE)}


def template_note(name: str, language: Language) -> bytes:
    """The form of the note of this name; for a topic, a note with its title only."""
    found = template_notes(language).get(name)
    if found is not None:
        return found
    title = PurePosixPath(name).stem.replace("-", " ").replace("_", " ")
    title = title[:1].upper() + title[1:]
    header: dict[str, Value] = {"type": "profile", "title": title, "layer": layer_of(name), "keywords": []}
    header |= {"summary": "", "confidence": 0, "related_files": [], "evidence": []}
    return Note.compose(header, f"# {title}\n").data


def first_note(name: str, language: Language) -> bytes:
    """The note of this name before its first line: the form's header and title. The changelog is whole."""
    form = Note.parse(template_note(name, language))
    if name == CHANGELOG:
        return form.data
    title = next((line for line in form.body.splitlines() if line.startswith("# ")), "")
    return form.with_body(f"{title}\n").with_key("related_files", []).data


@cache
def outline_of(name: str, language: Language) -> Outline:
    """The outline of the form of this name; an empty one for a topic."""
    headings, fields = list[str](), list[tuple[str, str]]()
    for line in Note.parse(template_notes(language).get(name, b"")).body.splitlines():
        if line.startswith(_HEADING):
            headings.append(line.removeprefix(_HEADING).strip())
        elif headings and (field := field_in(line)) is not None:
            fields.append((field[1], headings[-1]))
    return Outline(tuple(headings), tuple(fields))
