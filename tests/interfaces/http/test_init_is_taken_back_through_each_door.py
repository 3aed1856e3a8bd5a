"""An undo of the commit that made a vault lets git forget what it was told of it, also over HTTP and from a page."""

from pathlib import Path

import httpx
import pytest

from agent.app.open import open_workspace
from agent.daemon import Daemon
from agent.interfaces.cli.main import main
from agent.interfaces.http.door.browsers import load_token
from agent.interfaces.http.door.port import PortRequest
from agent.interfaces.http.serving import doors_of
from tests.index.fakes import FAKE
from tests.interfaces.http.doors import BRISK, NO_STORE
from tests.stories.agents import settings
from tests.vaults import git, head, lay_repository, write


def told(root: Path) -> dict[str, bytes]:
    """What git was told of the repository."""
    parts = (root / ".git/config", *(root / ".git/info").glob("*"), *(root / ".git/hooks").glob("*"))
    return {str(path): path.read_bytes() for path in parts if path.is_file()}


@pytest.mark.parametrize("door", ["/api/v1/undo", "/today/undo"])
def test_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    for key, value in {**settings(tmp_path), **BRISK}.items():
        monkeypatch.setenv(key, value)
    root = tmp_path / "notes"
    root.mkdir()
    lay_repository(root)
    write(root / "tea.md", "# Tea\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "tea")
    before = told(root)
    assert main(["init", str(root), "--yes", "--hooks"]) == 0
    made = head(root)
    assert told(root) != before
    with Daemon(open_workspace(root)).live(FAKE) as live, doors_of(live) as doors:
        port = doors.open(PortRequest(0))
        headers = {"Authorization": f"Bearer {load_token(live.workspace)}"}
        with httpx.Client(base_url=port.url, headers=headers, timeout=60, verify=NO_STORE) as client:
            sent = {"json": {"commits": [made]}} if door.startswith("/api") else {"data": {"what": made}}
            response = client.post(door, **sent)
            assert response.status_code < 400, response.text[:2_000]
    assert told(root) == before
    assert sorted(path.name for path in root.iterdir()) == [".git", "tea.md"]
