"""`obsidian install` lays the plugin in one commit after a yes, and nothing outside of its folder."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from agent.deeds.obsidian import FOLDER
from tests.interfaces.cli.conftest import Run
from tests.vaults import git

FILES = [f"{FOLDER}/{name}" for name in ("main.js", "manifest.json", "styles.css")]


@pytest.fixture
def obsidian(root: Path) -> Path:
    """The vault, once Obsidian has opened it."""
    (root / ".obsidian").mkdir()
    (root / ".obsidian/app.json").write_text("{}")
    return root


def test_the_plugin_is_one_commit_and_undo_takes_it_back(run: Run, obsidian: Path) -> None:
    assert run("obsidian", "install", "--dry-run")["files"] == FILES
    assert not (obsidian / FOLDER).exists()
    done = run("obsidian", "install", "--yes")
    assert done["files"] == FILES and "vault-agent" in (obsidian / FOLDER / "manifest.json").read_text()
    assert git(obsidian, "show", "--format=", "--name-only", str(done["commit"])).split() == FILES
    assert run("obsidian", "install")["files"] == [], "it lies there already, so nothing is asked"
    run("undo", str(done["commit"]))
    assert not (obsidian / FOLDER / "main.js").exists() and (obsidian / ".obsidian/app.json").exists()


def test_an_older_version_becomes_the_new_one(run: Run, obsidian: Path) -> None:
    run("obsidian", "install", "--yes")
    (obsidian / FOLDER / "main.js").write_text("old")
    assert run("obsidian", "install", "--yes")["files"] == [FILES[0]]
    assert len((obsidian / FOLDER / "main.js").read_text()) > 1_000


def test_nobody_is_asked_without_a_terminal(run: Run, obsidian: Path) -> None:
    error = run("obsidian", "install", code=2)["error"]
    assert isinstance(error, dict) and "--yes" in error["hint"]
    assert not (obsidian / FOLDER).exists()


def test_where_git_ignores_obsidians_folder_the_plugin_is_laid_all_the_same(run: Run, obsidian: Path) -> None:
    (obsidian / ".gitignore").write_text(".obsidian/\n")
    run("obsidian", "install", "--yes")
    assert (obsidian / FOLDER / "main.js").exists()


def test_a_folder_that_leads_out_of_the_vault_is_not_followed(run: Run, obsidian: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (obsidian / ".obsidian/plugins").symlink_to(elsewhere)
    error = run("obsidian", "install", "--yes", code=2)["error"]
    assert isinstance(error, dict) and "link" in error["message"]
    assert list(elsewhere.iterdir()) == []


def test_a_folder_of_notes_that_obsidian_has_not_opened_is_left(run: Run, root: Path) -> None:
    error = run("obsidian", "install", "--yes", code=2)["error"]
    assert isinstance(error, dict) and "Obsidian" in error["hint"]


def test_a_zip_has_the_same_files(run: Run, root: Path, tmp_path: Path) -> None:
    packed = tmp_path / "plugin.zip"
    run("obsidian", "install", "--zip", str(packed))
    with ZipFile(packed) as file:
        assert file.namelist() == ["vault-agent/main.js", "vault-agent/manifest.json", "vault-agent/styles.css"]
    run("obsidian", "install", "--zip", str(packed), code=2)


def test_pairing_says_what_is_missing(run: Run, root: Path) -> None:
    error = run("obsidian", "pair", code=2)["error"]
    assert isinstance(error, dict) and "vault-agent serve" in error["hint"]
