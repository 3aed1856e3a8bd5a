"""The folders that contain skills, the skill of a path in the vault, and the skills that come with the program."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.skills.reading.skill import Skill, SkillSource
from agent.texts import Language, text
from agent.vault.folders import (
    AT_ROOT,
    DAILY,
    DEPRECATED,
    FOLDERS,
    LEARNED,
    MUTATIONS,
    RESEARCH,
    SKILL_HISTORY,
    SKILLS,
    TASKS,
    TASKS_DONE,
    AgentFolder,
)

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


TRANSLATION: Mapping[Language, str] = {"zh": "SKILL.zh.md"}
"""The file beside `SKILL.md` with description and text in another language."""
_FOLDER = re.compile(r"\{\{(\w+)\}\}")
_OWN = {"daily": DAILY, "tasks": TASKS, "tasks_done": TASKS_DONE, "research": RESEARCH}
_ALL = "agent_folders"


def in_vault(skill: Skill, translation: bytes | None, home: AgentFolder, language: Language) -> Skill:
    """The skill as it is offered and read in a vault; `translation` is its file in the vault's language, if any."""
    files = tuple(each for each in skill.files if each not in TRANSLATION.values())
    description, body, line = skill.description, skill.body, skill.body_line
    if translation is not None:
        note = Note.parse(translation)
        description, body, line = note.string("description") or description, note.body, max(note.body_line, 1)
    body = _FOLDER.sub(lambda found: _folder(found[1], home, language), body)
    return replace(skill, description=description, body=body.strip("\n"), body_line=line, files=files)


def _folder(name: str, home: AgentFolder, language: Language) -> str:
    """The path of a folder, without a slash at its end, or all folders of the agent's."""
    if name == _ALL:
        folders = (
            [home.path] if home.path else [each.path for each in FOLDERS if each.path.find("/") == len(each.path) - 1]
        )
        return text("skill_folder.comma", language).join(f"`{each}`" for each in folders)
    return home.at(_OWN[name]).rstrip("/") if name in _OWN else text(f"skill_folder.{name}", language)
