"""What a person orders is said to wait until it is carried out, and the next order is never taken for the last one."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.background.pool import Pool
from agent.background.presence import Presence
from agent.background.presence_files import give_order, order_waits, state_of
from agent.workspace.workspace import Workspace
from tests.stories.agents import furnish


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    return open_workspace(furnish(tmp_path, monkeypatch.setenv))


def state(workspace: Workspace) -> str:
    found = state_of(workspace.vault)
    return found.state if found else ""


def test_whoever_waits_for_an_order_sees_what_it_did(workspace: Workspace) -> None:
    waited: list[bool] = []
    presence = Presence(workspace, Pool(workspace.clock), lambda _: waited.append(order_waits(workspace.vault)))
    presence.start(None)
    give_order(workspace.vault, "wake", "tea is ready")
    waited.clear()
    presence.turn(0.0)
    assert waited and all(waited)
    assert not order_waits(workspace.vault) and state(workspace) == "awake"


def test_an_order_that_comes_while_another_is_carried_out_is_the_next(workspace: Workspace) -> None:
    def change_of_mind(_: object) -> None:
        if state(workspace) == "awake":
            give_order(workspace.vault, "sleep", "it was nothing")

    presence = Presence(workspace, Pool(workspace.clock), change_of_mind)
    presence.start(None)
    give_order(workspace.vault, "wake", "tea is ready")
    presence.turn(0.0)
    assert order_waits(workspace.vault) and state(workspace) == "awake"
    presence.turn(0.0)
    assert not order_waits(workspace.vault) and state(workspace) == "sleeping"


def test_an_order_of_before_the_start_counts_no_more(workspace: Workspace) -> None:
    give_order(workspace.vault, "wake", "yesterday")
    presence = Presence(workspace, Pool(workspace.clock), lambda _: None)
    presence.start(None)
    presence.turn(0.0)
    assert not order_waits(workspace.vault) and state(workspace) == "sleeping"
