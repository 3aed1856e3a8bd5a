"""Aims: read as people write them, in both languages, and from the notes of goals."""

from pathlib import Path

from agent.schedule.aims import Aims, load_aims, parse_aims
from tests.vaults import make_vault

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

## 主动性来源

- 目标
"""


def test_the_aims_are_read_as_people_write_them() -> None:
    focus, drives = (
        ("Publish the field guide of mosses", "Swim across the fjord"),
        ("Learning (4)", "Music (5)", "Rest"),
    )
    assert parse_aims(ENGLISH.encode()) == Aims(focus, drives)
    assert parse_aims(CHINESE.encode()) == Aims(("开一家小工作室",), ("学习（5）",), ("目标",))
    assert parse_aims(b"") == Aims() and not Aims().may_be_spoken_of


def test_goals_in_notes_of_their_own_are_in_focus(tmp_path: Path) -> None:
    notes = {
        "Goals/Run the marathon.md": "---\ntype: goal\n---\n# Run the marathon\n",
        "Goals/old.md": "---\ntype: goal\nstatus: done\n---\n# Learn to sew\n",
        "profile/22-goals-aspirations.md": CHINESE,
    }
    assert load_aims(make_vault(tmp_path, notes)).focus == ("开一家小工作室", "Run the marathon")
