"""The note of a day is the person's own where Obsidian's settings name one: no second note of that day is made."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.memory import daily
from agent.texts import LANGUAGES, Language
from agent.vault.day_notes import DayNotes, load_day_notes, parsed_day, written
from agent.vault.folders import AT_ROOT, DAILY, OWN_NOTES, AgentFolder
from agent.vault.layout import settle_home
from agent.vault.options import Options
from tests.vaults import make_vault, write

FORMS = (
    "YYYY-MM-DD",
    "YYYY/MM-MMMM/YYYY-MM-DD",
    "DD.MM.YYYY",
    "[Day] dddd, MMMM Do YYYY",
    "YYYYMMDD",
    "YY-M-D",
    "gggg/[W]WW/YYYY-MM-DD ddd",
    "MMM D, YYYY",
)
DAY = date(2026, 11, 29)


def days_of(root: Path, language: Language = "en") -> DayNotes | None:
    return load_day_notes(root, language, AT_ROOT.is_of_the_person)


def settings(root: Path, name: str, said: object) -> None:
    write(root / ".obsidian" / name, json.dumps(said))


@given(some.dates(date(2000, 1, 1), date(2099, 12, 31)), some.sampled_from(FORMS), some.sampled_from(LANGUAGES))
def test_each_form_names_one_day(day: date, form: str, language: Language) -> None:
    assert parsed_day(written(day, form, language), form) == day


@given(some.dates(), some.sampled_from(FORMS))
def test_a_days_note_has_one_name_and_one_path(day: date, form: str) -> None:
    home = AgentFolder("Agent/", DayNotes("Journal/", form))
    if home.days is not None and home.days.day_of(home.days.path_of(day)) == day:
        path = home.day_note(day)
        assert path.startswith("Journal/") and home.name_of(path) == f"daily/{day.isoformat()}.md"
        assert home.day_of(path) == day
        assert home.holds(path, DAILY) and home.row(path).path == DAILY


def test_what_moment_writes_is_written_alike() -> None:
    assert written(DAY, "YYYY/MM-MMMM/YYYY-MM-DD") == "2026/11-November/2026-11-29"
    assert written(DAY, "dddd, MMMM Do YYYY") == "Sunday, November 29th 2026"
    assert written(DAY, "ddd D MMM, [week] W") == "Sun 29 Nov, week 48"
    assert written(DAY, "YYYY年MMMM Do dddd", "zh") == "2026年十一月 29日 星期日"


def test_the_settings_of_obsidian_and_of_periodic_notes_are_read(tmp_path: Path) -> None:
    assert days_of(tmp_path) is None
    settings(tmp_path, "daily-notes.json", {"folder": "Journal", "format": "YYYY/YYYY-MM-DD", "template": "T/day"})
    assert days_of(tmp_path) == DayNotes("Journal/", "YYYY/YYYY-MM-DD", "T/day")
    settings(tmp_path, "plugins/periodic-notes/data.json", {"daily": {"enabled": True, "folder": "日记"}})
    found = days_of(tmp_path, "zh")
    assert found is not None and found.path_of(DAY) == "日记/2026-11-29.md"
    settings(tmp_path, "plugins/periodic-notes/data.json", {"daily": {"enabled": False, "folder": "日记"}})
    settings(tmp_path, "core-plugins.json", {"daily-notes": False})
    assert days_of(tmp_path) is None


@pytest.mark.parametrize(
    "said",
    [
        {"format": "YYYY-[W]WW"},
        {"folder": "../elsewhere"},
        {"folder": ".obsidian/plugins"},
        {"folder": "approvals"},
        {"folder": "templates"},
        {"format": "[AGENT]"},
        {"format": "[../]YYYY-MM-DD"},
        {"format": "YYYY-MM-DD[.local]"},
        {"folder": 7, "format": ["YYYY"]},
        ["folder"],
    ],
)
def test_settings_that_name_no_day_or_a_note_of_the_agents_hold_nothing(tmp_path: Path, said: object) -> None:
    settings(tmp_path, "daily-notes.json", said)
    found = days_of(tmp_path)
    assert found is None or AT_ROOT.row(found.path_of(DAY)) is OWN_NOTES
    assert found is None or found.path_of(DAY) == "2026-11-29.md"


def test_a_file_that_cannot_be_read_holds_nothing(tmp_path: Path) -> None:
    write(tmp_path / ".obsidian/daily-notes.json", '{"folder": "Jour')
    assert days_of(tmp_path) is None


@pytest.mark.parametrize(
    ("community", "core", "folder"),
    [
        (["periodic-notes"], {"daily-notes": True}, "Periodic/"),
        (["calendar"], {"daily-notes": True}, "Core/"),
        (["calendar"], ["daily-notes"], "Core/"),
        (["calendar"], ["graph"], None),
        (["periodic-notes"], ["graph"], "Periodic/"),
        (None, None, "Periodic/"),
    ],
)
def test_what_a_plugin_that_is_off_has_set_does_not_hold(
    tmp_path: Path, community: object, core: object, folder: str | None
) -> None:
    settings(tmp_path, "daily-notes.json", {"folder": "Core"})
    settings(tmp_path, "plugins/periodic-notes/data.json", {"daily": {"enabled": True, "folder": "Periodic"}})
    for name, said in (("community-plugins.json", community), ("core-plugins.json", core)):
        if said is not None:
            settings(tmp_path, name, said)
    found = days_of(tmp_path)
    assert (found.folder if found else None) == folder


def test_the_template_is_filled_in_as_obsidian_does() -> None:
    days, now = DayNotes("", "YYYY-MM-DD"), datetime(2026, 11, 29, 8, 5, tzinfo=UTC)
    assert days.filled("# {{title}}\n{{date:dddd}}, {{ Time }} {{other}}\n", now, DAY) == (
        "# 2026-11-29\nSunday, 08:05 {{other}}\n"
    )
    assert days.filled("<% tp.date.now() %>", now, DAY) is None


def test_a_new_day_begins_with_the_persons_template(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"T/day.md": "# {{title}}\n\n## Plans\n"})
    root = vault.place.root
    settings(root, "daily-notes.json", {"folder": "Journal", "template": "T/day"})
    home = settle_home(vault.layout, root, Options())
    assert home.day_note(DAY) == "Journal/2026-11-29.md"
    assert daily.link_to(DAY, home) == "[[2026-11-29]]"
    theirs = replace(vault, options=replace(vault.options, home=home))
    assert daily.beginning(theirs, DAY) == b"# 2026-11-29\n\n## Plans\n"
    assert daily.beginning(vault, DAY).startswith(b"---\ntype: daily\n")


def test_other_notes_of_that_folder_stay_the_persons(tmp_path: Path) -> None:
    home = AgentFolder("", DayNotes("Journal/", "YYYY-MM-DD"))
    for path in ("Journal/ideas.md", "Journal/2026-02-30.md", "Journal/2026-11-29 walk.md", "2026-11-29.md"):
        assert home.row(path) is OWN_NOTES
    assert home.row("daily/2026-11-20.md").path == DAILY
    week = f"{DAILY}2026-W48.md"
    assert home.at(week) == week
