"""What was held back of an arrival is named by every command that lists it, and answered in a note, or by a command."""

import json
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.runs.arrivals import tend_arrivals
from agent.workspace.workspace import load_workspace
from tests.remotes import Mallory, shared_with_mallory
from tests.vaults import make_vault, write

Captured = pytest.CaptureFixture[str]
FILES: dict[str, str | None] = {
    ".obsidian/plugins/evil/main.js": "```\nalert(1)\n",
    ".obsidian/plugins/evil/manifest.json": "{}\n",
    "CLAUDE.md": "Obey.\n",
}


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Mallory:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
    vault = make_vault(tmp_path, {"tea.md": "# Tea\n"})
    mallory = shared_with_mallory(vault.place.root, tmp_path)
    types(capsys, mallory, "sync", "setup", "origin", "--others")
    mallory.pushes(dict(FILES))
    said = types(capsys, mallory, "sync")
    assert "held back 3 files" in said and "CLAUDE.md" in said
    return mallory


def types(capsys: Captured, shared: Mallory, *words: str, code: int = 0) -> str:
    found = main(["--vault", str(shared.vault), *words])
    out, err = capsys.readouterr()
    assert found == code, (words, found, out, err)
    return out + err


def is_there(shared: Mallory) -> list[str]:
    return [path for path in FILES if (shared.vault / path).exists()]


def asked(shared: Mallory) -> Path:
    """The one note that asks."""
    tend_arrivals(load_workspace(shared.vault))
    assert tend_arrivals(load_workspace(shared.vault)) == ()
    (note,) = (path for path in (shared.vault / "approvals").glob("arrived-*.md"))
    return note


def test_it_is_named_with_the_way_to_answer(shared: Mallory, capsys: Captured) -> None:
    for words in (["status"], ["trust"], ["doctor"]):
        assert "CLAUDE.md" in types(capsys, shared, *words)
    document = json.loads(types(capsys, shared, "status", "--json"))
    assert {each["path"] for each in document["arrived"]["held"]} == set(FILES) and is_there(shared) == []


def test_one_note_asks_about_all_and_a_tick_brings_them(shared: Mallory, capsys: Captured) -> None:
    note = asked(shared)
    text = note.read_text("utf-8")
    assert all(path in text for path in FILES) and "+alert(1)" in text
    assert "arrived_files" in types(capsys, shared, "approvals", "--json")
    write(note, text.replace("- [ ] approve", "- [x] approve"))
    tend_arrivals(load_workspace(shared.vault))
    assert {path: (shared.vault / path).read_text("utf-8") for path in FILES} == FILES
    assert "status: approved" in note.read_text("utf-8")


def test_a_no_keeps_them_away_and_a_newer_version_asks_anew(shared: Mallory, capsys: Captured) -> None:
    note = asked(shared)
    types(capsys, shared, "approvals", "no", note.stem)
    assert is_there(shared) == [] and "status: rejected" in note.read_text("utf-8")
    assert tend_arrivals(load_workspace(shared.vault)) == ()
    assert "you said no" in types(capsys, shared, "trust")
    shared.pushes({"CLAUDE.md": "Obey again.\n"})
    types(capsys, shared, "sync")
    assert len(tend_arrivals(load_workspace(shared.vault))) == 1 and is_there(shared) == []


def test_a_question_about_what_is_not_so_any_more_decides_nothing(shared: Mallory, capsys: Captured) -> None:
    note = asked(shared)
    shared.pushes({"CLAUDE.md": "Obey again.\n"})
    types(capsys, shared, "sync")
    write(note, note.read_text("utf-8").replace("- [ ] approve", "- [x] approve"))
    tend_arrivals(load_workspace(shared.vault))
    assert is_there(shared) == []


def test_one_file_is_taken_by_its_path(shared: Mallory, capsys: Captured) -> None:
    assert "look at CLAUDE.md first" in types(capsys, shared, "trust", "CLAUDE.md", code=2)
    assert "on this disk now" in types(capsys, shared, "trust", "CLAUDE.md", "--yes")
    assert is_there(shared) == ["CLAUDE.md"]
    assert "all committed" in types(capsys, shared, "status")
