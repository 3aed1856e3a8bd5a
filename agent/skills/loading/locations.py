"""The folders that contain skills, and the skill of a path in the vault."""

from pathlib import Path

from agent.dataclass import dataclass
from agent.skills.reading.skill import SkillSource
from agent.vault.folders import AT_ROOT, DEPRECATED, LEARNED, MUTATIONS, SKILL_HISTORY, SKILLS, AgentFolder

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


def skill_locations(vault: Path, package: Path, home: AgentFolder = AT_ROOT) -> tuple[SkillLocation, ...]:
    """The three locations, highest precedence first."""
    own, learned = (home.at(folder).rstrip("/") for folder in (SKILLS, LEARNED))
    return (
        SkillLocation(SkillSource.VAULT, vault, own, own, RESERVED),
        SkillLocation(SkillSource.LEARNED, vault, learned, learned),
        SkillLocation(SkillSource.PACKAGE, package, "", str(package)),
    )


@dataclass(frozen=True, slots=True)
class SkillPath:
    """A path in the vault, split into the skill's source and name, and the `file` in its folder (empty: the folder)."""

    source: SkillSource
    name: str
    file: str


def split_name(name: str) -> SkillPath | None:
    """The parts of the name of a file in a skill's folder (`AgentFolder.name_of`); None for any other file."""
    parts = name.split("/")
    if not name.startswith(SKILLS):
        return None
    if name.startswith(LEARNED):
        return SkillPath(SkillSource.LEARNED, parts[2], "/".join(parts[3:]))
    return None if parts[1] in RESERVED else SkillPath(SkillSource.VAULT, parts[1], "/".join(parts[2:]))
