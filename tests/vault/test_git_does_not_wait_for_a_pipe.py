"""A pipe where git reads a file of rules would stop every command without a word."""

import os
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.vault.change import Stamp
from agent.vault.health.examine import repository
from agent.vault.health.probe import Level
from agent.vault.health.status import status
from agent.vault.options import Options
from agent.vault.store import Vault
from tests.vaults import git, head, make_vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """An index that is no younger than its files makes git read them again, and their rules first."""
    made = make_vault(tmp_path, {"notes/a.md": "one\n"}, options=Options(durable=False, timeout_seconds=2.0))
    os.utime(made.place.root / ".git/index", (1, 1))
    return made


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", "notes/.gitignore"])
def test_looking_says_what_git_waits_for(vault: Vault, name: str) -> None:
    os.mkfifo(vault.place.root / name)
    with pytest.raises(UserError, match=f"git waits for .*{name}, which is not a file"):
        status(vault)


def test_a_write_that_asks_git_says_so_and_changes_nothing(vault: Vault) -> None:
    root, before = vault.place.root, head(vault.place.root)
    git(root, "update-index", "--index-version", "4")  # a form that is left to git
    os.utime(root / ".git/index", (1, 1))
    os.mkfifo(root / ".gitattributes")
    with (
        pytest.raises(UserError, match="git waits for"),
        vault.transaction("notes: new", Stamp("agent")) as transaction,
    ):
        transaction.create("b.md", b"two\n")
    assert not (root / "b.md").exists()
    (root / ".gitattributes").unlink()
    assert head(root) == before
    assert status(vault).dirty == () and status(vault).unfinished == 0
    with vault.transaction("notes: new", Stamp("agent")) as transaction:
        transaction.create("b.md", b"two\n")
    assert transaction.outcome.commit


def test_a_write_for_which_git_reads_no_other_note_is_done(vault: Vault) -> None:
    """git reads again what was saved in the second in which it wrote its index."""
    for path in git(vault.place.root, "ls-files").split():
        os.utime(vault.place.root / path, (1_700_000_000, 1_700_000_000))
    git(vault.place.root, "update-index", "--refresh")
    os.mkfifo(vault.place.root / ".gitattributes")
    with vault.transaction("notes: new", Stamp("agent")) as transaction:
        transaction.create("b.md", b"two\n")
    assert transaction.outcome.commit == head(vault.place.root)


def test_doctor_names_every_one(vault: Vault) -> None:
    for name in (".gitattributes", "notes/.gitignore"):
        os.mkfifo(vault.place.root / name)
    bad = [check.what for check in repository(vault, fix=False) if check.level is Level.BAD and check.name == "pipe"]
    assert [what.partition(" is not")[0] for what in bad] == [
        str(vault.place.root / name) for name in (".gitattributes", "notes/.gitignore")
    ]
