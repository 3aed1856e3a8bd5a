"""A briefing finds what the person's notes say about its day, however they write the day."""

from datetime import date
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.runs.briefing.briefing import briefing_of
from tests.stories.agents import furnish
from tests.vaults import git, write

DAY = date(2026, 12, 8)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


def agenda(root: Path, line: str) -> str:
    write(root / "plans.md", f"{line}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "plans")
    return briefing_of(open_workspace(root), DAY).text


@pytest.mark.parametrize(
    "line",
    [
        "12月8日看牙",
        "12 月 8 日看牙",
        "十二月八日看牙",
        "12/8 看牙",
        "2026年12月8号看牙",
        "The dentist is on 8 December",
        "Dentist, Dec. 8th",
        "2026-12-08 dentist",
        "8.12.2026 dentist",
        "Dentist on 12/8",
    ],
)
def test_a_line_that_names_the_day_is_there(root: Path, line: str) -> None:
    shown = agenda(root, line)
    assert "([[plans]])" in shown and ("entist" in shown or "看牙" in shown), shown


@pytest.mark.parametrize(
    "line",
    [
        "12月18日看牙",
        "2025年12月8日看牙",
        "十二月十八日看牙",
        "12/8 of the budget",
        "version 12.8",
        "December 18",
        "加 12/8 杯糖",
    ],
)
def test_a_line_of_another_day_is_not(root: Path, line: str) -> None:
    assert agenda(root, line) == ""


@pytest.mark.parametrize(
    ("line", "promise"),
    [
        ("Roofer. Birthday: 9 December 1980. I promised him the photos by 11 December.", "I promised him the photos"),
        ("屋顶师傅。生日：12月9日。我答应他 12 月 11 日前把照片发过去。", "我答应他把照片发过去"),
    ],
)
def test_a_line_of_several_sentences_is_told_by_its_sentences(root: Path, line: str, promise: str) -> None:
    shown = agenda(root, line).splitlines()
    assert [each for each in shown if promise in each and "11" in each] != [], shown
    assert [each.partition(": ")[2] or each.partition("：")[2] for each in shown if "9" in each] == [
        "plans ([[plans]])"
    ]
