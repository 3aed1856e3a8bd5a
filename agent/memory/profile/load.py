"""Loads a vault's profile: each note as it counts as the person's, and when it changed last, by its history.

Lays out the forms of the notes about the person that are missing, for a person who wants to fill them in.

The profile's notes as the template has them, in a language: forms to fill in, and the outline of each.

A note is laid with its first line, below the form's own heading for it: a form of empty fields is laid only for a
person who asks for it.

How far a profile is filled, in one value: for the command line, `status`, and the agent's own planning.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path, PurePosixPath

from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.errors import Unknown
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.profile.profile_file import (
    CHANGELOG,
    CORE,
    Field,
    ProfileFile,
    field_in,
    is_core,
    is_profile_note,
    layer_of,
    note_name,
    parse_profile,
)
from agent.memory.profile.questions import open_questions
from agent.texts import Language
from agent.vault.change import Stamp
from agent.vault.folders import PROFILE
from agent.vault.history.find import commits
from agent.vault.store import Vault
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


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """How far a layer is filled: its notes, those that say something, and its fields."""

    layer: int
    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int


def load_profile(vault: Vault) -> tuple[ProfileFile, ...]:
    """The notes of the profile in order; without text that arrived from elsewhere and that the person has not looked
    at."""
    place = Path(vault.place.root, vault.home.at(PROFILE))
    found = sorted(place.rglob("*.md")) if place.is_dir() else []
    names = [path.relative_to(place).as_posix() for path in found if not path.is_symlink()]
    loaded = (load_file(vault, name) for name in sorted(names, key=_order) if is_profile_note(name))
    return tuple(each for each in loaded if each is not None)


def profile_with_forms(vault: Vault, language: Language) -> tuple[ProfileFile, ...]:
    """The notes of the profile, each with the fields of its form that it lacks; a missing note as its form is."""
    files = load_profile(vault)
    lacking = ((each, vault.home.at(PROFILE + each)) for each in missing(files))
    forms = tuple(parse_profile(path, name, template_note(name, language)) for name, path in lacking)
    return (*(_with_form(each, language) for each in files), *forms)


def _with_form(file: ProfileFile, language: Language) -> ProfileFile:
    there = {each.label.casefold() for each in file.fields}
    labels = (label for label, _ in outline_of(file.name, language).fields if label.casefold() not in there)
    return replace(file, fields=(*file.fields, *(Field(label, "", 0) for label in labels)))


def load_file(vault: Vault, name: str) -> ProfileFile | None:
    """One note by its name in `profile/`; None if there is none."""
    path = vault.home.at(PROFILE + name)
    data = vault.own_version(path)
    return None if data is None else parse_profile(path, name, data)


def find_profile_note(files: Sequence[ProfileFile], name: str) -> ProfileFile:
    """The note of this name, or the only one whose name begins so."""
    wanted = (note_name(name) or name).removesuffix(".md").rpartition(PROFILE)[2]
    exact = [each for each in files if each.name.removesuffix(".md") == wanted]
    close = [each for each in files if each.name.removesuffix(".md").rpartition("/")[2].startswith(wanted)]
    found = exact or (close if wanted else [])
    if len(found) != 1:
        raise Unknown(
            "there is no note {name} in the profile", hint="vault-agent profile show lists the notes", name=name
        )
    return found[0]


def missing(files: tuple[ProfileFile, ...]) -> tuple[str, ...]:
    """The names of those of the seventeen notes that are not there."""
    there = {each.name for each in files}
    return tuple(f"{stem}.md" for stem in CORE if f"{stem}.md" not in there)


def last_updated(vault: Vault) -> dict[str, datetime]:
    """When each note of the profile changed last, by its name; without notes that are in no commit yet."""
    folder, found = vault.home.at(PROFILE), dict[str, datetime]()
    for commit in commits(vault, path=folder):
        for change in commit.files:
            if change.path.startswith(folder):
                found.setdefault(change.path.removeprefix(folder), commit.when)
    return found


def layer_figures(files: tuple[ProfileFile, ...]) -> tuple[LayerFigures, ...]:
    """The figures of the layers that have notes, in order."""
    figures: list[LayerFigures] = []
    for layer in sorted({each.layer for each in files}):
        own = [each for each in files if each.layer == layer]
        fields = [field for each in own for field in each.fields]
        filled = sum(bool(field.value) for field in fields)
        lines = sum(len(each.statements) for each in own)
        figures.append(LayerFigures(layer, len(own), sum(each.filled > 0 for each in own), len(fields), filled, lines))
    return tuple(figures)


def changelog(vault: Vault) -> str:
    """The text of the changelog; empty without one."""
    return (vault.own_version(vault.home.at(PROFILE + CHANGELOG)) or b"").decode("utf-8", "replace")


def changelog_rows(vault: Vault) -> list[str]:
    """The changes that the agent made in the profile, the newest first."""
    return [line[2:] for line in changelog(vault).splitlines() if line.startswith("- ")][::-1]


def _order(name: str) -> tuple[bool, str]:
    return (not is_core(name), name)


@dataclass(frozen=True, slots=True)
class ProfileFigures:
    """The notes and fields of a profile, how many of them are filled, and the lines beside the fields. `missing` are
    those of the seventeen notes that are not there, `open_questions` the notes that ask the person about it."""

    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int
    missing: tuple[str, ...]
    open_questions: tuple[str, ...]


def profile_figures(vault: Vault) -> ProfileFigures:
    """The figures of a vault's profile."""
    files = load_profile(vault)
    fields = [field for each in files for field in each.fields]
    return ProfileFigures(
        len(files),
        sum(each.filled > 0 for each in files),
        len(fields),
        sum(bool(field.value) for field in fields),
        sum(len(each.statements) for each in files),
        missing(files),
        open_questions(vault),
    )
