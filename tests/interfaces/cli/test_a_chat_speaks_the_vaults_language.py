"""A chat, and what is said below an answer, speak the vault's language; commands, paths and names stay."""

import re
from pathlib import Path

import pytest
import yaml

import agent
from tests.stories.agents import call, script, settings, tell
from tests.vaults import make_vault

CHANGE = call("vault_edit", path="AGENT.md", old="简短。", new="详细。")
WRITE = call("vault_write", path="计划.md", content="买茶\n")
_ENGLISH = re.compile(r"[A-Za-z]{3,}")
_NAMES = re.compile(
    r"vault-agent [^\n]*|/[a-z]+|Ctrl-[A-Z]|Alt-Enter|Enter|Esc|Tab|--yes"
    r"|\d{4}-\d\d-\d\d-[\w-]+|[\w\u4e00-\u9fff.-]*[/_][\w\u4e00-\u9fff./-]*"
    r"|\b[0-9a-f]{8,12}\b|AGENT\.md"
)


def test_no_chinese_text_of_a_chat_has_english_words_in_it() -> None:
    sections = yaml.safe_load((Path(agent.__file__).parent / "texts" / "zh.yaml").read_text("utf-8"))
    chinese = {
        what: sentence for name in ("chat", "decide", "live", "run_report") for what, sentence in sections[name].items()
    }
    assert [
        what for what, text in chinese.items() if _ENGLISH.search(_NAMES.sub("", re.sub(r"\{\w+\}", "", text)))
    ] == []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    notes = {"AGENT.md": "# 说明\n\n简短。\n", "茶.md": "早上喝绿茶。\n"}
    return make_vault(tmp_path, {**notes, "vault-agent.yaml": "vault:\n  language: zh\n"}).place.root


def test_a_chat_in_a_chinese_vault_is_chinese(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "s.json", "你好。", WRITE, "写好了。", CHANGE, "好。"))
    words = (
        "help",
        "Help",
        "nonsense",
        "remember",
        "remember 我喜欢乌龙茶",
        "recall",
        "recall 乌龙茶",
        "forget",
        "log",
        "undo",
    )
    said = "".join(f"/{word}\n" for word in words)
    told = tell(root, own, "chat", said=f"{said}/compact\n你好\n写计划\n/log\n改一下\n/continue\n")
    assert "已记下：entries/" in told and "要忘记什么？" in told and told.count("/context") == 2
    own_words = "\n".join(
        line for line in told.splitlines() if not re.match(r"[0-9a-f]{8} ", line)
    )  # a commit's subject
    assert [word for word in _ENGLISH.findall(_NAMES.sub("", own_words))] == []
