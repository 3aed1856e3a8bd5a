"""What happened on a day is remembered as told of that day: no lasting fact, and another thing on each day."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.memory.capture.dedupe import Resolution, judge
from agent.memory.entry import EntryType
from agent.memory.remember import remember
from agent.memory.store import StoredEntry
from agent.memory.understanding.seam import FactKind
from agent.memory.understanding.statements import is_request, is_statement, kind_of
from agent.runs.upkeep_jobs import Upkeeper
from tests.memory.days import days
from tests.stories.agents import document, furnish, tell

SAID = "Today I found rot in the shed."


@pytest.mark.parametrize(
    "told",
    [
        SAID,
        "今天小舟发烧了",
        "Yesterday the plumber came and fixed the boiler.",
        "My son is ill today",
        "昨天去看了牙医，花了三百块",
        "Rain all day today",
        "Don't feel well today, my throat hurts",
        "Don't ask me how but I sold the car today",
        "不用给我推荐菜谱了因为我今天学会了做饭",
        "They don't give out keys today, the office is closed",
        "今天没人给我打电话，饭店关门了",
    ],
)
def test_what_happened_on_a_day_is_told(told: str) -> None:
    assert is_statement(told) and kind_of(told) is FactKind.EVENT


@pytest.mark.parametrize(
    "told",
    [
        "I'm allergic to nuts, I found out today",
        "My sister Kate moved to Bath yesterday",
        "the gate code has changed, it's 4471 from today",
        "从今天起大门密码是4471",
        "以后简报不要超过五行，先写今天的固定时间",
        "From now on begin a briefing with what is on today",
    ],
)
def test_what_holds_from_a_day_on_is_more_than_that_day(told: str) -> None:
    assert is_statement(told) and kind_of(told) is not FactKind.EVENT


@pytest.mark.parametrize(
    "said",
    [
        "I'm so tired today",
        "今天好累啊",
        "Let's stop here for today",
        "今天帮我写一封信",
        "Don't bother with a recipe today",
        "Please don't remind me of the gym this evening.",
        "今天别给我推荐菜谱",
        "不用给我推荐今晚的菜谱",
    ],
)
def test_what_is_of_the_moment_or_wanted_on_that_day_is_not_told(said: str) -> None:
    assert not is_statement(said)


def test_a_wish_may_begin_with_its_day() -> None:
    assert is_request("今天帮我写一封信") and is_request("Tonight, book a table") and not is_request(SAID)


@pytest.mark.parametrize("kind", [EntryType.FACT, EntryType.USER_EXPLICIT])
def test_the_same_on_another_day_is_something_else(tmp_path: Path, kind: EntryType) -> None:
    """Else a second fever would only count the first one again, and be found on its day."""
    home = days(tmp_path)
    fever = home.entry("今天小舟发烧了", kind)
    known = [StoredEntry(fever.path, fever.note(), fever)]
    again = replace(home.entry("今天小舟发烧了", kind), id="B")
    assert judge(again, known).resolution is Resolution.AGAIN
    home.pass_days(3)
    assert judge(home.entry("今天小舟发烧了", kind), known).resolution is Resolution.NEW


def test_upkeep_and_remember_leave_both_days(tmp_path: Path) -> None:
    home = days(tmp_path)
    for _ in range(4):
        assert remember(home.vault, SAID)[2] is False
        assert remember(home.vault, SAID)[2] is True
        home.pass_days(1)
    home.tend()
    assert len(home.paths("entries/")) == 4
    assert home.memory.count("Today I found rot") == 1, "what is said again on other days stands once"


def test_it_is_found_later_and_makes_no_part_of_the_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    (root / "profile").mkdir(exist_ok=True)
    (root / "profile/00-basic-info.md").write_text("# Basic information\n\n- **Home**: [to be filled]\n", "utf-8")
    assert f"> {SAID}" in document(root, {}, "ask", SAID)["answer"]
    tell(root, {}, "remember", "I moved to Lyon yesterday")
    assert f"> {SAID}\n>\n> From [[" in document(root, {}, "ask", "When did I find rot?")["answer"]
    Upkeeper(open_workspace(root)).run_when_due()
    noted = "".join(path.read_text("utf-8") for path in (root / "profile").glob("*.md"))
    assert "rot" not in noted and "**Home**: Lyon ([[" in noted
