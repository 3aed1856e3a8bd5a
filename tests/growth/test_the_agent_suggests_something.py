"""What the agent suggests after a run: at most one thing, what its person works towards, and not twice."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from agent.background.insights import STILL, Insights
from agent.background.pool import Pool
from agent.clock import SystemClock
from agent.events.growth import InitiativeTaken, PatternDetected
from agent.events.notices import NoticeRaised
from agent.events.runs import Speaker, TaskCompleted
from agent.events.types import Tick
from agent.growth.initiative.aims import Aims, Drive, load_aims, parse_aims
from agent.growth.initiative.evaluate import FOR_THE_DIGEST, Initiative, evaluate
from agent.growth.patterns.pattern import Pattern
from agent.texts import Language
from tests.growth.fortnight import NOW, fortnight
from tests.growth.work import Office, office
from tests.vaults import write

ENGLISH = """---
type: profile
---
# Goals and aspirations

## Current focus

%% One goal on each line, such as: - Finish the thesis %%

- Publish the field guide of mosses
- **Now**: Swim across the fjord
- **This year**: [to be filled]

## Core drives

- Learning (4)
- Order: 2
- **Strongest drive**: Music (5)
- Rest

## Initiative sources

- [to be filled]

## Aspirations

- **Dream**: A house by the sea
"""
CHINESE = """# 目标与愿望

## 当前重点

- 开一家小工作室
- **今年**：[待填充]

## 核心驱动力

- 学习（5）
- 秩序 2/5

## 主动性来源

