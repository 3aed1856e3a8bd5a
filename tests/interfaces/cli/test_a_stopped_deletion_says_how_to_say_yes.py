"""A deletion of many notes is stopped; terminal, status, today's note and the model say how to say yes."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.background.human_edits import HumanEdits
from agent.background.remote_sync import deletion_notice
from agent.clock import SystemClock
from agent.errors import MassChange
from agent.events.bus import Bus
from agent.events.notices import NoticeRaised
from agent.events.types import EditsStopped
from agent.interfaces.cli.main import main
from agent.llm.messages import never
from agent.vault.change import Stamp
from agent.workspace.workspace import daemon_lock
from tests.fakes import FakeClock
from tests.interfaces.cli.conftest import Run
from tests.vaults import git, head, write

NAMES = [f"many/{number:02d}.md" for number in range(30)]


@pytest.fixture(autouse=True)
def _many(root: Path, run: Run) -> None:
    for name in NAMES:
        write(root / name, f"what {name} says\n")
    run("commit")


def test_the_terminal_the_daemons_status_and_todays_note_name_the_command(
    root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        (root / name).unlink()
    before = head(root)
    assert main(["commit"]) == 2
    said = capsys.readouterr().err
    assert "what changed on disk would delete or empty 30 of" in said and "nothing was committed" in said
    assert "many/00.md, many/01.md, many/02.md and 27 more" in said
    assert "vault-agent commit --yes" in said and "git restore" in said

    workspace = open_workspace(root, clock=FakeClock(SystemClock().now() + timedelta(minutes=1)))
    bus = Bus(workspace.clock)
    outbox = open_outbox(workspace)

    def stopped(event: EditsStopped) -> None:
        bus.publish(deletion_notice(event, "en"))

    def take(event: NoticeRaised) -> None:
        outbox.take(replace(event, urgent=True))

    bus.subscribe(stopped, EditsStopped, name="edits", timeout=None)
    bus.subscribe(take, NoticeRaised, name="notices", timeout=None)
    edits = HumanEdits(workspace.vault, workspace.clock, 0.0, 1000.0, bus.publish)
    edits.turn(0.0)
    edits.turn(2000.0)
    HumanEdits(workspace.vault, workspace.clock, 0.0, 1000.0, bus.publish).turn(0.0)  # the daemon after a restart
    bus.close()
    outbox.deliver(never)
    (day,) = [path.read_text("utf-8") for path in (root / "daily").glob("2*.md")]
    assert day.count("30 notes are deleted or empty") == 1 == day.count("vault-agent commit --yes")
    assert git(root, "log", "--format=%an %s", f"{before}..").splitlines() == ["vault-agent memory(daily): a notice"]
    before = head(root)
    with daemon_lock(workspace):
        workspace.daemon_state.write_text(json.dumps({"pid": 1, "files": 2, "problem": edits.problem}))
        assert main(["status"]) == 0
    line = next(row for row in capsys.readouterr().out.splitlines() if row.startswith("problem  "))
    assert "30 of" in line and "vault-agent commit --yes" in line

    assert head(root) == before
    run("commit", "--yes")
    assert git(root, "status", "--porcelain") == ""


def test_the_model_of_a_run_hears_what_a_person_can_do(root: Path) -> None:
    vault = open_workspace(root).vault
    with pytest.raises(MassChange) as raised, vault.transaction("vault(delete): many", Stamp("agent", "r1")) as change:
        for name in NAMES:
            change.delete(name)
    assert raised.value.message.startswith("this run would delete or empty 30 of 32 notes")
    assert "a person's yes" in raised.value.message and "brake.notes" in raised.value.message
    assert "vault-agent config set brake.notes" in raised.value.hint and (root / NAMES[0]).exists()


def test_a_command_is_repeated_with_yes(root: Path, run: Run) -> None:
    error = run("undo", head(root), code=2)["error"]
    assert isinstance(error, dict) and "this command would delete or empty 30 of" in error["message"]
    assert "--yes" in error["hint"]
    run("undo", head(root), "--yes")
    assert not (root / NAMES[0]).exists()
