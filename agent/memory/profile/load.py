"""Loads a vault's profile: each note as it counts as the person's, and when it changed last, by its history."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import Unknown
from agent.memory.profile.profile_file import (
    CHANGELOG,
    CORE,
    Field,
    ProfileFile,
    is_core,
    is_profile_note,
    note_name,
    parse_profile,
)
from agent.memory.profile.template import outline_of, template_note
from agent.texts import Language
from agent.vault.folders import PROFILE
from agent.vault.history.find import commits
from agent.vault.store import Vault


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


def find_profile_note(files: Sequence[ProfileFile], given: str) -> ProfileFile:
    """The note of this name, or the only one whose name begins so."""
    wanted = (note_name(given) or given).removesuffix(".md").rpartition(PROFILE)[2]
    exact = [each for each in files if each.name.removesuffix(".md") == wanted]
    close = [each for each in files if each.name.removesuffix(".md").rpartition("/")[2].startswith(wanted)]
    found = exact or (close if wanted else [])
    if len(found) != 1:
        raise Unknown(
            "there is no note {name} in the profile", hint="vault-agent profile show lists the notes", name=given
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
