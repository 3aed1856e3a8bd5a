"""The folders that contain skills, and the skill of a path in the vault."""

from dataclasses import dataclass
from pathlib import Path

from agent.skills.reading.skill import SkillSource
from agent.vault.folders import DEPRECATED, LEARNED, MUTATIONS, SKILL_HISTORY, SKILLS

RESERVED = frozenset(path[len(SKILLS) : -1] for path in (LEARNED, MUTATIONS, DEPRECATED, SKILL_HISTORY))
"""Folders in a vault's `skills/` that belong to the agent and are not skills."""


@dataclass(frozen=True, slots=True)
class SkillLocation:
    """One folder of skills: `folder` below `root`. `shown` is the prefix of a skill's name in displayed paths."""

    source: SkillSource
    root: Path
    folder: str
    shown: str
    reserved: frozenset[str] = frozenset()

    def folder_of(self, name: str) -> str:
        """A skill's folder, below `root`."""
        return f"{self.folder}/{name}"


def skill_locations(vault: Path, package: Path) -> tuple[SkillLocation, ...]:
    """The three locations, highest precedence first."""
    return (
        SkillLocation(SkillSource.VAULT, vault, SKILLS.rstrip("/"), SKILLS.rstrip("/"), RESERVED),
        SkillLocation(SkillSource.LEARNED, vault, LEARNED.rstrip("/"), LEARNED.rstrip("/")),
        SkillLocation(SkillSource.PACKAGE, package, "", str(package)),
    )


@dataclass(frozen=True, slots=True)
class SkillPath:
    """A path in the vault, split into the skill's source and name, and the `file` in its folder (empty: the folder)."""

    source: SkillSource
    name: str
    file: str


def split_path(path: str) -> SkillPath | None:
    """The parts of a path in a skill's folder; None for any other path."""
    parts = path.split("/")
    if not path.startswith(SKILLS):
        return None
    if path.startswith(LEARNED):
        return SkillPath(SkillSource.LEARNED, parts[2], "/".join(parts[3:]))
    return None if parts[1] in RESERVED else SkillPath(SkillSource.VAULT, parts[1], "/".join(parts[2:]))
