"""A power failure can leave HEAD or its branch without a commit: that is said, and doctor names what mends it."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.git.repository import branch
from agent.interfaces.cli.main import main
from agent.vault.change import Stamp
from agent.vault.health.examine import repository
from agent.vault.health.probe import Level
from agent.vault.history.find import commits
from agent.vault.store import Vault
from tests.vaults import git, head, make_vault

DAMAGE: dict[str, Callable[[Path], object]] = {
    "an empty file": lambda file: file.write_bytes(b""),
    "zeros": lambda file: file.write_bytes(b"\0" * 41),
    "other text": lambda file: file.write_text("hello\n"),
}


def mended(vault: Vault) -> str:
    """What doctor says of HEAD, as one command."""
    (found,) = [each for each in repository(vault, fix=False) if each.name == "HEAD" and each.level is Level.BAD]
    subprocess.run(["sh", "-c", str(found.next)], check=True)
    return str(found.next)


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_branch_is_named_and_mended(tmp_path: Path, how: str) -> None:
    vault = make_vault(tmp_path, {"plan.md": "one\n"})
    git(vault.place.root, "commit", "-q", "--allow-empty", "-m", "one more")  # with a row in git's log
    before, name = head(vault.place.root), branch(vault.place.gitdir)
    assert name is not None
    DAMAGE[how](vault.place.gitdir / name)

    for ask in (lambda: vault.head, lambda: commits(vault)):
        with pytest.raises(UserError, match="is damaged") as said:
            ask()
        assert "doctor" in said.value.hint
    with pytest.raises(UserError), vault.transaction("write(notes): tea", Stamp("agent", tool="t")) as change:
        change.create("tea.md", b"green\n")

    assert mended(vault).startswith(f"echo {before}")
    assert vault.head == before and len(commits(vault)) == 2


def test_a_damaged_head_is_not_a_detached_one(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": "one\n"})
    before = head(vault.place.root)
    (vault.place.gitdir / "HEAD").write_text("garbage\n")

    with pytest.raises(UserError, match="is damaged"):
        commits(vault)
    with vault.transaction("write(notes): tea", Stamp("agent", tool="t")) as change:
        change.create("tea.md", b"green\n")
    assert "damaged" in str(change.outcome.queued) and "detached" not in str(change.outcome.queued)

    mended(vault)
    assert vault.head == before


def test_a_repository_without_a_commit_is_not_damaged(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    git(vault.place.root, "switch", "-q", "--orphan", "new")
    assert vault.head is None and commits(vault) == []


def test_damaged_objects_say_how_a_new_history_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path, {"plan.md": "one\n"})
    for file in (vault.place.gitdir / "objects").glob("??/*"):
        file.chmod(0o644)
        file.write_bytes(b"garbage")
    (found,) = [each for each in repository(vault, fix=False) if each.name == "objects"]
    assert found.level is Level.BAD and "vault-agent init ." in found.details[-1]
    assert not [line for line in found.details if "core.fsync" in line]

    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    (vault.place.root / ".git").rename(tmp_path / "damaged.git")
    assert main(["init", str(vault.place.root), "-y"]) == 0
    assert git(vault.place.root, "show", "HEAD:plan.md") == "one\n"
