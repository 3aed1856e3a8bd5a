"""Counts alone find what was planted in made-up fortnights, and in those without anything name no word that is none."""

import re
from datetime import timedelta

import pytest

from agent.growth.patterns.detectors import tool_failures
from agent.growth.patterns.likeness import subject_words, topics
from agent.growth.patterns.look import detect
from agent.growth.patterns.pattern import Activity, OpenBox, Pattern, Remark
from agent.texts import Language
from tests.growth.lives import NOW, THINGS, PlantedThing, random_life

LANGUAGES: tuple[Language, ...] = ("en", "zh")
LEAST, LIVES = 0.8, 6
_LABEL = re.compile(r"“([^”]*)”")


def says(found: Pattern, planted: PlantedThing) -> bool:
    """True if a pattern is the planted one: of its kind, about its thing or a word of that."""
    said = f"{found.name} {found.subject}".casefold()
    words = planted.thing.split() if planted.thing.isascii() else (planted.thing, planted.thing[:2], planted.thing[-2:])
    return found.kind == planted.kind and any(word in said for word in words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_planted_is_found(language: Language) -> None:
    missed = []
    for seed in range(LIVES):
        life = random_life(language, seed, planted=True)
        found = (*detect(life.activity, language), *tool_failures(life.calls, NOW, language))
        missed += [(seed, each) for each in life.planted if not any(says(one, each) for one in found)]
    total = LIVES * len(random_life(language, 0, planted=True).planted)
    assert total == 30 and (total - len(missed)) / total >= LEAST, missed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lives", [40, pytest.param(200, marks=pytest.mark.chaos)])
def test_no_fortnight_has_a_topic_that_is_no_word(language: Language, lives: int) -> None:
    nonsense = []
    for seed in range(lives):
        for each in detect(random_life(language, 1_000 + seed, planted=False).activity, language):
            label = (_LABEL.search(each.name) or [""])[1] if each.kind in ("rising_topic", "daily_rhythm") else ""
            known = any(label in thing for thing in THINGS[language])
            nonsense += [] if known else [each.name]
            assert each.kind != "abandoned_task", "its day is to come"
    assert nonsense == []


@pytest.mark.parametrize(
    ("text", "word"), [("帮我写一份项目交接单", "一份"), ("请整理一下花园", "一下"), ("写一份总结", "总结")]
)
def test_what_is_said_around_a_subject_is_none(text: str, word: str) -> None:
    assert word not in subject_words(text)


def test_links_count_for_nothing() -> None:
    said = tuple(
        Remark("written", NOW - timedelta(days=day), f"See [[sessions/2026/12/Umbrella {day}]] and more", f"[[n{day}]]")
        for day in range(6)
    )
    assert not any("umbrella" in each.label.casefold() for each in topics(said, 3))


@pytest.mark.parametrize(
    ("text", "days", "is_abandoned"),
    [
        ("1 月 8 日抢票", 12, False),
        ("Buy tickets on 8 January", 12, False),
        ("Buy tickets 📅 2027-01-08", 12, False),
        ("Renew the passport on 3 March 2028", 12, False),
        ("Pay the bill of 8 January 2024", 12, True),
        ("2024 年 1 月 8 日的账单", 12, True),
        ("12 月 1 日抢票", 25, True),
        ("Buy tickets", 12, True),
    ],
)
def test_a_task_for_a_day_to_come_is_not_abandoned(text: str, days: int, is_abandoned: bool) -> None:
    box = OpenBox(text, "[[plan]]", NOW - timedelta(days=days))
    assert bool(detect(Activity(NOW, boxes=(box,)), "zh")) is is_abandoned
