"""What a person states becomes the value of a field, or a quotation in the note in which it belongs."""

from pathlib import Path

import pytest

from agent.memory.profile.load import load_profile, template_notes
from agent.memory.profile.profile_file import parse_profile
from agent.memory.profile.statements import changes_of_entries, field_stated
from agent.memory.store import load_entries
from agent.texts import Language
from tests.memory.profile.people import home, statement
from tests.vaults import write

PLANTED: dict[Language, dict[str, tuple[str, str]]] = {
    "en": {
        "My name is Ida Berg.": ("00-basic-info.md", "- **Name**: Ida Berg ("),
        "I live in Oslo.": ("00-basic-info.md", "- **Home**: Oslo ("),
        "My birthday is on 3 May 1990.": ("00-basic-info.md", "- **Birthday**: 3 May 1990 ("),
        "I work as a nurse.": ("00-basic-info.md", "- **Work**: nurse ("),
        "I work at Ullevål Hospital.": ("41-projects-work.md", "- **Employer**: Ullevål Hospital ("),
        "I'm learning Portuguese.": ("20-skills-abilities.md", "- **Learning**: Portuguese ("),
        "My favorite color is green.": ("31-preferences.md", "- **Favourite colour**: green ("),
        "I always get up at half past five.": ("30-daily-patterns.md", "- **Gets up at**: half past five ("),
        "I am allergic to nuts.": ("32-health-wellness.md", "- **Allergies**: nuts ("),
        "I speak Norwegian.": ("00-basic-info.md", "- **Languages**: Norwegian ("),
    },
    "zh": {
        "我叫安娜。": ("00-basic-info.md", "- **姓名**: 安娜 ("),
        "我住在奥斯陆。": ("00-basic-info.md", "- **住处**: 奥斯陆 ("),
        "我的生日是5月3日。": ("00-basic-info.md", "- **生日**: 5月3日 ("),
        "我会说挪威语。": ("00-basic-info.md", "- **会说的语言**: 挪威语 ("),
        "我对花生过敏。": ("32-health-wellness.md", "- **过敏**: 花生 ("),
    },
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_planted_facts_are_there_with_evidence_and_nothing_else(tmp_path: Path, language: Language) -> None:
    house = home(tmp_path, language=language)
    entries = [statement(text, back=40 - at) for at, text in enumerate(PLANTED[language])]
    for each in entries:
        write(house.vault.place.root / each.path, each.note())
    house.vault.commit_human()
    stored = load_entries(house.vault, [each.path for each in entries])
    house.propose(*changes_of_entries(stored, load_profile(house.vault)))
    missing = [text for text, (note, row) in PLANTED[language].items() if row not in house.text(note)]
    assert missing == []
    assert sum(each.filled for each in load_profile(house.vault)) == len(entries)
    for file in load_profile(house.vault):
        assert len(file.evidence) == file.filled and (file.confidence > 0.6) == bool(file.filled)
    again = house.propose(*changes_of_entries(stored, load_profile(house.vault)))
    assert again.requests == (), "nothing is written twice"


@pytest.mark.parametrize(
    ("language", "text", "rows"),
    [
        ("en", "My name is Ida Berg and I live in Oslo.", ("- **Name**: Ida Berg (", "- **Home**: Oslo (")),
        ("en", "My name is Ida Berg and I can swim.", ("- **Name**: Ida Berg (",)),
        ("en", "My name is Ida Berg and the spare key is with Ana.", ("- **Name**: Ida Berg (",)),
        ("en", "I work as a keeper of the park and the zoo.", ("- **Work**: keeper of the park and the zoo (",)),
        ("en", "My name is not important, and I live in Oslo.", ("- **Home**: Oslo (",)),
        ("zh", "我叫安娜，我住在奥斯陆。", ("- **姓名**: 安娜 (", "- **住处**: 奥斯陆 (")),
    ],
)  # fmt: skip
def test_each_part_of_a_sentence_may_fill_a_field_and_nothing_is_guessed(
    tmp_path: Path, language: Language, text: str, rows: tuple[str, ...]
) -> None:
    house = home(tmp_path, language=language)
    entry = statement(text)
    write(house.vault.place.root / entry.path, entry.note())
    house.vault.commit_human()
    house.propose(*changes_of_entries(load_entries(house.vault, [entry.path]), load_profile(house.vault)))
    noted = "".join(house.text(each.name) for each in load_profile(house.vault))
    assert [row for row in rows if row not in noted] == []
    assert "**: not" not in noted and "“" not in noted


@pytest.mark.parametrize(
    "text",
    [
        "My name is not important here, and I live nowhere.",
        "I live in Oslo and I work in Bergen.",
        "I'm learning.",
        "My name is " + "x" * 90,
        "My boat is white.",
        "Where do I live in Oslo?",
    ],
)
def test_a_sentence_that_says_more_or_less_is_no_value(text: str) -> None:
    files = tuple(parse_profile(name, name, data) for name, data in template_notes("en").items())
    assert field_stated(text, files) is None


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("I have moved to Bergen.", "Bergen"),
        ("I've just moved back to Oslo.", "Oslo"),
        ("我现在搬到上海了。", "上海"),
        ("I moved to the sales team.", ""),
        ("I moved to Bergen in 2019.", ""),
    ],
)
def test_where_somebody_has_moved_to_is_their_home(text: str, home: str) -> None:
    language: Language = "en" if text.isascii() else "zh"
    files = tuple(parse_profile(name, name, data) for name, data in template_notes(language).items())
    found = field_stated(text, files)
    assert (found.line if found is not None else "") == home


@pytest.mark.parametrize("text", ["My husband is a railway engineer.", "我丈夫是铁路工程师。"])
def test_what_somebody_does_is_not_their_name(text: str) -> None:
    language: Language = "en" if text.isascii() else "zh"
    files = tuple(parse_profile(name, name, data) for name, data in template_notes(language).items())
    assert field_stated(text, files) is None


def test_a_field_that_a_person_added_is_filled_too() -> None:
    mine = parse_profile("profile/topics/shoes.md", "topics/shoes.md", b"# Shoes\n\n- Shoe size: [to be filled]\n")
    found = field_stated("My shoe size is 43.", (mine,))
    assert found is not None and (found.note, found.field, found.line) == ("topics/shoes.md", "Shoe size", "43")


def test_a_second_language_stands_beside_the_first(tmp_path: Path) -> None:
    house = home(tmp_path)
    for at, text in enumerate(("I speak Norwegian.", "I speak Portuguese.")):
        entry = statement(text, back=9 - at)
        write(house.vault.place.root / entry.path, entry.note())
        house.vault.commit_human()
        house.propose(*changes_of_entries(load_entries(house.vault, [entry.path]), load_profile(house.vault)))
    assert "- **Languages**: Norwegian (" in house.text("00-basic-info.md")
    assert "- **Languages**: Portuguese (" in house.text("00-basic-info.md")


def test_a_newer_home_takes_the_place_of_the_older_one(tmp_path: Path) -> None:
    house = home(tmp_path)
    entries = [statement("I live in Oslo.", back=9), statement("I live in Bergen.", back=2)]
    for each in entries:
        write(house.vault.place.root / each.path, each.note())
    house.vault.commit_human()
    for _ in range(2):
        stored = load_entries(house.vault, [each.path for each in entries])
        house.propose(*changes_of_entries(stored, load_profile(house.vault)))
        assert "- **Home**: Bergen (" in house.text("00-basic-info.md")
