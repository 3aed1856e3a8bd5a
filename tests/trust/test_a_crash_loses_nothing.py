"""Promise 1: `kill -9` at any moment loses no acknowledged change, leaves none half done, and needs no manual step."""

from pathlib import Path

import pytest

from agent.vault.change import Stamp
from tests.trust import checks
from tests.trust.crash import crash
from tests.vaults import git, head, make_vault, write


@pytest.mark.parametrize("kills", [16, pytest.param(1000, marks=pytest.mark.chaos)])
def test_kills_at_random_moments(tmp_path: Path, kills: int) -> None:
    total = crash(tmp_path, kills, "crash")
    assert total.kills == kills
    assert total.cut > kills // 3, "too few kills came in the middle of a change"
    assert 0 < total.finished_later < total.cut, "the kills did not come before and after the commit"


class Cut(BaseException):
    """Stands for the end of the process: nothing in the product may catch it."""


def test_a_note_that_a_person_saves_after_the_crash_keeps_what_they_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path, {"note.md": "# note\n\nold\n"})
    root, before = vault.place.root, head(vault.place.root)

    def cut(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as plant:
        plant.setattr("agent.git.commit.Committer._move_head", cut)
        with pytest.raises(Cut), vault.transaction("agent: a line", Stamp("agent", "r1")) as change:
            change.append("note.md", b"agent r1\n")
    assert head(root) == before
    write(root / "note.md", "# note\n\nold\nhuman line\n")
    with vault.transaction("agent: another", Stamp("agent", "r2")) as change:
        change.create("other.md", b"agent r2\n")
    assert change.outcome.commit
    vault.commit_human()
    assert "human line" in (root / "note.md").read_text()
    assert b"human line" in checks.reachable_lines(root)
    checks.check_sound(root)
    assert git(root, "status", "--porcelain") == ""
    ours = git(root, "log", "-p", "--format=", "--author=vault-agent", "-U0")
    assert "human line" not in ours, "a person's words are in a commit of the agent's"


@pytest.mark.parametrize("step", ["_store", "_move_head"])
def test_what_a_person_saved_is_not_left_staged_by_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    vault = make_vault(tmp_path, {"note.md": "old\n"})
    root = vault.place.root
    write(root / "note.md", "human line\n")
    write(root / "new.md", "human note\n")

    def cut(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as plant:
        plant.setattr(f"agent.git.commit.Committer.{step}", cut)
        with pytest.raises(Cut):
            vault.commit_human()
    (root / ".git" / "refs" / "heads" / "main.lock").write_bytes(b"")
    if step == "_store":
        (root / ".git" / "refs" / "heads" / "main.lock").unlink()
    assert vault.commit_human().human
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "log", "--format=%an", "-1").strip() == "Anna"
    checks.check_sound(root)
