"""The labels in entries are in the vault's language, and are known for labels in either, whatever it is by now."""

from dataclasses import replace

import pytest

from agent.config.load import load_settings
from agent.events.runs import Speaker, TaskCompleted
from agent.memory.capture.facts import CaptureConfig, RunTrace, ToolUse, entries_of_run
from agent.memory.understanding.wording import wording
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


@LANGUAGES
def test_names_are_made_of_words_and_not_of_labels(language: Language) -> None:
    found = entries_of_run(RUN, DID, ways(language))
    assert {each.path.rpartition("/")[2][:-10] for each in found} == {"2026-11-21-我喜欢喝绿茶"}
    label = {"en": "User: ", "zh": "用户："}[language]
    assert wording(f"{label}我喜欢喝绿茶。") == wording("我喜欢喝绿茶。")


@LANGUAGES
def test_a_label_with_nothing_behind_it_is_not_kept(language: Language) -> None:
    assert not entries_of_run(replace(RUN, tools=()), RunTrace(), ways(language, "我喜欢喝绿茶。"))
