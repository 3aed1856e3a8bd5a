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
    assert belief["path"] is None, "what was only stated stands in its own words, as a memory"
    assert belief["evidence"][0].startswith("[[") and belief["evidence"][0].endswith('"I prefer short answers."')
    assert document["silent"] == 0
