"""A use is judged by facts: how the run ended, a ticked box, or what the person changed in what it wrote."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.growth.lessons.lesson import words_mark
from agent.growth.lessons.lesson_note import load_lessons
from agent.growth.lessons.uses import load_runs, uses_of
from tests.growth.lessons.desk import HEAD
from tests.stories.agents import call, document, furnish, only, script, settings, tell
from tests.vaults import write

ID = words_mark("Answer in one sentence.", "")
ROW = f"- Answer in one sentence. · on probation ^l-{ID}\n"
BOX = f"[[lessons#^l-{ID}|Answer in one sentence]]: "


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = furnish(tmp_path, monkeypatch.setenv)
    write(made / "lessons.md", HEAD + ROW)
    open_workspace(made).vault.commit_human()
    return made


def own(tmp_path: Path, *replies: object) -> dict[str, str]:
    return settings(tmp_path, script(tmp_path / "script.json", *replies))


def opinions(root: Path) -> list[str]:
    vault = open_workspace(root).vault
    (rule,) = load_lessons(vault)
    return [use.opinion for use in uses_of(load_runs(vault)).get(rule.words, ())]


def listed(root: Path, own: dict[str, str]) -> dict[str, object]:
    (rule,) = document(root, own, "rules", "list")["rules"]
    return dict(rule)


def ticks(root: Path, opinion: str = "helpful") -> None:
    """The person ticks the box of the rule in all notes of runs."""
    for note in (root / "sessions").rglob("*.md"):
        write(note, note.read_text().replace(f"- [ ] {BOX}{opinion}", f"- [x] {BOX}{opinion}"))


def test_a_finished_run_alone_is_no_success(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, "One.")
    tell(root, machine, "ask", "Count the teas")
    rule = listed(root, machine)
    assert rule["path"] == "lessons.md" and rule["id"] == ID and rule["status"] == "probation"
    assert (rule["uses"], rule["successes"], rule["evidence"]) == (0, 0, [])
    ticks(root)
    document(root, machine, "rules", "learn")
    assert (listed(root, machine)["uses"], listed(root, machine)["successes"]) == (1, 1)


def test_a_run_without_a_model_is_no_use(root: Path, tmp_path: Path) -> None:
    machine = {**settings(tmp_path), "VAULT_AGENT_LLM__WIRE": "offline"}
    tell(root, machine, "ask", "Count the teas")
    assert listed(root, machine)["uses"] == 0
    assert ": helpful" not in only(sorted((root / "sessions").rglob("*.md"))).read_text()


def test_a_run_whose_model_does_not_answer_says_nothing_of_a_rule(root: Path, tmp_path: Path) -> None:
    closed = {"LLM__WIRE": "openai", "LLM__BASE_URL": "http://127.0.0.1:9/v1", "LLM__MODEL": "m", "LLM__API_KEY": "k"}
    machine = settings(tmp_path) | {f"VAULT_AGENT_{key}": value for key, value in closed.items()}
    machine["VAULT_AGENT_LLM__RETRIES"] = "0"
    document(root, machine, "ask", "Count the teas", code=2)
    assert listed(root, machine)["uses"] == 0


def test_a_box_counts_without_a_daemon(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, "One.", "Two.")
    tell(root, machine, "ask", "Count the teas")
    ticks(root, "not helpful")
    document(root, machine, "rules", "learn")
    assert opinions(root) == ["not_helpful"]
    assert listed(root, machine)["successes"] == 0
    document(root, machine, "rules", "learn")
    assert opinions(root) == ["not_helpful"]


def test_a_correction_of_what_the_run_wrote_counts(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, call("vault_write", path="list.md", content="# List\n\n- green\n"), "Done.")
    tell(root, machine, "ask", "Make a list of teas")
    write(root / "list.md", "# List\n\n- black\n")
    open_workspace(root).vault.commit_human()
    document(root, machine, "rules", "learn")
    assert opinions(root) == ["corrected"] and listed(root, machine)["successes"] == 0


def test_adding_to_what_the_run_wrote_says_nothing_of_a_rule(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, call("vault_write", path="list.md", content="# List\n\n- green\n"), "Done.")
    tell(root, machine, "ask", "Make a list of teas")
    write(root / "list.md", "# List\n\n- green\n- black\n")
    open_workspace(root).vault.commit_human()
    document(root, machine, "rules", "learn")
    assert opinions(root) == [""]


def test_eight_runs_with_which_the_person_was_content_let_it_pass(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, *["One."] * 8)
    tell(root, machine, "ask", "Count the teas")  # it was written by hand, and is noted in the log
    for number in range(8):
        tell(root, machine, "ask", f"Count the cups of day {number}")
    assert listed(root, machine)["status"] == "probation", "nobody has said anything"
    ticks(root)
    document(root, machine, "rules", "learn")
    assert listed(root, machine)["status"] == "active"
    assert "| active | agent |" in (root / "lessons/log.md").read_text()


def test_nothing_is_learned_while_growth_is_off_and_what_was_learned_stays_in_use(root: Path, tmp_path: Path) -> None:
    machine = {**own(tmp_path, *["One."] * 8), "VAULT_AGENT_GROWTH__ENABLED": "false"}
    for number in range(7):
        tell(root, machine, "ask", f"Count the cups of day {number}")
    assert listed(root, machine)["status"] == "probation" and not (root / "lessons/log.md").exists()
    error = document(root, machine, "rules", "learn", code=2)["error"]
    assert "switched off" in error["message"] and "growth.enabled true" in error["hint"]


def test_a_rule_is_shown_set_aside_and_brought_back_by_commands(root: Path, tmp_path: Path) -> None:
    machine = own(tmp_path, "One.")
    assert (
        document(root, machine, "rules", "deprecate", "one sentence", "--reason", "too short")["rule"]["status"]
        == "deprecated"
    )
    assert "too short" in tell(root, machine, "rules", "show", ID)
    assert document(root, machine, "rules", "restore", ID)["rule"]["status"] == "active"
    shown = document(root, machine, "rules", "show", f"^l-{ID}")["rule"]
    assert [row["event"] for row in shown["log"]] == ["probation", "deprecated", "active"] and shown["yours"] is True
    assert f"{ID}  active" in tell(root, machine, "rules")
    assert "no lesson x1" in document(root, machine, "rules", "show", "x1", code=2)["error"]["message"]


def test_a_vault_without_rules_says_how_to_write_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)
    assert "write one into lessons.md" in tell(root, own(tmp_path), "rules")
    listed = document(root, own(tmp_path), "rules", "list")
    assert listed == {"ok": True, "rules": [], "waiting": [], "beliefs": [], "reflections": []}
