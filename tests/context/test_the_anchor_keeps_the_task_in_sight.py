"""The anchor: what the model is reminded of, within its room, however long the task and the trail of errors."""

from hypothesis import given
from hypothesis import strategies as st

from agent.context.anchor import Anchor, Failure
from tests.context.talk import by_fours


def test_it_says_the_task_how_far_it_is_and_what_to_mind() -> None:
    anchor = Anchor(
        "Tidy the tea notes", ("read tea.md", "moved cup.md"), "step 3", ("steps: 2",), ("ask for small parts",)
    )
    assert anchor.reminder(500, by_fours) == (
        "## Current task\nTidy the tea notes\n\n## Progress\nDone: read tea.md, moved cup.md\nNow: step 3\n"
        "Left: steps: 2\n\n## To mind\n- ask for small parts"
    )


def test_it_says_nothing_of_steps_before_there_are_any() -> None:
    assert (
        Anchor("Tidy", current="step 1").reminder(500, by_fours) == "## Current task\nTidy\n\n## Progress\nNow: step 1"
    )


def test_it_speaks_chinese_in_a_chinese_vault() -> None:
    anchor = Anchor(
        "整理茶的笔记", ("读了 tea.md",), "第 2 步", errors=(Failure("vault_edit", "没有这一行"),), language="zh"
    )
    assert anchor.reminder(500, by_fours) == (
        "## 当前任务\n整理茶的笔记\n\n## 进度\n已完成：读了 tea.md\n当前步骤：第 2 步"
    )
    assert anchor.trail(500, by_fours).splitlines()[1] == "- vault_edit 失败：没有这一行"


def test_failures_stay_in_sight_each_once_the_newest_last() -> None:
    failures = (Failure("a", "no\nsuch note"), Failure("b", "late"), Failure("a", "no\nsuch note"))
    lines = Anchor("t", errors=failures).trail(500, by_fours).splitlines()
    assert lines[1:] == ["- b failed: late", "- a failed: no such note (2 times)"]
    assert Anchor("t").trail(500, by_fours) == ""


def test_the_oldest_failures_give_way() -> None:
    failures = tuple(Failure("vault_edit", f"reason {number} " + "x" * 60) for number in range(20))
    trail = Anchor("t", errors=failures).trail(120, by_fours)
    assert by_fours(trail) <= 120
    assert "reason 19" in trail
    assert "reason 1 " not in trail


def test_a_long_list_of_steps_is_counted_where_it_is_not_named() -> None:
    reminder = Anchor("t", tuple(f"step {number}" for number in range(40))).reminder(300, by_fours)
    assert "Done: 28 before these, step 28, step 29" in reminder


@given(st.text(max_size=5_000), st.integers(60, 600))
def test_a_long_task_is_shortened_to_its_room(task: str, room: int) -> None:
    anchor = Anchor(task, ("search_vault",), "step 2")
    reminder = anchor.reminder(room, by_fours)
    assert by_fours(reminder) <= room + 30  # the headings
    if by_fours(task.strip()) <= room // 2:
        assert task.strip() in reminder
