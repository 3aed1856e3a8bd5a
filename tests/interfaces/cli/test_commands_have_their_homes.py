"""Commands that were on their own are below others now, and do the same there; a note and a vault are found by less."""

from pathlib import Path
from typing import Any

import pytest

from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.interfaces.cli.vaults import Captured, ask, edit, enter, tell
from tests.stories.agents import call, document, furnish, script, settings
from tests.stories.agents import tell as said
from tests.vaults import make_vault


def document_of(capsys: Captured, *words: str, code: int = 0) -> Any:
    """The document that a command prints."""
    return ask(capsys, *words, code=code)


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    made = make_vault(tmp_path, {"people/Rui Matos.md": "# Rui\n\nA roofer.\n", "tea.md": "# Tea\n"})
    enter(monkeypatch, made, tmp_path / "home")
    return made


@pytest.fixture
def root(vault: Vault) -> Path:
    return vault.place.root


def test_all_that_waits_is_one_list_and_is_answered_in_one_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long."), "Done."
    root, own = furnish(tmp_path, monkeypatch.setenv), settings(tmp_path, script(tmp_path / "s.json", *replies))
    assert said(root, own, "needs") == "nothing waits for you\n"
    document(root, own, "remember", "I am allergic to peanuts")
    document(root, settings(tmp_path), "jobs", "tasks", "run", "upkeep")
    document(root, own, "ask", "change")
    listed = document(root, own, "needs")
    (wanted,), (asked,) = listed["approvals"], listed["questions"]
    shown = said(root, own, "needs")
    assert wanted["code"] in shown and asked["code"] in shown and "health" in shown
    assert "+Be long." in said(root, own, "needs", "show", wanted["code"])
    assert "health" in said(root, own, "needs", "show", asked["code"])
    wrong = document(root, own, "needs", "answer", wanted["code"], "perhaps", code=2)["error"]
    assert "neither yes nor no" in wrong["message"]
    assert document(root, own, "needs", "answer", asked["code"], "1")["answer"] == asked["options"][0]
    refused = document(root, own, "needs", "answer", wanted["code"], "no,", "stay", "brief")
    assert (refused["status"], refused["reason"]) == ("rejected", "stay brief")
    assert said(root, own, "needs") == "nothing waits for you\n"


def test_yes_and_no_have_words_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long."), "Done."
    root, own = furnish(tmp_path, monkeypatch.setenv), settings(tmp_path, script(tmp_path / "s.json", *replies))
    asked = document(root, own, "ask", "change")
    done = document(root, own, "needs", "yes", asked["waits_for"], "--go-on")
    assert done["run_ended"]["answer"] == "Done." and "Be long." in (root / "AGENT.md").read_text("utf-8")


def test_a_note_is_asked_by_its_name(root: Path, capsys: Captured) -> None:
    (root / "Question.md").write_text("---\nagent: ask\n---\nWho is a roofer?\n", "utf-8")
    assert document_of(capsys, "ask", "--note", "Question")["path"] == "Question.md"
    assert "--note stands alone" in document_of(capsys, "ask", "--note", "Question", "more", code=2)["error"]["message"]


