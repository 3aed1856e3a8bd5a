"""The labels in entries are in the vault's language, and are known for labels in either, whatever it is by now."""

from dataclasses import replace

import pytest

from agent.config.load import load_settings
from agent.events.runs import Speaker, TaskCompleted
from agent.memory.capture.run_entries import CaptureConfig, entries_of_run
from agent.memory.capture.workflow import RunTrace, ToolUse
from agent.memory.understanding.wording import wording
from agent.skills.learning.traces import TraceStep, parse_trace
from agent.texts import Language
from tests.fakes import FakeClock

SETTINGS = load_settings(environ={}).settings.memory
RUN = TaskCompleted("run-1", "sessions/tea.md", "我喜欢喝绿茶。", Speaker("cli"), "finished", "记下了。",
                    ("search_vault", "vault_write"), 2.5, 1)  # fmt: skip
DID = RunTrace((ToolUse("search_vault", "绿茶"), ToolUse("vault_write", "茶.md", failed=True)))
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def ways(language: Language, remembered: str = "") -> CaptureConfig:
    left = (lambda text: text.replace(remembered, "")) if remembered else str
    return CaptureConfig(SETTINGS, FakeClock(), str, lambda: left, language=language)


def test_a_chinese_vault_keeps_a_run_in_chinese() -> None:
    fact, trace = entries_of_run(RUN, DID, ways("zh"))
    assert fact.text == "我喜欢喝绿茶。"
    assert trace.text == "任务：我喜欢喝绿茶。\n\n1. search_vault: 绿茶\n2. vault_write: 茶.md（失败）"
    _, many = entries_of_run(RUN, RunTrace((ToolUse("vault_read"),) * 60), ways("zh"))
    assert "\n…… 另有 20 步 ……\n" in many.text


@LANGUAGES
def test_a_workflow_is_learned_from_in_either_language(language: Language) -> None:
    _, trace = entries_of_run(RUN, DID, ways(language))
    found = parse_trace(trace.path, trace.note())
    assert found is not None and found.task == "我喜欢喝绿茶。"
    assert found.steps == (TraceStep("search_vault", "绿茶"), TraceStep("vault_write", "茶.md", failed=True))


@LANGUAGES
def test_names_are_made_of_words_and_not_of_labels(language: Language) -> None:
    found = entries_of_run(RUN, DID, ways(language))
    assert {each.path.rpartition("/")[2][:-10] for each in found} == {"2026-11-21-我喜欢喝绿茶"}
    label = {"en": "User: ", "zh": "用户："}[language]
    assert wording(f"{label}我喜欢喝绿茶。") == wording("我喜欢喝绿茶。")


@LANGUAGES
def test_a_label_with_nothing_behind_it_is_not_kept(language: Language) -> None:
    alone = RunTrace((ToolUse("vault_read"), ToolUse("vault_write")))
    (trace,) = entries_of_run(RUN, alone, ways(language, "我喜欢喝绿茶。"))
    assert trace.text == "1. vault_read\n2. vault_write"
    assert not entries_of_run(replace(RUN, tools=()), RunTrace(), ways(language, "我喜欢喝绿茶。"))
