"""The daily note: a log and a summary of ours, between and after whatever a person writes; old days keep theirs."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events.runs import Speaker, TaskCompleted
from agent.memory import daily
from agent.memory.blame import DAILY, AuthoredLine
from agent.memory.store import DayEntries, entries_on_day
from agent.memory.upkeep.day_summary import day_summary
from agent.texts import text
from agent.vault.change import Append, Stamp
from tests.fakes import FakeClock
from tests.memory.days import Days, days

MINE = "# My day\n\nSlept badly.\n\n## 10:30 - call Anna\n- she is fine\n"


def finished(task: str = "Plan the trip", **changes: object) -> TaskCompleted:
    told: dict[str, object] = {
        "run": "r1",
        "session": "sessions/2026/11/2026-11-21-plan-the-trip-000001.md",
        "task": task,
        "speaker": Speaker("cli"),
        "outcome": "finished",
        "answer": "The train leaves at nine. It is full.",
        "tools": ("search_vault", "search_vault", "vault_write"),
        "seconds": 125.0,
        "steps": 4,
    }
    return TaskCompleted(**{**told, **changes})  # type: ignore[arg-type]


def log(home: Days, task: str = "Plan the trip") -> str:
    path = home.vault.home.day_note(home.clock.now().date())
    block = daily.log_block(finished(task), home.clock.now(), home.language)
    with home.vault.transaction("memory(daily): log", Stamp("agent", tool=DAILY)) as change:
        if home.vault.read(path) is None:
            change.create(path, daily.new_note(home.clock.now().date()).encode())
        change.append(path, block.encode(), section=daily.section("conversations", home.language).encode())
    return path


def summed(home: Days, path: str) -> str:
    day = home.vault.home.day_of(path)
    assert day is not None
    text = home.text(path)
    return daily.with_summary(text, day_summary(entries_on_day(home.vault, day), daily.log(text), home.language))


def test_a_task_is_a_heading_with_its_time_and_what_came_of_it() -> None:
    block = daily.log_block(finished(), FakeClock().now(), "en")
    assert block.startswith("\n### 14:12 - Plan the trip\n")
    assert "- Answer: The train leaves at nine.\n" in block
    assert "search_vault" not in block and "2 min" not in block, "how it was done is no part of a person's day"
    assert "- In [[sessions/2026/11/2026-11-21-plan-the-trip-000001]]\n" in block


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("Hello Robin. The tiles are green.", "The tiles are green."),
        ("你好，小明。瓷砖是绿色的。", "瓷砖是绿色的。"),
        ("Tom Okafor. He comes on Tuesdays.", "Tom Okafor."),
        ("好的，瓷砖是绿色的。还有六平方米。", "好的，瓷砖是绿色的。"),
    ],
)
def test_a_greeting_by_name_is_no_answer(answer: str, first: str) -> None:
    assert f": {first}\n" in daily.log_block(finished(answer=answer), FakeClock().now(), "en")


def test_it_is_chinese_in_a_chinese_vault() -> None:
    block = daily.log_block(finished("安排旅行"), FakeClock().now(), "zh")
    assert "- 回答：The train leaves at nine." in block and "search_vault" not in block
    assert "- 失败\n" in daily.log_block(finished("安排旅行", outcome="failed"), FakeClock().now(), "zh")


def test_an_answer_is_not_cut_at_a_title() -> None:
    block = daily.log_block(
        finished(answer="Dr. Weber is free at 9 a.m. on Monday. He is upstairs."), FakeClock().now(), "en"
    )
    assert "- Answer: Dr. Weber is free at 9 a.m. on Monday.\n" in block


def test_a_secret_is_not_logged_and_neither_is_a_strangers_answer() -> None:
    secret = "my key is sk-ant-" + "a1B2" * 6
    assert "a1B2a1B2" not in daily.log_block(finished(secret), FakeClock().now(), "en")
    assert "train" not in daily.log_block(finished(), FakeClock().now(), "en", quote=False)


def test_a_link_in_a_long_answer_is_whole_or_left_out() -> None:
    answer = f"It is in {'the house ' * 18}[[Garden plan]] and in [[Tomatoes]] and so on."
    assert "the house…\n" in daily.log_block(finished(answer=answer), FakeClock().now(), "en")
    answer = f"It is in [[Garden plan]] and {'the house ' * 20}"
    assert "in [[Garden plan]] and the house" in daily.log_block(finished(answer=answer), FakeClock().now(), "en")


def test_the_greeting_of_an_answer_is_not_what_the_day_tells() -> None:
    for answer, told in (
        ("Good morning. Two things are due today.", "Two things are due today."),
        ("早上好！今天有两件事。", "今天有两件事。"),
        ("The morning's tasks:\n\n- Two things are due today.", "Two things are due today."),
        ("| Task | Day |\n|---|---|\n| rent | 1 |\n\nTwo things are due today.", "Two things are due today."),
    ):
        assert told in daily.log_block(finished(answer=answer), FakeClock().now(), "en")
        assert "orning" not in daily.log_block(finished(answer=answer), FakeClock().now(), "en")
    assert "Answer" not in daily.log_block(finished(answer="Good morning."), FakeClock().now(), "en")


def test_what_was_done_while_no_model_answered_is_no_failure() -> None:
    answer = f"{text('llm.silent', 'en')}\n\nA reminder is set: once, 2026-12-18 09:00, “call Ana”."
    block = daily.log_block(finished(answer=answer, outcome="failed"), FakeClock().now(), "en")
    assert "- Answer: A reminder is set: once, 2026-12-18 09:00, “call Ana”.\n- The model did not answer\n" in block


def test_the_summary_has_facts_and_conversations_and_no_counts(tmp_path: Path) -> None:
    home = days(tmp_path)
    link = Path(home.say("We decided to use Postgres for the warehouse. Can you look?")).stem
    home.say("We decided to use Postgres for the warehouse.")
    home.clock.advance(60)
    text = summed(home, log(home))
    assert text.count("We decided to use Postgres for the warehouse.") == 1 and f"[[{link}]]" in text
    assert " × " not in text
    assert "### Key conversations\n\n- 14:13 Plan the trip [[sessions/" in text
    assert "Can you look" not in text and "Noted" not in text


def test_a_block_of_the_log_ends_where_another_part_begins() -> None:
    upkeep = "## Upkeep\n\n### 00:13 - Memory upkeep\n\n- said again (1): tea\n"
    text = f"# 2026-12-02\n\n{upkeep}\n## Briefing (09:08)\n\nNothing.\n\n[[sessions/2026/12/brief|how I got there]]\n"
    assert [(task.title, task.session) for task in daily.log(text)] == [("Memory upkeep", "")]


def test_conversations_stand_in_the_order_of_the_day() -> None:
    asked = [daily.Logged(time, time, f"[[sessions/{time}]]") for time in ("09:10", "19:59", "10:42")]
    text = day_summary(DayEntries((), ()), asked, "en")
    assert text.index("09:10") < text.index("10:42") < text.index("19:59")


def test_what_was_said_before_and_said_again_is_in_the_summary_of_both_days(tmp_path: Path) -> None:
    home = days(tmp_path)
    first = Path(home.say("We decided to use Postgres for the warehouse.")).stem
    home.say("Anna's birthday is 3 May")
    home.pass_days(1)
    home.capture("We decided to use Postgres for the warehouse.")
    text = summed(home, log(home))
    assert f"- We decided to use Postgres for the warehouse. [[{first}]]\n" in text
    assert "New entries" not in text and "birthday" not in text
    assert "Postgres" in summed(home, "daily/2026-11-21.md")


def test_a_long_conversation_is_one_line_of_the_summary(tmp_path: Path) -> None:
    home = days(tmp_path)
    for number in range(20):
        home.say(f"Tell me about chapter {number}")
        path = log(home, f"Tell me about chapter {number}")
    text = summed(home, path)
    assert " × " not in text
    titles = " · ".join(f"Tell me about chapter {number}" for number in range(3))
    assert f"- 14:12 {titles} (and 17 more) [[sessions/" in text
    assert (daily.summary_of(text) or "").count("[[sessions/") == 1


def test_the_summary_is_rewritten_in_its_place_and_nothing_else(tmp_path: Path) -> None:
    home = days(tmp_path, {"daily/2026-11-21.md": MINE})
    path = log(home)
    once = summed(home, path)
    assert once.startswith(MINE)
    home.by_hand(path, once + "\nAnd a walk in the evening.\n")
    home.say("Anna's birthday is 3 May")
    again = summed(home, path)
    assert again.startswith(MINE) and again.endswith("\nAnd a walk in the evening.\n")
    assert "3 May" in again and again.count("vault-agent: summary") == 1


def test_a_day_with_the_program_s_own_work_only_has_no_summary(tmp_path: Path) -> None:
    home = days(tmp_path)
    own = daily.log("# 2026-11-21\n\n## Upkeep\n\n### 09:56 - Memory upkeep\n\n- one line more\n")
    assert own and day_summary(entries_on_day(home.vault, date(2026, 11, 21)), own, "en") == ""


def test_a_summary_that_a_person_has_changed_stays_as_it_is(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = log(home)
    changed = summed(home, path).replace("Plan the trip [[", "Plan our trip to Lyon [[")
    home.by_hand(path, changed)
    home.say("Anna's birthday is 3 May")
    assert summed(home, path) == changed


def test_an_old_day_keeps_its_summary_and_every_line_of_the_person(tmp_path: Path) -> None:
    home = days(tmp_path, {"daily/2026-11-21.md": MINE})
    path = log(home)
    log(home, "Write to Ben")
    text = home.text(path).replace("- In [[", "- mine: ask for a seat\n- In [[", 1) + "\nAnd a walk in the evening.\n"
    home.by_hand(path, text)
    with home.vault.transaction("memory(daily): evening", Stamp("agent", tool=DAILY)) as change:
        evening = "## Summary of the day\n\n### Facts and decisions\n\n- Ben moved. [[2026-11-21-ben]]\n"
        change.edit(path, text.encode(), daily.with_summary(text, evening).encode())
    home.pass_days(31)
    assert home.tend()[0].report.counts["shortened"] == 1
    now = home.text(path)
    assert now.startswith(MINE)
    assert "- mine: ask for a seat\n" in now and "And a walk in the evening.\n" in now
    assert "14:12 - Plan the trip" in now, "the heading above a person's line stays"
    assert "The train leaves" not in now and "Took 2 min" not in now
    assert "Summary of the day" in now and "Write to Ben" in daily.summary_of(now)  # type: ignore[operator]


def test_a_day_has_one_section_for_each_kind_whatever_the_person_writes_below(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = log(home, "Plan the trip")
    home.by_hand(path, home.text(path) + "\n## My evening\n\nA walk.\n")
    home.tend()
    log(home, "Write to Ben")
    text = summed(home, path)
    parts = [row for row in text.splitlines() if row.startswith("#")]
    assert parts[1:5] == ["## Conversations", "### 14:12 - Plan the trip", "### 14:12 - Write to Ben", "## My evening"]
    assert text.count("## Conversations\n") == 1 and "\n\n## My evening\n\nA walk.\n" in text
    home.by_hand(path, text)
    log(home, "Call Anna")
    again = home.text(path)
    assert [each.title for each in daily.log(again)] == ["Plan the trip", "Write to Ben", "Call Anna"]
    assert summed(home, path).endswith("%% vault-agent: end of summary %%\n"), "the summary stays a part of its own"
    home.pass_days(31)
    home.tend()
    left = home.text(path)
    assert "## Conversations" not in left and "\n## My evening\n\nA walk.\n" in left and "Write to Ben" in left


def test_the_times_awake_are_a_list_of_their_own_and_go_with_the_log(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = log(home)
    note = home.text(path) + "\n## Upkeep\n\n### 14:20 - Memory upkeep\n\n- Merged: 2\n"
    with home.vault.transaction("memory(daily): log", Stamp("agent", tool="daily")) as change:
        change.edit(path, home.text(path).encode(), note.encode())
    heading = daily.section("times", "en").encode()
    for line in ("- 14:10–14:30: Tidy up\n", "- 15:10–15:30: Read on\n"):
        with home.vault.transaction("memory(daily): awake", Stamp("agent", tool="daily")) as change:
            change.requests.append(Append(path, line.encode(), b"", heading))
    text = home.text(path)
    assert text.endswith("- Merged: 2\n\n## Awake\n\n- 14:10–14:30: Tidy up\n- 15:10–15:30: Read on\n")
    assert len(daily.log(text)) == 2, "it is no task"
    home.by_hand(path, text + "- I slept badly\n")
    home.pass_days(31)
    home.tend()
    assert "Tidy up" not in home.text(path) and "## Awake\n\n- I slept badly\n" in home.text(path)


def test_a_younger_day_is_left_as_it_is(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = log(home)
    before = home.text(path)
    home.pass_days(30)
    home.tend()
    assert home.text(path) == before


def test_shortening_happens_once(tmp_path: Path) -> None:
    home = days(tmp_path)
    log(home)
    home.pass_days(31)
    home.tend()
    assert home.tend()[0].report.is_empty


ROWS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "### 10:30 - a task",
                "## 10:30 - an older task",
                "## Conversations",
                "## Mine",
                "# Title",
                "- a bullet",
                "words",
                "",
                "%% vault-agent: summary 0123456789ab %%",
                "%% vault-agent: end of summary %%",
            ]
        ),
        st.booleans(),
    ),
    max_size=14,
)


@given(ROWS)
def test_shortening_never_takes_a_line_that_a_person_wrote(rows: list[tuple[str, bool]]) -> None:
    lines = [AuthoredLine(f"{text} {number if text.startswith('words') else ''}".rstrip() + "\n", own)
             for number, (text, own) in enumerate(rows)]  # fmt: skip
    kept = daily.shortened(lines).splitlines()
    for line in lines:
        if not line.own and line.text.strip():
            assert line.text.rstrip("\n") in kept
    theirs = [line.text.rstrip("\n") for line in lines if not line.own and line.text.strip()]
    rest = iter(kept)
    assert all(text in rest for text in theirs), "in the same order"
