"""What the agent knows about the person: the notes by layer, how far they are filled, and lines about something."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from agent.deeds.result import MostItems, ResultValue, TaskText
from agent.memory.profile.load import layer_figures, load_profile, profile_figures
from agent.memory.profile.profile_file import ProfileFile, search_profile, whole_summary
from agent.texts import text
from agent.workspace.workspace import Workspace


class FileInfo(ResultValue, frozen=True):
    """A note about the person. `filled` counts what it says: fields with a value and all other lines."""

    filename: str
    path: str
    layer: int
    title: str
    summary: str
    confidence: float
    keywords: list[str]
    filled: int
    fields: int
    empty_fields: int
    evidence: list[str]
    last_updated: str | None


class ProfileLine(ResultValue, frozen=True):
    """A line that fits."""

    path: str
    title: str
    text: str
    score: float


class ProfileHits(ResultValue, frozen=True):
    """The lines that fit, best first."""

    query: str
    hits: list[ProfileLine]


class ProfileSummary(ResultValue, frozen=True):
    """What the profile says on the whole, and how far it is filled."""

    summary: str
    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int
    missing: list[str]
    open_questions: list[str]
    sensitive: str


class ProfileLayer(ResultValue, frozen=True):
    """One layer, and how far it is filled."""

    layer: int
    name: str
    notes: int
    filled_notes: int
    fields: int
    filled_fields: int
    lines: int


class Layers(ResultValue, frozen=True):
    """The layers that have notes, in order."""

    layers: list[ProfileLayer]


F = TypeVar("F", bound=FileInfo)


def profile_file(kind: type[F], file: ProfileFile, changed: Mapping[str, datetime], **more: object) -> F:
    """A note about the person; `changed` has the time of its last change, if one is known."""
    evidence = [each.written for each in file.evidence]
    when = changed.get(file.name)
    return kind.of(file, filename=file.name, fields=len(file.fields), evidence=evidence, last_updated=when, **more)


def search_in_profile(workspace: Workspace, query: TaskText, limit: MostItems = 10) -> ProfileHits:
    """The lines about something."""
    hits = search_profile(load_profile(workspace.vault), query, limit)
    return ProfileHits(query, [ProfileLine.of(each, each.file) for each in hits])


def profile_summary(workspace: Workspace) -> ProfileSummary:
    """The profile on the whole."""
    vault, consent = workspace.vault, workspace.settings.profile.sensitive
    return ProfileSummary.of(profile_figures(vault), summary=whole_summary(load_profile(vault)), sensitive=consent)


def profile_layers(workspace: Workspace) -> Layers:
    """The layers of the profile."""
    language = workspace.settings.vault.language
    figures = layer_figures(load_profile(workspace.vault))
    return Layers([ProfileLayer.of(each, name=text(f"profile.layer_{each.layer}", language)) for each in figures])
