"""A repository with SHA-256 ids keeps every promise: a part of the suite always, all of it at full size.

TEST_OBJECT_FORMAT=sha256 pytest tests/trust        the CI sizes by hand
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.git.object_ids import has_id
from agent.vault.change import Stamp
from agent.vault.listing import contents
from tests.daemon.house import furnish
from tests.trust import company, outside, races, wipes
from tests.trust.convergence import Killer, live
from tests.trust.crash import crash
from tests.trust.faults import Fault
from tests.trust.forks import PROJECT
from tests.trust.honesty import check as check_honest
from tests.trust.plants import plant
from tests.vaults import FORMAT, committed, git, make_vault, write


@pytest.fixture(autouse=True)
def _sha256(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORMAT, "sha256")


def test_kills_at_random_moments(tmp_path: Path) -> None:
    assert crash(tmp_path, 3, "sha256").kills == 3


def test_nothing_is_said_that_is_not_true(tmp_path: Path) -> None:
    assert check_honest(tmp_path, Fault("nothing")) == "committed"


@pytest.mark.parametrize("kind", wipes.WIPES)
def test_no_wipe_goes_through_unasked(tmp_path: Path, kind: str) -> None:
    wipes.check(tmp_path, wipes.Scenario(kind, 60, 21))


def test_saves_that_race_are_kept(tmp_path: Path) -> None:
    races.race(tmp_path, "replace", 20, "sha256")


def test_three_clones_converge(tmp_path: Path) -> None:
    killer = Killer()
    try:
        live(tmp_path / "clones", 1, killer)
    finally:
        killer.close()


def test_beside_another_committer(tmp_path: Path) -> None:
    company.beside(tmp_path, 4)


def test_changes_from_outside_are_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    outside.check_overflow(tmp_path)


def test_a_deletion_by_hand_and_one_of_ours_are_committed(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n", "b.md": "b\n", "c.md": "c\n"})
    root = vault.place.root
    (root / "a.md").unlink()
    write(root / "b.md", "b\nmy line\n")
    assert vault.commit_human().human
    with vault.transaction("agent: delete", Stamp("agent", "r1")) as change:
        change.delete("c.md")
    assert change.outcome.commit
    assert [committed(root, path) for path in ("a.md", "b.md", "c.md")] == [None, b"b\nmy line\n", None]
    assert git(root, "status", "--porcelain") == ""


def test_one_content_has_one_id_for_git_the_list_of_notes_and_the_journal(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"same.md": "same\n", "edited.md": "old\n"})
    root = vault.place.root
    write(root / "edited.md", "new\n")
    git_says = git(root, "hash-object", "same.md", "edited.md").split()
    assert contents(vault) == dict(zip(("same.md", "edited.md"), git_says, strict=True))
    with vault.transaction("agent: write", Stamp("agent", "r1")) as change:
        change.create("ours.md", b"ours\n")
    assert ("ours.md", git(root, "hash-object", "ours.md").strip()) in vault.writer.journal.written()


def test_what_a_pull_has_brought_is_known_as_such(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"note.md": "mine\n"})
    root = vault.place.root
    vault.provenance.look()
    git(tmp_path, "clone", "-q", str(root), "theirs")
    write(tmp_path / "theirs" / "note.md", "theirs\n")
    git(tmp_path / "theirs", "commit", "-q", "-a", "-m", "theirs")
    git(root, "pull", "-q", str(tmp_path / "theirs"), "main")
    assert vault.provenance.arrived("note.md", vault.git.blob_id(b"theirs\n"))


def test_ids_of_the_wrong_width_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("every id has 40 digits", monkeypatch.setattr)
    with pytest.raises(AssertionError):
        test_one_content_has_one_id_for_git_the_list_of_notes_and_the_journal(tmp_path)


def test_an_id_is_compared_in_its_own_width() -> None:
    assert has_id(b"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    assert has_id(b"", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813")
    assert has_id(None, None) and not has_id(b"", None) and not has_id(None, "0" * 64) and not has_id(b"x", "0" * 40)


@pytest.mark.chaos
def test_the_whole_suite(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-x", "tests/trust", f"--basetemp={tmp_path / 'all'}"]
    done = subprocess.run(command, cwd=PROJECT, env={**os.environ, FORMAT: "sha256"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
