"""The labels in entries are in the vault's language, and are known for labels in either, whatever it is by now."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.load import load_settings
from agent.events.runs import Speaker, TaskCompleted
from agent.memory.capture.conversation import Turns, asked_in, turn_text
from agent.memory.capture.dedupe import own_words
from agent.memory.capture.run_entries import CaptureConfig, entries_of_run
from agent.memory.capture.workflow import RunTrace, ToolUse
from agent.memory.entry import EntryType
from agent.memory.understanding.seam import SourceText
from agent.memory.understanding.statements import facts_in
from agent.memory.understanding.wording import wording
from agent.skills.learning.traces import TraceStep, parse_trace
from agent.texts import Language
from tests.fakes import FakeClock

SETTINGS = replace(load_settings(environ={}).settings.memory, capture="turns")
RUN = TaskCompleted("run-1", "sessions/tea.md", "我喜欢喝绿茶。", Speaker("cli"), "finished", "记下了。",
                    ("search_vault", "vault_write"), 2.5, 1)  # fmt: skip
DID = RunTrace((ToolUse("search_vault", "绿茶"), ToolUse("vault_write", "茶.md", failed=True)))
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
plain = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60).filter(lambda text: text.strip() == text)


def ways(language: Language, remembered: str = "") -> CaptureConfig:
    left = (lambda text: text.replace(remembered, "")) if remembered else str
    return CaptureConfig(SETTINGS, FakeClock(), str, lambda: left, language=language)


def test_a_chinese_vault_keeps_a_run_in_chinese() -> None:
    turn, summary, trace = entries_of_run(RUN, DID, ways("zh"))
    assert turn.text == "用户：我喜欢喝绿茶。\n助手：记下了。"
    assert summary.text == "任务：我喜欢喝绿茶。\n工具：`search_vault`、`vault_write`\n结果：记下了。"
    assert trace.text == "任务：我喜欢喝绿茶。\n\n1. search_vault: 绿茶\n2. vault_write: 茶.md（失败）"
    many = entries_of_run(RUN, RunTrace((ToolUse("vault_read"),) * 60), ways("zh"))[2]
    assert "\n…… 另有 20 步 ……\n" in many.text


@LANGUAGES
def test_a_workflow_is_learned_from_in_either_language(language: Language) -> None:
    trace = entries_of_run(RUN, DID, ways(language))[2]
    found = parse_trace(trace.path, trace.note())
    assert found is not None and found.task == "我喜欢喝绿茶。"
    assert found.steps == (TraceStep("search_vault", "绿茶"), TraceStep("vault_write", "茶.md", failed=True))


@LANGUAGES
def test_names_and_facts_are_made_of_words_and_not_of_labels(language: Language) -> None:
    turn, summary, trace = entries_of_run(RUN, DID, ways(language))
    assert {each.path.rpartition("/")[2][:-10] for each in (turn, summary, trace)} == {"2026-11-21-我喜欢喝绿茶"}
    assert own_words(turn) == "我喜欢喝绿茶。" and wording(turn.text) == wording("我喜欢喝绿茶。\n记下了。")
    assert [fact.text for fact in facts_in(SourceText(own_words(turn)))] == ["我喜欢喝绿茶。"]


@given(plain.filter(bool), plain, st.sampled_from(["en", "zh"]))
def test_what_a_person_said_is_read_back(asked: str, answer: str, language: Language) -> None:
    assert asked_in(turn_text(asked, answer, Turns(language=language))) == asked


@LANGUAGES
def test_a_label_with_nothing_behind_it_is_not_kept(language: Language) -> None:
    found = entries_of_run(replace(RUN, tools=()), RunTrace(), ways(language, "我喜欢喝绿茶。"))
    assert [each.text for each in found] == [{"en": "Assistant: 记下了。", "zh": "助手：记下了。"}[language]]
    assert found[0].type is EntryType.CHAT_TURN
