"""`memory run`, `memory report`, `import` and `metrics`, as a person types them."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.events.runs import MemoryCaptured, Speaker, TaskCompleted
from agent.interfaces.cli.main import main
from agent.loop.records import Began
from agent.loop.session import begin_session
from agent.memory.capture.facts import CaptureConfig, RunTrace
from agent.memory.capture.writer import CaptureWorker, EntryWriter
from agent.memory.forgetting.tombstones import compose_tombstone, marks
from agent.metrics.collect import Collector
from agent.runs.diary import Diary
from agent.runs.recall_source import recall_source
from agent.runs.upkeep_jobs import Upkeeper
from agent.texts import Sentence
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.interfaces.cli.conftest import Run
from tests.vaults import git, write

DAY = 86_400


def finished(run: str = "r1", session: str = "") -> TaskCompleted:
    return TaskCompleted(
        run, session, "Plan the trip", Speaker("cli"), "finished", "By train.", ("search_vault",), 3.0, 2
    )


def test_upkeep_can_be_looked_at_and_run(root: Path, run: Run) -> None:
    for mark in "!.?;"[:3]:
        run("remember", f"The boat is blue{'.' if mark == '?' else mark}")
    dry = run("memory", "run", "--dry-run")
    assert dry["commit"] is None and dry["added"] == ["The boat is blue!"]
    done = run("memory", "run")
    assert done["counts"] == dry["counts"] and done["commit"]
    assert "The boat is blue" in (root / "MEMORY.md").read_text("utf-8")
    assert run("memory", "run")["commit"] is None
    report = run("memory", "report")
    assert (report["entries"], report["archived"], report["facts"]) == (1, 0, 1), "one entry, said three times"
    run("undo", str(done["commit"]))
    assert "The boat is blue" in (root / "MEMORY.md").read_text("utf-8") and run("memory", "report")["entries"] == 1


def test_a_person_reads_it_in_plain_words(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "run"]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert main(["memory", "report"]) == 0
    assert "entries: 0" in capsys.readouterr().out
    assert main(["remember", "The boat is blue."]) == main(["memory", "report"]) == 0
    assert "entries: 1 (remembered 1)" in capsys.readouterr().out


def test_a_folder_is_taken_in_once(root: Path, run: Run, tmp_path: Path) -> None:
    write(tmp_path / "old" / "0ujsswThIGTUYm2K8FjOOfXtY1K.md", "The boat is blue\n")
    write(tmp_path / "old" / "todo.md", "- milk\n")
    assert "--dry-run" in str(run("import", str(tmp_path / "old"), code=2)["error"])
    first = run("import", str(tmp_path / "old"), "--yes")
    assert first["run"] and first["left"] == [{"file": "todo.md", "reason": "unknown"}]
    again = run("import", str(tmp_path / "old"), "--from", "older-layout", "--yes")
    assert again["run"] is None and again["commits"] == []
    run("undo", "--run", str(first["run"]))
    assert not list((root / "entries").rglob("*.md"))


def test_the_preview_says_that_memories_of_the_older_layout_become_the_persons(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "old" / "0ujsswThIGTUYm2K8FjOOfXtY1K.md", "The boat is blue\n")
    assert main(["import", str(tmp_path / "old"), "--dry-run"]) == 0
    assert "your own words" in capsys.readouterr().out


def test_a_folder_with_the_vault_in_it_is_not_imported_into_it(root: Path, run: Run) -> None:
    write(root.parent / "logseq" / "config.edn", "{}")
    assert "the vault lies in" in str(run("import", str(root.parent), "--dry-run", code=2)["error"])


def test_metrics_are_counts(root: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    assert "nothing is counted yet" in capsys.readouterr().out
    workspace = open_workspace(root)
    Collector(workspace.metrics, workspace.clock).hear(finished())
    counted = run("metrics")
    assert counted["events"] == {"task.completed": 1} and counted["outcomes"] == {"finished": 1}
    assert main(["metrics", "--since", "today"]) == 0
    shown = capsys.readouterr().out
    assert "  finished  1\n" in shown and "task.completed" not in shown


def log(workspace: Workspace, event: TaskCompleted) -> Diary:
    """Have a run logged as it is when it is over; the diary."""
    diary = Diary(workspace)
    searches = recall_source(workspace, open_index(workspace))
    ways = CaptureConfig(workspace.settings.memory, workspace.clock, str, lambda: str)
    told: list[object] = []
    capturing = CaptureWorker(
        EntryWriter(workspace.vault, searches.near, "en"),
        ways,
        lambda path, run: RunTrace(),
        told.append,
        [diary.additions],
    )
    capturing.hear(event)
    capturing.close()
    searches.close()
    assert isinstance(told[0], MemoryCaptured) and not told[0].problem
    return diary


def test_a_run_is_logged_and_a_session_summed_up_and_each_can_be_undone(root: Path, run: Run) -> None:
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    log(workspace, finished("r1"))
    clock.advance(60)
    before = int(git(root, "rev-list", "--count", "HEAD"))
    diary = log(workspace, finished("r2", "sessions/2026/11/trip.md"))
    assert int(git(root, "rev-list", "--count", "HEAD")) == before + 1
    diary.summarise(clock.now().date())
    note = root / "daily/2026-11-21.md"
    assert "## 14:12 - Plan the trip" in note.read_text("utf-8") and "## 14:13" in note.read_text("utf-8")
    assert note.read_text("utf-8").count("[[sessions/2026/11/trip]]") == 1
    run("undo", "--run", "r1")
    assert "## 14:12" not in note.read_text("utf-8") and "## 14:13" in note.read_text("utf-8")


def test_words_in_a_logged_conversation_that_ask_for_nothing_are_not_logged(root: Path) -> None:
    workspace = open_workspace(root, clock=FakeClock())
    talk = replace(finished("r1", "sessions/2026/11/talk.md"), task="Where is Lyon?", tools=())
    log(workspace, talk)
    for number, task in enumerate(("Thanks, understood", "cheers. night", "明白了，好的", "I liked it there")):
        log(workspace, replace(talk, run=f"r2{number}", task=task))
    log(workspace, replace(talk, run="r2", task="thanks, can you also look at the roof?"))
    log(workspace, replace(talk, run="r3", task="Note it down", tools=("vault_write",)))
    log(workspace, replace(talk, run="r4", task="And all of it", outcome="limit"))
    log(workspace, replace(talk, run="r5", task="What else?", session="sessions/2026/11/another.md"))
    said = [line for line in (root / "daily/2026-11-21.md").read_text("utf-8").splitlines() if line.startswith("### ")]
    told = [line.partition(" - ")[2] for line in said]
    also = "thanks, can you also look at the roof?"
    assert told == ["Where is Lyon?", also, "Note it down", "And all of it", "What else?"]


def test_a_persons_own_daily_note_is_only_added_to(root: Path) -> None:
    write(root / "daily/2026-11-21.md", "# Mine\n\nslept badly")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "mine")
    diary = log(open_workspace(root, clock=FakeClock()), finished())
    diary.summarise(FakeClock().now().date())
    assert (root / "daily/2026-11-21.md").read_text("utf-8").startswith("# Mine\n\nslept badly\n")


def test_a_strangers_words_do_not_come_into_the_daily_note(root: Path) -> None:
    write(root / "sessions/2026/11/s.md", '%% vault-agent: taint {"at": "x", "source": "https://example.org"} %%\n')
    log(open_workspace(root, clock=FakeClock()), finished(session="sessions/2026/11/s.md"))
    assert "By train" not in (root / "daily/2026-11-21.md").read_text("utf-8")


def test_upkeep_is_due_once_a_day_and_when_a_day_has_many_entries(
    root: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LIFECYCLE_ENTRIES", "2")
    clock = FakeClock()
    upkeeper = Upkeeper(open_workspace(root, clock=clock))
    assert upkeeper.run_when_due() is not None
    assert upkeeper.run_when_due() is None
    for number in range(2):
        write(root / f"entries/2026/11/2026-11-21-thing-{number}.md", "x\n")
    assert upkeeper.run_when_due() is not None
    assert upkeeper.run_when_due() is None
    clock.advance(DAY)
    assert upkeeper.run_when_due() is not None


def test_upkeep_that_is_switched_off_is_never_due(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LIFECYCLE", "false")
    monkeypatch.setenv("VAULT_AGENT_MEMORY__LONG_TERM", "false")
    assert Upkeeper(open_workspace(root, clock=FakeClock())).run_when_due() is None


def test_what_is_forgotten_and_what_a_guest_asked_for_is_not_in_the_log(root: Path) -> None:
    workspace = open_workspace(root, clock=FakeClock())
    path, stone = compose_tombstone(marks("The spare key is with Ana"), workspace.clock.new_id(), workspace.clock.now())
    write(root / path, stone.decode())
    log(
        workspace,
        replace(finished(), task="The spare key is with Ana", answer="The spare key is with Ana. Rain is coming."),
    )
    session = begin_session(workspace.vault, "lark", "Tell me the PIN")
    session.add(Began("r2", "Tell me the PIN", "lark", "bo", role="guest"))
    session.save(Sentence("session: begin"))
    log(workspace, replace(finished("r2", session.path), task="Tell me the PIN", answer="The PIN is 4417."))
    text = (root / "daily/2026-11-21.md").read_text("utf-8")
    assert "spare key" not in text and "Rain is coming." in text
    assert "PIN" not in text and "## 14:12 - A guest asked for something" in text
