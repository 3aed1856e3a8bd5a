"""A rule in one line has the colon of its script; the log has one kind, so that logs of before still fit."""

import pytest

from agent.growth.rules.rule import rule_sentence, without_case
from agent.growth.rules.rule_log import logged_words, parse_rows
from tests.growth.rules.desk import Desk, three


@pytest.mark.parametrize(
    ("when", "text", "said"),
    [
        ("a note is changed", "Read it", "a note is changed: Read it"),
        ("要修改笔记", "先读一遍", "要修改笔记：先读一遍"),
        ("要修改笔记：", "先读一遍", "要修改笔记：先读一遍"),
        ("任务属于这类（搜索）", "想一想 ripgrep", "任务属于这类（搜索）：想一想 ripgrep"),
        ("un café", "Lis-le", "un café: Lis-le"),
        ("", "先读一遍", "先读一遍"),
    ],
)
def test_the_case_stands_before_it(when: str, text: str, said: str) -> None:
    assert rule_sentence(text, when) == said and without_case(said) == text
    assert logged_words(said) == said.replace("：", ": ")


def test_a_log_of_before_means_the_same_rule(desk: Desk) -> None:
    desk.language = "zh"
    desk.learn(*three("修改笔记之前先读一遍", "改动笔记前先读一遍", "修改笔记前先读一遍笔记", when="要修改笔记"))
    desk.answer()
    log = (desk.root / "rules/log.md").read_text("utf-8")
    assert "要修改笔记: " in log and parse_rows(log.encode()) == parse_rows(log.replace("记: ", "记：").encode())
    assert desk.tend() == ()
