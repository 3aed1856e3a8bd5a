"""What a command in the terminal has to tell goes out at its end where no daemon runs, or it says that it waits."""

from pathlib import Path

import pytest

from agent.app.notice_ledger import open_ledger
from agent.app.open import open_workspace
from agent.attention.receipt import NoticeReceipt
from agent.interfaces.cli import main as program
from tests.attention.rigs.telegram import telegram
from tests.daemon.test_messages_are_answered_where_they_came_from import configured
from tests.jobs.town import job
from tests.stories.agents import furnish, script
from tests.vaults import write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", "Good morning."))
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-24T12:00")
    write(root / "jobs/morning.md", job(channel="mail"))
    return root


def run(root: Path, *words: str) -> int:
    return program.main(["--vault", str(root), *words])


def notices(root: Path) -> tuple[NoticeReceipt, ...]:
    return open_ledger(open_workspace(root)).all()


def daily(root: Path) -> str:
    return "".join(each.read_text("utf-8") for each in (root / "daily").glob("*.md"))


def test_the_answer_of_a_job_that_was_run_by_hand_goes_out_at_once(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, "jobs", "run", "morning") == 0
    (told,) = notices(root)
    assert told.proof.startswith("daily/") and "Good morning." in daily(root)
    assert "wait" not in capsys.readouterr().err
    assert run(root, "notices", "list") == 0
    assert [each.tries for each in notices(root)] == [1]


def test_what_is_held_in_quiet_hours_is_said_to_wait(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-24T23:00")
    write(root / "jobs/morning.md", job("{every: 6h}", channel="mail"))  # at no hour of its person's choice
    assert run(root, "jobs", "run", "morning") == 0
    (told,) = notices(root)
    assert told.decision.rule == "quiet"
    assert "1 notice waits: vault-agent daemon sends it" in capsys.readouterr().err
    assert run(root, "jobs", "run", "morning", "--json") == 0
    assert "wait" not in capsys.readouterr().err


def test_a_channel_that_hangs_does_not_hold_the_terminal_up(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with telegram() as (server, bot):
        for key, value in configured(server).items():
            monkeypatch.setenv(key, value)
        monkeypatch.setattr("agent.interfaces.cli.notices_at_end.SECONDS", 3.0)
        server.faults.append("silent")
        assert run(root, "jobs", "run", "morning") == 0
        assert "1 notice waits" in capsys.readouterr().err
        (told,) = notices(root)
        assert told.is_undelivered and told.channel == "telegram" and told.has_begun
        assert not bot.sent
        assert run(root, "notify", "The kettle is on", "--urgent") == 0
    assert ["Perhaps" in each.text or "perhaps" in each.text for each in bot.sent] == [True, False]
