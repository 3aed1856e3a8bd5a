"""A run that waits for a person goes on by itself when they have decided in the note, and never otherwise."""

import os
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.loop.outcome import RunOutcome
from agent.loop.session import load_session
from agent.runs.registry import RunMark, run_registry
from agent.vault.change import Stamp
from tests.daemon.house import BRISK, House, living
from tests.daemon.process import end, environment, run, wait_for, watching
from tests.stories.agents import call, furnish, only, script, ticked
from tests.vaults import git

CHANGE = call("vault_write", path="AGENT.md", content="# Obey\n")
ASK = call("human_ask", question="Which tea?", options=["green", "black"])


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault whose agent wants to change AGENT.md, then asks something, then writes a note."""
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    said = script(tmp_path / "script.json", CHANGE, ASK, call("vault_append", path="log.md", text="went on"), "Done.")
    return furnish(tmp_path, monkeypatch.setenv, said)


def asked(root: Path, folder: str) -> Path:
    """The one note in which something waits."""
    return only([path for path in (root / folder).glob("*.md") if "About" not in path.name])


def tick(path: Path, box: str) -> None:
    """Tick a box with an editor."""
    path.write_text(ticked(path.read_text("utf-8"), box), "utf-8")


def is_idle(house: House) -> bool:
    """Whether no run goes on."""
    return not house.working


def test_a_tick_and_an_answer_take_the_run_to_its_end(root: Path) -> None:
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "change"]) == 0
        house.for_a_while(1.0)
        house.until(lambda: is_idle(house), "what our own writes set off is over")
        assert not (root / "questions").exists(), "our own writes started a run"
        tick(asked(root, "approvals"), "approve")
        house.until(lambda: (root / "questions").exists() and is_idle(house), "the run went on to its question")
        assert (root / "AGENT.md").read_text() == "# Obey\n"
        tick(asked(root, "questions"), "black")
        house.until(lambda: (root / "log.md").exists() and is_idle(house), "the run went on to its end")
        assert (root / "log.md").read_text() == "went on\n"
        assert not any(house.parts.table.problems().values())
    session = load_session(
        house.workspace.vault, only(list((root / "sessions").rglob("*.md"))).relative_to(root).as_posix()
    )
    assert session.open_run is None and not session.open_calls
    assert not list(run_registry(house.workspace.vault).all())


def test_a_no_is_told_to_the_model(root: Path) -> None:
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "change"]) == 0
        tick(asked(root, "approvals"), "reject")
        house.until(lambda: (root / "questions").exists() and is_idle(house), "the run went on to its question")
        assert "Be brief" in (root / "AGENT.md").read_text()


def test_what_was_decided_while_no_daemon_was_there_goes_on_when_one_comes(root: Path) -> None:
    assert main(["--vault", str(root), "ask", "change"]) == 0
    tick(asked(root, "approvals"), "approve")
    with living(root) as house:
        house.until(lambda: (root / "questions").exists() and is_idle(house), "the run went on to its question")


def test_a_decision_by_command_is_left_to_the_daemon(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "change"]) == 0
        path = asked(root, "approvals").relative_to(root).as_posix()
        assert main(["--vault", str(root), "approvals", "yes", path]) == 0
        assert "the daemon goes on" in capsys.readouterr().out
        house.until(lambda: (root / "questions").exists() and is_idle(house), "the run went on to its question")


def test_a_session_that_somebody_else_has_changed_is_left_to_the_person(root: Path) -> None:
    with living(root) as house:
        assert main(["--vault", str(root), "ask", "change"]) == 0
        session = only(list((root / "sessions").rglob("*.md")))
        session.write_text(session.read_text().replace("# Obey", "# Obey strangers"))
        tick(asked(root, "approvals"), "approve")
        house.for_a_while(2.0)
        house.until(lambda: is_idle(house), "what the tick set off is over")
        assert not (root / "questions").exists()
    assert main(["--vault", str(root), "ask", "--resume", session.relative_to(root).as_posix()]) == 0
    assert "Be brief" in (root / "AGENT.md").read_text(), "a call that a stranger wrote was carried out"


def test_notes_that_came_from_elsewhere_start_nothing(root: Path, tmp_path: Path) -> None:
    assert main(["--vault", str(root), "ask", "change"]) == 0
    tick(asked(root, "approvals"), "approve")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "decided")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    with living(clone) as house:
        house.for_a_while(2.0)
        house.until(lambda: is_idle(house), "what begins with the daemon is over")
    assert "Be brief" in (clone / "AGENT.md").read_text()


def test_a_run_that_was_cut_off_is_closed_when_the_daemon_starts(root: Path) -> None:
    assert main(["--vault", str(root), "ask", "change"]) == 0
    workspace = open_workspace(root)
    (mark,) = run_registry(workspace.vault).all()
    run_registry(workspace.vault).put(RunMark(mark.id, mark.session, mark.run))
    note = root / mark.session
    data = note.read_bytes()
    head = data[: data.rindex(b"%% vault-agent: end")]
    with workspace.vault.transaction("test", Stamp("agent")) as change:
        change.edit(mark.session, data, head)
    with living(root):
        began = load_session(workspace.vault, mark.session).open_run
        assert began is not None and began.run == mark.run
    assert RunOutcome.INTERRUPTED in note.read_text() and not list(run_registry(workspace.vault).all())


def test_a_daemon_that_is_told_to_stop_stops_its_runs_which_can_go_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    slow = {**call("vault_append", path="log.md", text="slowly"), "seconds": 600}
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", CHANGE, slow, "Done."))
    own = {key: value for key, value in os.environ.items() if key.startswith("VAULT_AGENT_")}
    env = environment(tmp_path / "home", own)
    with watching(root, env) as process:
        asked_for = run(root, env, "ask", "change")
        tick(asked(root, "approvals"), "approve")
        wait_for(process, lambda: "Obey" in (root / "AGENT.md").read_text(), "the run went on")
        code, seconds = end(process)
        assert code == 0 and seconds < 6
    session = load_session(open_workspace(root).vault, str(asked_for["session"]))
    assert session.open_run is not None and "Run interrupted" in (root / str(asked_for["session"])).read_text()
    script(tmp_path / "script.json", CHANGE, {**slow, "seconds": 0}, "Done.")
    ended = run(root, env, "ask", "--resume", session.path)
    assert ended["answer"] == "Done." and (root / "log.md").read_text() == "slowly\n"
