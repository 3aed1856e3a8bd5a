"""Where a daemon is at work it answers the searches of programs, with the same hits and no process beside it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.daemon import Daemon, Live
from agent.errors import ToolFailed
from agent.interfaces.cli.served import own_routes
from agent.interfaces.http.serving import doors_of
from agent.interfaces.mcp.searches import Searches
from agent.tools.tool import RunContext
from agent.vault.find import files_named
from agent.workspace.workspace import Workspace
from tests.interfaces.cli.test_the_daemon_answers import NOTES
from tests.stories.agents import settings
from tests.vaults import make_vault, write

WHO = RunContext("run", "", channel="mcp:claude-code")


@contextmanager
def daemon(workspace: Workspace) -> Iterator[Live]:
    with Daemon(workspace).live() as live, doors_of(live, own_routes(live)):
        for _ in range(5):
            live.turn(0.1)
        yield live


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name, value in settings(tmp_path).items():
        monkeypatch.setenv(name, value)
    return open_workspace(make_vault(tmp_path, NOTES).place.root)


def test_the_hits_are_the_same(workspace: Workspace) -> None:
    there, here = Searches(workspace), Searches(workspace, is_daemon_asked=False)
    with ExitStack() as stack:
        stack.callback(here.close)
        stack.callback(there.close)
        stack.enter_context(daemon(workspace))
        for words in ("tea", "green leaves", "nothing-like-this", "path:deep tea", "oats"):
            found, own = there.search(words, 5), here.search(words, 5)
            assert found.hits == own.hits and found.degraded == own.degraded
            assert there.remembered(words, 5, WHO) == here.remembered(words, 5, WHO)
        assert there.running is None and here.running is not None


def test_it_knows_the_files_beside_notes_that_git_would_list(workspace: Workspace) -> None:
    root, searches = workspace.vault.place.root, Searches(workspace)
    write(root / ".gitignore", "drafts/\n")
    write(root / "vault-agent.yaml", "vault:\n  private: secret\n")
    names = ("Pictures/Tea Cup.png", "drafts/tea.png", ".cache/tea.png", "secret/tea.png", "Tea.md", "coffee.png")
    for name in names:
        write(root / name, "…")
    with daemon(workspace) as live:
        assert searches.search("tea", 5).files == ("Pictures/Tea Cup.png",)
        (root / names[0]).unlink()
        write(root / "deep" / "cup of tea.canvas", "{}")
        turns = 0
        while not (found := searches.search("tea cup", 5).files) and (turns := turns + 1) < 50:
            live.turn(0.1)
        assert found == tuple(files_named(workspace.vault, "tea cup")) == ("deep/cup of tea.canvas",)
    assert searches.search("tea", 5).files is None
    searches.close()


def test_a_daemon_that_comes_and_goes_is_noticed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    searches = Searches(workspace)
    try:
        first = searches.search("tea", 5).hits
        assert first and searches.running is not None
        searches.close()
        with daemon(workspace):
            assert [each.path for each in searches.search("tea", 5).hits] == [each.path for each in first]
            assert searches.running is None
            for name, value in {"VAULT_AGENT_INDEX__KEYWORD": "whoosh", "TZ": "Asia/Tokyo"}.items():
                with monkeypatch.context() as patch:
                    patch.setitem(os.environ, name, value)
                    searches.search("tea", 5)
                    assert searches.running is not None, name
                    searches.close()
        assert searches.search("tea", 5).hits and searches.running is not None
    finally:
        searches.close()


def test_a_search_that_cannot_be_is_said_as_ever(workspace: Workspace) -> None:
    said = list[str]()
    for searches in (Searches(workspace), Searches(workspace, is_daemon_asked=False)):
        with daemon(workspace), pytest.raises(ToolFailed) as caught:
            searches.search("after:someday tea", 5)
        said.append(repr(caught.value))
        searches.close()
    assert said[0] == said[1]
