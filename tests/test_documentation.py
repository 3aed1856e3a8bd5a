"""The documentation says what is true: its commands can be typed, its tables have what the code has, and both languages
say the same. `test_readme` has the rest of the README."""

import re
import shutil
from operator import attrgetter
from pathlib import Path

import pytest

from agent.config import calendars, servers
from agent.config.load import load_settings
from agent.deeds.documentation import ORDER, find_topic, search_topics, topics
from agent.interfaces.cli.commands import COMMANDS, HEADINGS
from agent.interfaces.cli.main import main
from agent.schedule import job_header
from agent.skills.reading.skill_file import _KEYS, parse_skill
from agent.texts import LANGUAGES, Language, translated
from tests.site import make_site
from tests.test_readme import ROOT, runs_in_an_empty_folder, shape, table, typed

DOCS = ROOT / "agent/docs"
NOT_SETTINGS = {"type", "version_history", "version", "tags", "status", "created", "updated", "author"}
"""Usual keys of notes and of other programs that stand beside a skill's settings."""


def page(language: Language, name: str) -> str:
    return (DOCS / language / f"{name}.md").read_text("utf-8")


def rows(language: Language, name: str, mark: str) -> list[str]:
    """The names in the first column of a table."""
    return [each for row in table(mark, page(language, name)) for each in re.findall(r"`([^`]+)`", row[0])]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_listed_and_there(language: Language) -> None:
    assert sorted(ORDER) == sorted(path.stem for path in (DOCS / language).glob("*.md"))
    assert all(each.title and each.text for each in topics(language))
    assert find_topic("JOBS", language).name == "jobs"


COMMANDS_IN_PAGES = sorted({tuple(words) for name in ORDER for words in typed(page("en", name))})


@pytest.mark.parametrize("words", COMMANDS_IN_PAGES, ids=" ".join)
def test_every_command_can_be_typed(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs_in_an_empty_folder(words, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_commands_are_those_of_the_help(language: Language) -> None:
    usual = [(name, lazy) for name, lazy in COMMANDS.items() if lazy.group]
    assert table("commands", page(language, "commands")) == [
        [f"`{name}`", translated(HEADINGS[lazy.group], language), translated(lazy.help, language)]
        for name, lazy in usual
        if lazy.group
    ]
    old = [[f"`{name}`", f"`{lazy.now}`"] for name, lazy in COMMANDS.items() if lazy.now]
    assert table("old names", page(language, "commands")) == old


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_setting_of_a_job_has_a_row(language: Language) -> None:
    known = re.findall(r'fields\.take\("(\w+)"', Path(job_header.__file__).read_text("utf-8"))
    assert sorted(rows(language, "jobs", "settings of jobs")) == sorted(known)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "fields"), [("servers", servers.FIELDS), ("calendars", calendars.FIELDS)])
def test_every_setting_of_a_server_and_a_calendar_has_a_row(
    language: Language, name: str, fields: tuple[str, ...]
) -> None:
    shown = [row[0].strip("`") for row in table(f"settings of {name}", page(language, name))]
    assert sorted(shown) == sorted(filter(None, fields))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_setting_of_a_skill_has_a_row(language: Language) -> None:
    assert sorted(rows(language, "skills", "settings of skills")) == sorted(_KEYS - NOT_SETTINGS)
    inner = re.findall(r"_KNOWN = \((.*?)\)", Path(parse_skill.__wrapped__.__code__.co_filename).read_text("utf-8"))
    names = {each for line in inner for each in re.findall(r'"(\w+)"', line)}
    assert names and all(f"`{each}`" in page(language, "skills") for each in names)


@pytest.mark.parametrize("name", ORDER)
def test_both_languages_are_in_step(name: str) -> None:
    """The same headings, commands (in other words where they are a person's), tables, and numbers of points."""
    english, chinese = page("en", name), page("zh", name)
    for form in (r"^#+ ", r"^- ", r"^\|", "^```"):
        assert len(re.findall(form, english, re.MULTILINE)) == len(re.findall(form, chinese, re.MULTILINE)), form
    assert [shape(words) for words in typed(english)] == [shape(words) for words in typed(chinese)]


@pytest.mark.parametrize("name", ORDER)
def test_a_page_named_in_a_page_is_there(name: str) -> None:
    for language in LANGUAGES:
        text = page(language, name)
        assert set(re.findall(r"vault-agent help ([a-z]+)", text)) <= set(ORDER)
        assert re.findall(r"/work/|/root/|localhost", text) == []


def test_the_limits_of_runs_are_the_defaults() -> None:
    settings = load_settings(None, environ={"VAULT_AGENT_HOME": "/nowhere"}).settings
    for language in LANGUAGES:
        stated = {
            name.strip("`"): float(value) for name, _, value in table("limits of runs", page(language, "settings"))
        }
        assert stated == {key: attrgetter(key)(settings) for key in stated}


def test_words_are_found_in_all_pages() -> None:
    found = search_topics("quiet hours", "en")
    assert {each.topic.name for each in found} >= {"notices", "jobs"}
    assert search_topics("known limits", "en")[0].topic.name == "limits"
    assert search_topics(" ", "en") == () == search_topics("zzzzzz", "en")


@pytest.mark.skipif(shutil.which("zensical") is None, reason="the program that makes the site is not installed")
def test_the_site_has_all_pages(tmp_path: Path) -> None:
    make_site(tmp_path / "site")
    made = {path.parent.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("index.html")}
    assert made >= {f"{language}/{name}" for language in LANGUAGES for name in ORDER}


def test_help_shows_a_page_and_the_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "jobs"]) == 0
    assert capsys.readouterr().out.startswith("# Have it do things by itself\n")
    assert main(["help", "log"]) == 0
    assert "Usage: vault-agent log" in capsys.readouterr().out
    assert main(["help", "nothing"]) == 2
    assert "the pages are: start" in capsys.readouterr().err
    assert main(["help", "jbos"]) == 2
    assert "did you mean jobs?" in capsys.readouterr().err
    assert main(["help", "--search", "quiet hours"]) == 0
    assert "notices: " in capsys.readouterr().out
