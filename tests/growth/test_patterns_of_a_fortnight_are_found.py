"""What repeats in two weeks of a person's life is found, in both languages, and nothing that only looks like it."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.growth.patterns.detectors import tool_failures
from agent.growth.patterns.gather import gather, gather_calls
from agent.growth.patterns.likeness import vectors_of
from agent.growth.patterns.look import detect
from agent.growth.patterns.pattern import EVIDENCE, Pattern
from agent.index.embedder import choose_embedder
from agent.texts import Language
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.growth.fortnight import NOW, Fortnight, PlantedPattern, fortnight
from tests.vaults import git, make_vault, write

LANGUAGES: tuple[Language, ...] = ("en", "zh")
SURE = 0.7


def lived(tmp_path: Path, made: Fortnight) -> Vault:
    """A vault after the fortnight."""
    vault = make_vault(tmp_path, made.notes, clock=FakeClock(NOW))
    made.apply_edits(vault.place.root)
    return vault


def is_planted(pattern: Pattern, planted: PlantedPattern) -> bool:
    return pattern.kind == planted.kind and any(
        word in pattern.name or word in pattern.subject for word in planted.words
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("by_meaning", [True, False])
def test_every_kind_is_found_and_nothing_else_is_sure(tmp_path: Path, language: Language, by_meaning: bool) -> None:
    made = fortnight(language)
    vault = lived(tmp_path, made)
    assert made.size >= 200 and len(made.facts) >= 30
    vectors = vectors_of(choose_embedder("shipped").embedder) if by_meaning else None
    activity = gather(vault, NOW)
    found = (*detect(activity, language, vectors), *tool_failures(gather_calls(vault, NOW), NOW, language))
    shown = "\n".join(f"{each.confidence} {each.kind}: {each.name} {each.evidence}" for each in found)
    for planted in made.patterns:
        assert any(is_planted(each, planted) for each in found), (planted, shown)
    for each in found:
        assert each.confidence <= SURE or any(is_planted(each, planted) for planted in made.patterns), shown
        assert 1 <= len(each.evidence) <= EVIDENCE
    assert detect(gather(vault, NOW), language, vectors) == detect(activity, language, vectors)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_life_without_patterns_has_none_that_is_sure(tmp_path: Path, language: Language) -> None:
    vault = lived(tmp_path, fortnight(language, planted=False))
    vectors = vectors_of(choose_embedder("shipped").embedder)
    found = detect(gather(vault, NOW), language, vectors)
    assert not [each for each in found if each.confidence > SURE], found


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_fortnight_says_what_is_in_it(language: Language) -> None:
    made = fortnight(language)
    assert made.size >= 200 and len(made.facts) >= 30 and len(made.patterns) >= 5
    for fact in made.facts:
        assert fact.quote in made.notes[fact.path], fact
    assert fortnight(language).notes == made.notes, "the same each time"
    without = "\n".join(fortnight(language, planted=False).notes.values())
    assert not [fact for fact in made.facts if fact.quote in without]


@pytest.mark.parametrize(
    "box", ["helpful · qh70am", "not helpful · qh70am", "有用 · qh70am", "没用 · qh70am", "helpful"]
)
def test_a_box_that_asks_for_an_opinion_is_no_open_task(tmp_path: Path, box: str) -> None:
    notes = {"daily/2026-11-09.md": f"# 2026-11-09\n\n## Notices\n\n- [ ] {box}\n- [ ] Water the roses\n"}
    vault = make_vault(tmp_path, notes, clock=FakeClock(NOW))
    assert [each.text for each in gather(vault, NOW).boxes] == ["Water the roses"]


def test_what_was_there_at_first_says_nothing_of_when_a_box_was_made(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"list.md": "- [ ] Soap\n"}, clock=FakeClock(NOW))
    root = vault.place.root
    write(root / "plan.md", "- [ ] Call the plumber\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "plan", f"--date={(NOW - timedelta(days=9)).isoformat()}")
    assert [each.text for each in gather(vault, NOW).boxes] == ["Call the plumber"]
