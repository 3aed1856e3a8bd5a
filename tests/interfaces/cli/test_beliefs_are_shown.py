"""`vault-agent profile beliefs` shows what is believed, with its figures and evidence, in each language and as JSON."""

import json
from pathlib import Path

import pytest

from tests.stories.agents import furnish, settings, tell


def test_beliefs_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = settings(tmp_path)
    root = furnish(tmp_path, monkeypatch.setenv)
    assert "nothing is believed" in tell(root, own, "profile", "beliefs")
    tell(root, own, "remember", "I prefer short answers.")
    shown = tell(root, own, "profile", "beliefs")
    assert "0.73  prefers shorter text" in shown and "told" in shown and '"I prefer short answers."' in shown
    tell(root, own, "memory", "run")
    document = json.loads(tell(root, own, "--json", "profile", "beliefs"))
    (belief,) = document["beliefs"]
    assert (belief["value"], belief["evidence_count"], belief["contradictions"]) == ("shorter", 1, 0)
    assert belief["confidence"] > 0.7 and belief["running_mean"] == 0.9 and belief["told"]
    assert belief["path"] == "profile/31-preferences.md" and belief["last_updated"]
    assert belief["evidence"][0].startswith("[[") and belief["evidence"][0].endswith('"I prefer short answers."')
    assert document["silent"] == 0


def test_what_was_taken_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = {**settings(tmp_path), "VAULT_AGENT_VAULT__LANGUAGE": "zh", "LANG": "zh_CN.UTF-8"}
    root = furnish(tmp_path, monkeypatch.setenv)
    tell(root, own, "remember", "我喜欢简短的回答。")
    tell(root, own, "memory", "run")
    note = root / "profile/31-preferences.md"
    rows = note.read_text("utf-8").splitlines()
    assert any("偏好更短的文字 · 0.73（平均强度 0.90） · 1 次表现 · 所有文字" in row for row in rows)
    note.write_text("\n".join(row for row in rows if "belief-" not in row and "你说过" not in row) + "\n", "utf-8")
    tell(root, own, "commit")
    (belief,) = json.loads(tell(root, own, "--json", "profile", "beliefs"))["beliefs"]
    assert belief["refused"] and not belief["told"]
