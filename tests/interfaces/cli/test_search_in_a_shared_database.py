"""The commands with an index in a shared database: found there, and said when the server is away."""

from pathlib import Path

import pytest

from agent.config.directories import VAULT_FILE
from agent.database.connection import SharedDatabase
from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run
from tests.vaults import write


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
    assert found["hits"] == [] and str(found["degraded"]).count("cannot be reached") == 1
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


def test_status_and_doctor_tell_that_the_address_is_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAULT_AGENT_INDEX__ENGINE", "postgres")
    state = run("status")["index"]
    assert isinstance(state, dict) and "has no address" in str(state["problem"])
    main(["doctor"])
    said = capsys.readouterr().out
    assert "search index: the shared database has no address" in said and "config set database.url" in said


def test_what_becomes_private_leaves_the_database(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.setenv("VAULT_AGENT_INDEX__ENGINE", "postgres")
    monkeypatch.setenv("VAULT_AGENT_DATABASE__URL", database_url)
    write(root / "diary/secret.md", "the zzdiary of a kettle\n")
    write(root / "plain.md", "the zzplain kettle\n")
    write(root / "never.md", "---\nagent: never\n---\nthe zznever kettle\n")
    assert {hit["path"] for hit in found_by(run, "kettle")} == {"diary/secret.md", "plain.md"}
    assert texts(database_url) & {"zzdiary", "zznever", "zzplain"} == {"zzdiary", "zzplain"}
    write(root / VAULT_FILE, "vault:\n  private: diary/\n")
    write(root / "plain.md", "---\nagent: never\n---\nthe zzplain kettle\n")
    assert found_by(run, "kettle") == []
    assert texts(database_url) & {"zzdiary", "zznever", "zzplain"} == set()


def found_by(run: Run, words: str) -> list[dict[str, object]]:
    hits = run("search", words)["hits"]
    assert isinstance(hits, list)
    return hits


def texts(url: str) -> set[str]:
    """The words of all notes in the database."""
    words = set[str]()
    with SharedDatabase(url, "").connect() as connection:
        query = "select nspname from pg_namespace where nspname like 'vault\\_agent\\_%\\_%'"
        for (schema,) in connection.execute(query).fetchall():
            if schema != "vault_agent_fleet":
                rows = connection.execute(f'select content from "{schema}".note').fetchall()
                words.update(word for (content,) in rows for word in bytes(content).decode().split())
    return words
