"""The trust tests notice: each planted bug makes the very checks fail that guard against it."""

import shutil
from pathlib import Path

import pytest

from agent.vault.change import Stamp
from tests.daemon.house import furnish
from tests.trust import checks, company, outside, races, wipes
from tests.trust.calls import check_order, record
from tests.trust.crash import crash
from tests.trust.faults import Fault
from tests.trust.honesty import check as check_honest
from tests.trust.links import check_links
from tests.trust.plants import plant
from tests.vaults import git, make_vault

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


@needs_strace
@pytest.mark.parametrize("thing", ["temporary file", "journal", "folder"])
def test_a_skipped_flush_is_caught(tmp_path: Path, thing: str) -> None:
    root, calls = record(tmp_path, f"the {thing} is not flushed")
    with pytest.raises(AssertionError, match=f"the {thing} is flushed"):
        check_order(root, calls)


def test_a_lost_journal_line_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        crash(tmp_path, 60, "plant", "the journal line is lost")


def test_a_record_left_behind_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("a dead run's record is left behind", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="record"):
        crash(tmp_path, 60, "plant")


def test_a_record_taken_for_an_edit_is_caught(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="in a person's name"):
        crash(tmp_path, 60, "plant", "a record is taken for a person's edit")


def test_a_skipped_compare_and_swap_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("no compare-and-swap", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="commits of the neighbour are gone"):
        company.beside(tmp_path, 60, "plumber")


def test_a_forgotten_shared_index_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("the shared index is forgotten", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="not clean"):
        company.beside(tmp_path, 3)


def test_a_forgotten_shared_index_lets_the_next_commit_of_a_person_take_ours_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path, {"note.md": "old\n"})
    root = vault.place.root
    plant("the shared index is forgotten", monkeypatch.setattr)
    with vault.transaction("agent: one", Stamp("agent", "r1")) as change:
        change.append("note.md", b"agent line\n")
    assert change.outcome.commit
    git(root, "commit", "-q", "--allow-empty", "-m", "a person's next commit")
    with pytest.raises(AssertionError, match="in a person's name"):
        checks.check_attribution(root)


def test_an_exchange_that_is_not_looked_at_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("what came out of the exchange is not looked at", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="saves are lost"):
        for attempt in range(5):  # on a quick machine the saves of one race may all miss the exchange
            races.race(tmp_path / str(attempt), "replace", 150, "plant")


def test_not_waiting_for_programs_that_still_write_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant("programs that still write are not waited for", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="the slow save is lost"):
        races.save_slowly(tmp_path)


def test_a_followed_link_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_links(tmp_path / "sound")
    plant("links are followed", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="outside the vault"):
        check_links(tmp_path / "planted")


def test_a_branch_that_was_not_moved_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_honest(tmp_path / "sound", Fault("nothing")) == "committed"
    plant("the branch is not moved", monkeypatch.setattr)
    with pytest.raises(AssertionError):
        check_honest(tmp_path / "planted", Fault("nothing"))


@pytest.mark.parametrize("kind", wipes.WIPES)
def test_a_brake_that_is_off_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    plant("the brake is off", monkeypatch.setattr)
    with pytest.raises(AssertionError, match="propagated"):
        wipes.check(tmp_path, wipes.Scenario(kind, 60, 21))


@pytest.mark.parametrize("bug", ["an overflow is ignored", "a deletion is skipped"])
def test_a_change_that_is_not_noticed_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    plant(bug, monkeypatch.setattr)
    with pytest.raises(AssertionError, match="the index has what is on disk"):
        outside.check_overflow(tmp_path, seconds=4)