- 目标
"""
NONE = Aims()
PASSPORT = Pattern(
    "repeated_question",
    "passport",
    "Asked 3 times: “Where is my passport?”.",
    0.85,
    3,
    date(2026, 11, 21),
    ("[[2026-11-21]]",),
    "Shall I keep the answer?",
    ("Where is my passport?",),
)
BOILER = replace(PASSPORT, kind="abandoned_task", subject="boiler", confidence=0.95, words=("Book the boiler check",))


def test_the_aims_are_read_as_people_write_them() -> None:
    found = parse_aims(ENGLISH.encode())
    assert found.focus == ("Publish the field guide of mosses", "Swim across the fjord")
    assert found.drives == (Drive("Learning", 4), Drive("Order", 2), Drive("Music", 5), Drive("Rest", 3))
    assert found.sources == ()
    chinese = parse_aims(CHINESE.encode())
    assert chinese == Aims(("开一家小工作室",), (Drive("学习", 5), Drive("秩序", 2)), ("目标",))
    assert parse_aims(b"") == Aims()


def test_goals_in_notes_of_their_own_are_in_focus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {
        "Goals/Run the marathon.md": "---\ntype: goal\n---\n# Run the marathon\n",
        "Goals/old.md": "---\ntype: goal\nstatus: done\n---\n# Learn to sew\n",
    }
    made = office(tmp_path, monkeypatch, {**notes, "profile/22-goals-aspirations.md": CHINESE})
    assert load_aims(made.workspace.vault).focus == ("开一家小工作室", "Run the marathon")


def suggested(task: str, *patterns: Pattern, aims: Aims = NONE, quiet: tuple[str, ...] = ()) -> Initiative | None:
    return evaluate(task, aims, patterns, lambda subject: subject in quiet, "en", None)


def test_a_goal_is_for_the_digest() -> None:
    found = suggested("Write two pages of the field guide of mosses", aims=parse_aims(ENGLISH.encode()))
    assert found is not None and found.type == "goal_alignment" and found.confidence == 0.8
    assert found.drive_ref == "Publish the field guide of mosses"
    assert found.notice.priority == FOR_THE_DIGEST < 0.6 and found.notice.type == "initiative"
    assert suggested("Bake a cake", aims=parse_aims(ENGLISH.encode())) is None


def test_only_a_strong_drive_is_spoken_of() -> None:
    aims = parse_aims(ENGLISH.encode())
    found = suggested("Find some music for Sunday", aims=aims)
    assert found is not None and (found.type, found.drive_ref) == ("drive_nudge", "Music")
    assert "5/5" in found.message
    assert suggested("Bring order into the cellar", aims=aims) is None, "its intensity is 2"


def test_the_pattern_that_the_task_belongs_to_comes_first_and_only_one() -> None:
    found = suggested("Is my passport still valid?", BOILER, PASSPORT)
    assert found is not None and found.subject == f"repeated_question:{PASSPORT.id}"
    assert (found.notice.type, found.notice.priority) == ("pattern", 0.85)
    other = suggested("Bake a cake", BOILER, PASSPORT)
    assert other is not None and other.subject == f"abandoned_task:{BOILER.id}"
    assert suggested("Bake a cake", replace(BOILER, confidence=0.59)) is None
    assert suggested("Bake a cake", BOILER, quiet=(other.subject,)) is None


def test_the_person_says_what_suggestions_may_be_about() -> None:
    assert suggested("Bake a cake", BOILER, aims=Aims(sources=("my goals",))) is None
    assert suggested("Bake a cake", BOILER, aims=Aims(sources=("habits and goals",))) is not None
    assert suggested("Bake a cake", BOILER, aims=Aims(sources=("nothing",))) is None
    assert suggested("Bake a cake", BOILER, aims=Aims(sources=("the weather",))) is not None


def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Language = "en") -> tuple[Office, str]:
    """A vault after the fortnight, and the path of its last conversation."""
    life = fortnight(language)
    made = office(tmp_path, monkeypatch, life.notes, language=language)
    life.apply_edits(made.root)
    assert made.clock.now() == NOW
    return made, max(path for path in life.notes if path.startswith("sessions/"))


def ended(made: Office, session: str, job: str = "") -> TaskCompleted:
    run = made.text(session).split('"run": "')[1].split('"')[0]
    return TaskCompleted(run, session, "Shelves", Speaker("cli"), "finished", "…", (), 1.0, 1, job=job)


def insights(made: Office, told: list[object], refused: frozenset[str] = frozenset()) -> Insights:
    return Insights(made.workspace, Pool(SystemClock()), lambda: True, told.append, lambda: None, lambda: refused)


def test_one_look_a_day_and_one_suggestion_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, session = lived(tmp_path, monkeypatch)
    told: list[object] = []
    watch = insights(made, told)
    before = made.commit_count()
    first = watch.attend(ended(made, session))
    assert first is not None and made.commit_count() == before + 1
    assert "greenhouse" in made.text("profile/51-patterns-insights.md")
    kinds = {each.kind for each in told if isinstance(each, PatternDetected)}
    assert len(kinds) >= 5
    assert len([each for each in told if isinstance(each, NoticeRaised)]) == 1
    assert [each.drive_ref for each in told if isinstance(each, InitiativeTaken)] == [first.drive_ref]
    made.clock.advance(600)
    second = watch.attend(ended(made, session))
    assert second is not None and second.subject != first.subject, "what was said is not said again"
    kinds_told = [each.drive_ref.partition(":")[0] for each in (first, second)]
    assert len(set(kinds_told)) == 2, "one of a kind a day"
    assert made.commit_count() == before + 1, "one look a day"
    assert made.actors()[0] == "job:growth/patterns"
    kept = (made.workspace.vault.private_folder / "insights.json").read_text("utf-8")
    assert "greenhouse" not in kept and "passport" not in kept, "no word of the vault is kept outside it"
    refused = insights(made, told, frozenset(f"{each}" for each in (second.subject,)))
    third = refused.attend(ended(made, session))
    assert third is None or third.subject not in (first.subject, second.subject)


def test_nothing_is_suggested_while_the_person_talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, session = lived(tmp_path, monkeypatch)
    told: list[object] = []
    watch = insights(made, told)
    watch.run_ended(ended(made, session, job="morning-briefing"))
    made.clock.advance(2 * STILL)
    watch.tick(Tick(made.clock.monotonic()))
    assert not watch.pool.has("insights"), "a job is not the person"
    watch.run_ended(ended(made, session))
    watch.tick(Tick(made.clock.monotonic() + STILL - 1))
    assert not told and not watch.pool.has("insights")
    watch.tick(Tick(made.clock.monotonic() + STILL))
    watch.pool.close()
    assert any(isinstance(each, NoticeRaised) for each in told)


@pytest.mark.parametrize("damage", ["", "{", '{"looked": 3}', '{"looked": "", "suggested": [3]}'])
def test_a_damaged_file_costs_nothing_but_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    made, session = lived(tmp_path, monkeypatch)
    write(made.workspace.vault.private_folder / "insights.json", damage)
    assert insights(made, []).attend(ended(made, session)) is not None
