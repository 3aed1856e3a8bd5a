"""The commands with an index in a shared database: found there, and said when the server is away."""

from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run


def test_what_a_command_takes_in_is_found_and_the_state_is_told(
    run: Run, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setenv("VAULT_AGENT_INDEX__ENGINE", "postgres")
    monkeypatch.setenv("VAULT_AGENT_DATABASE__URL", database_url)
    run("remember", "The kettle is in the cellar")
    found = run("search", "kettle")
    assert found["engine"] == "postgres"
    assert "cellar" in str(found["hits"])
    state = run("status")["index"]
    assert isinstance(state, dict) and (state["engine"], state["behind"], state["problem"]) == ("postgres", 0, None)


def test_a_server_that_is_away_is_named_and_its_password_nowhere(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("VAULT_AGENT_INDEX__ENGINE", "postgres")
    monkeypatch.setenv("VAULT_AGENT_DATABASE__URL", "postgresql://me:geheim12345@127.0.0.1:1/notes")
    found = run("search", "kettle")
    assert found["hits"] == [] and "cannot be reached" in str(found["degraded"])
    run("remember", "The kettle is in the cellar")
    state = run("status")["index"]
    assert isinstance(state, dict) and "cannot be reached" in str(state["problem"])
    capsys.readouterr()
    report = tmp_path / "report.txt"
    for command in (["doctor", "--report", str(report)], ["config", "show"], ["search", "kettle"]):
        main(command)
        said = capsys.readouterr()
        assert "geheim12345" not in said.out + said.err
    assert "geheim12345" not in report.read_text("utf-8")
