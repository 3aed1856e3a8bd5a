"""`vault-agent profile beliefs` shows what is believed, with its figures and evidence, in each language and as JSON."""

import json
from pathlib import Path

import pytest

from tests.stories.agents import document, furnish, script, settings, tell


def test_beliefs_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = settings(tmp_path)
    root = furnish(tmp_path, monkeypatch.setenv)
    assert "nothing is believed" in tell(root, own, "profile", "beliefs")
    tell(root, own, "remember", "I prefer short answers.")
    shown = tell(root, own, "profile", "beliefs")
    assert "0.90  prefers shorter text" in shown and "told" in shown and '"I prefer short answers."' in shown
    tell(root, own, "memory", "run")
    document = json.loads(tell(root, own, "--json", "profile", "beliefs"))
    (belief,) = document["beliefs"]
    assert (belief["value"], belief["evidence_count"], belief["contradictions"]) == ("shorter", 1, 0)
    assert belief["confidence"] == 0.9 and belief["told"]
    assert belief["path"] is None, "what was only stated stands in its own words, as a memory"
    assert belief["evidence"][0].startswith("[[") and belief["evidence"][0].endswith('"I prefer short answers."')
    assert document["silent"] == 0


def test_what_was_taken_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = script(tmp_path / "said.json", after="一段很长的回答。")
    own = {**settings(tmp_path, said), "VAULT_AGENT_VAULT__LANGUAGE": "zh", "LANG": "zh_CN.UTF-8"}
    root = furnish(tmp_path, monkeypatch.setenv)
    for task in ("写一份花园的报告", "写一份厨房的报告", "写一份书房的报告"):
        asked = document(root, own, "ask", task)
        tell(root, own, "ask", "--session", asked["session"], "太长了")
    tell(root, own, "memory", "run")
    note = root / "profile/31-preferences.md"
    rows = note.read_text("utf-8").splitlines()
    assert any("偏好更短的文字 · " in row for row in rows)
    note.write_text(
        "\n".join(row for row in rows if "belief-" not in row and not row.startswith("  - ")) + "\n", "utf-8"
    )
    tell(root, own, "commit")
    (belief,) = json.loads(tell(root, own, "--json", "profile", "beliefs"))["beliefs"]
    assert belief["refused"] and not belief["told"]
