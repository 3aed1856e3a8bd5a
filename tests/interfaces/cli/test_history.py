"""`vault-agent history` says what it will do, and asks before it writes the history anew."""

import json
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.vault.test_a_squash_joins_what_the_agent_did import week
from tests.vaults import head


def test_a_squash_is_said_first_and_needs_a_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    days = week(tmp_path)
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "state").rename(tmp_path / "home" / "state")
    monkeypatch.chdir(days.root)
    before = head(days.root)
    asked = ["history", "squash", "--older-than", "30d"]
    assert main([*asked, "--dry-run"]) == 0
    assert "would join 7 of 11 commits into 3; nothing is changed yet" in capsys.readouterr().out
    assert main(asked) == 2
    assert "--yes" in capsys.readouterr().err and head(days.root) == before
    assert main(["--json", *asked, "--yes"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["joined"], document["into"], document["head"]) == (7, 3, head(days.root))
    assert Path(document["bundle"]).is_file()
    assert main(["undo", "--run", "01RUN1"]) == 2
    assert "were squashed" in capsys.readouterr().err


def test_packing_says_how_many_loose_objects_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    days = week(tmp_path)
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(days.root)
    assert main(["--json", "history", "pack"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["loose_before"] > 0 and document["loose_after"] == 0
