"""Notices in the day's note lie in the agent's folder, wherever in the vault that is."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.app.notices import open_outbox
from agent.app.open import open_workspace
from agent.background.remote_sync import deletion_notice, sync_notice
from agent.events.notices import NoticeRaised
from agent.events.types import EditsStopped
from agent.llm.messages import never
from agent.texts import Sentence
from agent.vault.sync.state import SyncedRemote
from tests.fakes import FakeClock
from tests.stories.agents import furnish

NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("folder", ["", "Agent/"])
def test_a_notice_is_written_into_the_agents_day_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    root = furnish(tmp_path, monkeypatch.setenv, under=folder)
    workspace = open_workspace(root, clock=FakeClock(NOON))
    outbox = open_outbox(workspace)

    def publish(event: object) -> None:
        assert isinstance(event, NoticeRaised)
        outbox.take(replace(event, urgent=True))

    publish(deletion_notice(EditsStopped(("one.md", "two.md")), "en"))
    trouble = SyncedRemote("origin", "/x", "main").failed(Sentence("it is away"), Sentence(""), NOON, is_passing=True)
    publish(sync_notice(trouble, "en"))
    outbox.deliver(never)
    (day,) = root.rglob("2026-11-23.md")
    assert day == root / folder / "daily/2026-11-23.md"
    said = day.read_text("utf-8")
    assert "2 notes are deleted or empty" in said
    assert "it is away" in said
