"""The name of a vault in a shared database: its first commit, also after its history was joined or written anew."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.workspace.shared_place import shared_database
from tests.vaults import git, make_vault, write


def name_of(root: Path) -> str:
    """The name as one process has it."""
    return shared_database(open_workspace(root)).vault


def test_two_vaults_that_are_joined_have_one_name_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULT_AGENT_DATABASE__URL", "host=nowhere")
    one, other = (make_vault(tmp_path / name, {f"{name}.md": name}).place.root for name in ("one", "other"))
    names = {name_of(one), name_of(other)}
    assert len(names) == 2
    git(one, "fetch", "-q", str(other), "HEAD")
    git(one, "merge", "-q", "--allow-unrelated-histories", "--no-edit", "FETCH_HEAD")
    git(other, "pull", "-q", "--ff-only", str(one), "HEAD")
    assert name_of(one) == name_of(other) == min(names)
    write(one / "more.md", "more")
    git(one, "add", "-A")
    git(one, "commit", "-q", "-m", "more")
    assert name_of(one) == min(names)
    git(one, "checkout", "-q", "--orphan", "anew")
    git(one, "commit", "-q", "-m", "written anew")
    git(one, "reflog", "expire", "--expire=now", "--all")
    git(one, "branch", "-D", "main")
    git(one, "gc", "-q", "--prune=now")
    assert name_of(one) == git(one, "rev-parse", "HEAD").strip()
