"""The skills of the program are in the language of the vault, and name the folders that it has."""

import re
from pathlib import Path

import pytest

from agent.config.resources import resource
from agent.context.budget import estimate
from agent.skills.loading.files import ReviewPins, skill_locations
from agent.skills.loading.library import SkillLibrary, SkillSnapshot
from agent.skills.matching.matcher import MatchState, MatchTask, match
from agent.skills.matching.skill_text import compose_text, skill_index
from agent.texts import Language
from agent.vault.folders import AT_ROOT, AgentFolder
from tests.stories.agents import document, settings
from tests.vaults import make_vault

PACKAGE = Path(str(resource("skills")))
NOWHERE = Path("/nonexistent")
NAMES = sorted(each.name for each in PACKAGE.iterdir() if each.is_dir())
_TOOLS = re.compile(r"`([a-z]+_[a-z]+)`")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def shelf(language: Language, home: AgentFolder = AT_ROOT) -> SkillSnapshot:
    pins = ReviewPins(NOWHERE)
    return SkillLibrary(skill_locations(NOWHERE, PACKAGE, home), pins, home=home, language=language).snapshot()


@pytest.mark.parametrize("name", NAMES)
def test_the_translation_has_the_same_steps_and_tools(name: str) -> None:
    one, other = shelf("en").named[name], shelf("zh").named[name]
    assert set(_TOOLS.findall(one.body)) == set(_TOOLS.findall(other.body))
    assert [row.count("#") for row in one.body.splitlines() if row.startswith("#")] == [
        row.count("#") for row in other.body.splitlines() if row.startswith("#")
    ]
    assert len(re.findall(r"^\d\. ", one.body, re.MULTILINE)) == len(re.findall(r"^\d\. ", other.body, re.MULTILINE))
    assert _HAN.search(other.summary) and not _HAN.search(one.summary)
    assert one.triggers == other.triggers and one.files == other.files == ()
    assert "{{" not in one.body + other.body


def test_a_chinese_vault_is_offered_them_in_chinese() -> None:
    here = shelf("zh")
    index = skill_index(here.skills, (), 2_000, estimate).text
    assert "`meeting-notes`: 把会议的草记" in index
    (found,) = match(MatchTask("把下面的内容整理成会议记录"), here, MatchState(), estimate).offered
    shown = compose_text(found.skill, here.get, 4_000, estimate).text
    assert "`会议/<日期>-<题目>.md`" in shown and "meetings/" not in shown


def test_the_agents_folders_are_those_of_the_vault() -> None:
    under = shelf("en", AgentFolder("Agent/")).named
    assert (
        "`Agent/daily/<date>.md`" in under["daily-planning"].body
        and "[[Agent/tasks/…]]" in under["daily-planning"].body
    )
    assert "a record: `Agent/`," in under["vault-gardening"].body
    at_root = shelf("en").named["vault-gardening"].body
    assert all(f"`{each}/`" in at_root for each in ("entries", "sessions", "archive", "inbox", "research"))


def test_they_are_listed_in_the_language_of_the_vault(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"vault-agent.yaml": "vault:\n  language: zh\n"}).place.root
    listed = document(root, settings(tmp_path), "skills", "list")
    assert all(_HAN.search(each["description"]) for each in listed["skills"] if each["name"] in NAMES)
