"""Cache, state and config are private to their owner, whatever the umask; older installations are tightened."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.config.private import make_folder, own_folder, replace, touch, write
from agent.vault.change import Stamp
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.fakes import FakeClock
from tests.vaults import make_vault
from tests.vaults import write as write_note

NOBODY = "65534"


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def loose(root: Path) -> list[str]:
    """Everything below a folder, and the folder, that somebody else than its owner may use."""
    return sorted(f"{mode(path):o} {path}" for path in [root, *root.rglob("*")] if mode(path) & 0o077)


def test_all_that_is_made_is_private_under_any_umask(umask: int, tmp_path: Path) -> None:
    make_folder(tmp_path / "a/b/c")
    write(tmp_path / "a/one", b"1")
    write(tmp_path / "a/one", b"2")
    replace(tmp_path / "a/two", "text \ud800")
    touch(tmp_path / "a/three")
    assert loose(tmp_path / "a") == []
    assert ((tmp_path / "a/one").read_bytes(), (tmp_path / "a/two").read_bytes()) == (b"2", b"text ?")
    assert not [path for path in (tmp_path / "a").iterdir() if path.suffix == ".new"]


def test_a_folder_that_is_there_is_tightened_only_on_purpose(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    make_folder(tmp_path / "open")
    assert mode(tmp_path / "open") == 0o755
    own_folder(tmp_path / "open")
    assert mode(tmp_path / "open") == 0o700
    own_folder(tmp_path / "new/one")
    assert loose(tmp_path / "new") == []


def lived_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    make_vault(tmp_path, {"a.md": "PRIVATEZEBRA line\n"})
    workspace = open_workspace(tmp_path / "vault", clock=FakeClock())
    with closing(open_index(workspace)) as index:
        index.refresh()
        write_note(tmp_path / "vault/b.md", "more\n")
        index.refresh()
        index.search("zebra", 3)
        with workspace.vault.transaction("a note", Stamp()) as change:
            change.create("c.md", b"text\n")
    return workspace


def test_an_index_and_a_journal_are_private_under_any_umask(
    umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = lived_in(tmp_path, monkeypatch)
    assert loose(tmp_path / "home") == []
    assert (workspace.cache / "index/notes.db").is_file() and workspace.vault.writer.journal.path.is_file()
    assert mode(tmp_path / "vault/c.md") == 0o666 & ~umask, "a note has the modes that the person's umask says"


def test_an_older_installation_is_tightened_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = lived_in(tmp_path, monkeypatch)
    (tmp_path / "home/config").mkdir()
    folders = [tmp_path / "home" / name for name in ("cache", "state", "config")]
    for folder in folders:
        folder.chmod(0o755)
    workspace.vault.writer.layout.folder.chmod(0o755)
    open_workspace(tmp_path / "vault")
    assert [mode(folder) for folder in (*folders, workspace.vault.writer.layout.folder)] == [0o700] * 4


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="only root can be somebody else")
def test_another_user_reads_nothing_of_a_closed_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lived_in(tmp_path, monkeypatch)
    (tmp_path / "vault").chmod(0o700)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.name.startswith(("pytest-", "test_")):
            folder.chmod(0o755)
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "grep", "-ral", "PRIVATEZEBRA"]
    found = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert found.stdout == "", "another user reads the notes"
    assert "Permission denied" in found.stderr
