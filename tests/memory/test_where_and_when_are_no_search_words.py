"""Words that say where or when to look are taken out of a question, and name the notes that come first."""

from datetime import date

import pytest

from agent.memory.recall.where_and_when import where_and_when, without_time

TODAY = date(2026, 11, 29)
FOLDERS = frozenset({"sessions-talk", "projects", "projects/Boat house", "work", "家", "工作/项目"})


@pytest.mark.parametrize(
    ("sentence", "asked", "folder"),
    [
        ("Where did Ana move, going by the notes in sessions-talk?", "Where did Ana move, ?", "sessions-talk"),
        ("What is open in projects/Boat house?", "What is open ?", "projects/Boat house"),
        ("What does the folder projects say about glue?", "What does say about glue?", "projects"),
        ("Does my plan work?", "Does my plan work?", ""),
        ("Who lent me the drill, by my notes?", "Who lent me the drill, ?", ""),
        ("Consider everything my notes say, money and time.", ", money and time.", ""),
        ("家文件夹里膝盖怎么样？", "膝盖怎么样？", "家"),
        ("根据我的笔记，谁借了电钻？", "，谁借了电钻？", ""),
        ("我家的车在哪里？", "我家的车在哪里？", ""),
    ],
)
def test_where(sentence: str, asked: str, folder: str) -> None:
    scope = where_and_when(sentence, lambda: FOLDERS, TODAY)
    assert (scope.asked, scope.folder) == (asked, folder)
    assert scope.there == (f'path:"{folder}/"' if folder else "")
    assert folder.rpartition("/")[2] in scope.whole, "where nothing fits there, it may be a word like any other"


@pytest.mark.parametrize(
    ("sentence", "sought", "within"),
    [
        ("What did Ana do in October 2023?", "What did Ana do ?", "after:2023-10-01 before:2023-11-10"),
        ("What did Ana do in December?", "What did Ana do ?", "after:2025-12-01 before:2026-01-10"),
        ("What did Ana do on 8 May 2023?", "What did Ana do ?", "after:2023-05-08 before:2023-05-18"),
        ("2023年10月8日安娜做了什么？", "安娜做了什么？", "after:2023-10-08 before:2023-10-18"),
        ("What did we decide last month?", "What did we decide ?", "after:2026-10-01 before:2026-10-31"),
        ("What did Ana do yesterday?", "What did Ana do ?", "after:2026-11-28 before:2026-11-28"),
        ("Was hat Ana am 2026-11-03 getan?", "Was hat Ana am getan?", "after:2026-11-03 before:2026-11-13"),
        ("安娜上周二做了什么？", "安娜 做了什么？", "after:2026-11-17 before:2026-11-17"),
        ("What happened in October 2023?", "What happened ?", "after:2023-10-01 before:2023-11-10"),
        ("Which bus goes to Porto?", "Which bus goes to Porto?", ""),
    ],
)
def test_when(sentence: str, sought: str, within: str) -> None:
    scope = where_and_when(sentence, lambda: FOLDERS, TODAY)
    assert (without_time(scope.asked, TODAY), scope.there) == (sought, within)


@pytest.mark.parametrize(
    "sentence",
    [
        "What did I do yesterday?",
        "What happened on Tuesday?",
        "Summarise November",
        "Give me a short summary of last week.",
        "What did I write in October 2023?",
        "昨天我做了什么？",
        "帮我总结一下上个月",
        "大前天发生了什么？",
    ],
)
def test_a_question_for_nothing_but_a_time_that_is_over(sentence: str) -> None:
    assert where_and_when(sentence, lambda: FOLDERS, TODAY).is_of_days


@pytest.mark.parametrize(
    "sentence",
    [
        "What should I do on Tuesday?",
        "What do I have to do today?",
        "Who won the election on Tuesday?",
        "Is the weather in October mild?",
        "Plan my week.",
        "Summarise the plot of Emma.",
        "周二我要做什么？",
        "下周做什么？",
    ],
)
def test_a_question_for_more_than_a_time_or_for_days_to_come(sentence: str) -> None:
    assert not where_and_when(sentence, lambda: FOLDERS, TODAY).is_of_days
