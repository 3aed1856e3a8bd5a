"""The skills that come with the program, in a vault: in its language, and with its folders in place of `{{daily}}`.

What is written there says where such notes lie; the folders of the agent's own are those of the vault, and the person's
have a name in the vault's language.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from agent.markdown.note import Note
from agent.skills.reading.skill import Skill
from agent.texts import Language, text
from agent.vault.folders import DAILY, FOLDERS, RESEARCH, TASKS, TASKS_DONE, AgentFolder

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
