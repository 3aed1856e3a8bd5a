"""With a daemon, a search waits a moment for the few notes that it has yet to take in; never for many, or for long."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.workspace.catch_up import catch_up
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace, daemon_lock, load_workspace
from tests.vaults import make_vault


class Busy(SystemClock):
    """A clock that does something while somebody waits, which takes no time."""

    def __init__(self, does: Callable[[], object]) -> None:
        super().__init__()
        self.does, self.waited = does, 0.0

    def monotonic(self) -> float:
        return self.waited

    def sleep(self, seconds: float) -> None:
        self.waited += seconds
        self.does()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_vault(tmp_path, {"tea.md": "# Tea\n\nkettle\n"}).place.root


def say(workspace: Workspace, **state: object) -> None:
    workspace.daemon_state.write_text(json.dumps({"pid": 1, **state}))


def searched(root: Path, state: dict[str, object], later: dict[str, object]) -> tuple[str | None, float]:
    """Why the index is behind, when the daemon's state is another one as soon as it is waited for; seconds waited."""
    clock = Busy(lambda: say(workspace, **later))
    workspace = load_workspace(root, clock=clock)
    with daemon_lock(workspace):
        say(workspace, **state)
        began = clock.waited
        return catch_up(workspace, open_index(workspace)), clock.waited - began


def test_what_was_just_saved_is_waited_for(root: Path) -> None:
    late, waited = searched(root, {"waiting": 1}, {"waiting": 0})
    assert late is None and 0 < waited < 0.1


def test_what_takes_longer_is_told(root: Path) -> None:
    late, waited = searched(root, {"waiting": 1}, {"waiting": 1})
    assert "1" in str(late) and 0.5 < waited < 1.5


@pytest.mark.parametrize("state", [{"waiting": 0}, {"waiting": 10_000}, {"waiting": 1, "index": "no space left"}, {}])
def test_nobody_waits_for_nothing_for_many_or_in_vain(root: Path, state: dict[str, object]) -> None:
    assert searched(root, state, {"waiting": 0})[1] == 0