@pytest.mark.parametrize(
    ("now", "before"),
    [
        (["recall", "roofer", "--explain"], ["context", "roofer"]),
        (["status", "--metrics"], ["metrics"]),
        (["log", "--squash", "1d", "--dry-run"], ["history", "squash", "--older-than", "1d", "--dry-run"]),
        (["jobs", "tasks"], ["tasks"]),
        (["notices", "why", "nothing"], ["why", "nothing"]),
        (["serve", "browsers"], ["browsers"]),
        (["daemon", "sleep"], ["sleep"]),
        (["import", "memory", "report"], ["memory", "report"]),
        (["lessons", "beliefs"], ["profile", "beliefs"]),
        (["lessons", "show", "none"], ["rules", "show", "none"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_an_old_name_does_what_the_new_one_does(
    root: Path, capsys: Captured, now: list[str], before: list[str]
) -> None:
    codes = {"daemon": 2, "notices": 2}
    code = 2 if now[1:2] == ["show"] else codes.get(now[0], 0)
    assert document_of(capsys, *now, code=code) == document_of(capsys, *before, code=code)


@pytest.mark.parametrize("words", [["status", "--since", "1d"], ["log", "--pack", "--run", "x"], ["log", "--yes"]])
def test_options_that_change_nothing_are_refused(root: Path, capsys: Captured, words: list[str]) -> None:
    assert "--" in document_of(capsys, *words, code=2)["error"]["message"]


def test_the_history_is_packed(root: Path, capsys: Captured) -> None:
    assert document_of(capsys, "log", "--pack")["loose_after"] == 0


def test_the_lessons_are_shown_together(root: Path, capsys: Captured) -> None:
    (root / "lessons.md").write_text("---\ntype: lessons\n---\n- Answer in one sentence.\n", "utf-8")
    shown = tell(capsys, "lessons")
    assert "Answer in one sentence." in shown and "what I believe you prefer" in shown
    assert list(document_of(capsys, "lessons")) == ["ok", "rules", "waiting", "beliefs", "reflections"]


def test_the_last_change_of_the_agent_is_taken_back_with_its_run(vault: Vault, capsys: Captured) -> None:
    root = vault.place.root
    edit(vault, "tea.md", "# Green tea\n", Stamp(run="01RUN"))
    edit(vault, "new.md", "new\n", Stamp(run="01RUN.call"))
    edit(vault, "mine.md", "Mine.\n", Stamp("human"))
    assert len(document_of(capsys, "undo", "--last")["undone"]) == 2
    assert (root / "tea.md").read_text("utf-8") == "# Tea\n" and not (root / "new.md").exists()
    assert (root / "mine.md").exists()
    again = document_of(capsys, "undo", "--last", code=2)["error"]
    assert "no change of the agent's" in again["message"]


@pytest.mark.parametrize("name", ["Rui Matos", "rui matos", "[[Rui Matos]]", "people/Rui Matos"])
def test_a_note_is_found_by_its_name_wherever_a_path_is_taken(root: Path, capsys: Captured, name: str) -> None:
    path = "people/Rui Matos.md"
    assert document_of(capsys, "get", name)["path"] == path
    assert document_of(capsys, "get", "--at", "HEAD", name)["path"] == path
    assert len(document_of(capsys, "log", name)["commits"]) == 1
    (root / path).write_text("# Rui\n\nA painter.\n", "utf-8")
    assert [each["path"] for each in document_of(capsys, "diff", "--path", name)["files"]] == [path]
    assert document_of(capsys, "trust", name)["note"] == path


def test_outside_of_a_vault_the_only_known_one_is_taken_and_named(
    root: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(capsys, "status")
    monkeypatch.chdir(tmp_path)
    note = f"you are outside of a vault; this is the only one known here: {root}\n"
    assert tell(capsys, "get", "tea") == f"# Tea\n{note}"
    for away in (["undo", "--last"], ["forget", "tea.md"]):
        assert str(root) in document_of(capsys, *away, code=2)["error"]["hint"], "what takes away is told where"
    (tmp_path / "two").mkdir()
    other = make_vault(tmp_path / "two", {"b.md": "b\n"}).place.root
    assert document_of(capsys, "--vault", str(other), "get", "b")["path"] == "b.md"
    error = document_of(capsys, "get", "tea", code=2)["error"]
    assert error["type"] == "NotAVault" and str(root) in error["hint"] and str(other) in error["hint"]
    monkeypatch.chdir(root)
    assert document_of(capsys, "get", "tea")["path"] == "tea.md"


def test_settings_outside_of_a_vault_are_those_of_all(
    root: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(capsys, "status")
    monkeypatch.chdir(tmp_path)
    document_of(capsys, "config", "set", "log.level", "error")
    assert "error" in (tmp_path / "home/config/config.yaml").read_text("utf-8")
