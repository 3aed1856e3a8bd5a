"""Our commits beside a person who uses git by hand."""

from pathlib import Path

import pytest

from agent.vault.change import Stamp
from agent.vault.options import Options
from agent.vault.store import open_vault
from tests.vaults import committed, git, head, make_vault, write

AGENT = Stamp("agent")


def test_a_staged_note_that_we_do_not_touch_is_left_exactly_as_it_is(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n", "b.md": "two\n"})
    root = vault.place.root
    write(root / "a.md", "one, staged\n")
    git(root, "add", "a.md")
    write(root / "a.md", "one, staged, and edited further\n")
    before = git(root, "diff", "--cached"), git(root, "diff")
    with vault.transaction("x", AGENT) as tx:
        tx.append("b.md", b"more")
    vault.commit_human()
    assert (git(root, "diff", "--cached"), git(root, "diff")) == before
    assert git(root, "show", "--name-only", "--format=", "HEAD").split() == ["b.md"]


def test_our_change_to_a_staged_note_goes_under_what_is_staged(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "top\n\nmiddle\n\nend\n"})
    root = vault.place.root
    write(root / "a.md", "top, staged\n\nmiddle\n\nend\n")
    git(root, "add", "a.md")
    staged = [
        line for line in git(root, "diff", "--cached", "-U0").splitlines() if line[:1] in "+-" and line[1:2] != line[:1]
    ]
    with vault.transaction("x", AGENT) as tx:
        tx.append("a.md", b"by the agent")
    assert committed(root, "a.md") == b"top\n\nmiddle\n\nend\nby the agent\n"
    after = [
        line for line in git(root, "diff", "--cached", "-U0").splitlines() if line[:1] in "+-" and line[1:2] != line[:1]
    ]
    assert after == staged == ["-top", "+top, staged"]
    assert git(root, "diff") == ""
    assert vault.read("a.md") == b"top, staged\n\nmiddle\n\nend\nby the agent\n"


def test_where_both_touch_the_same_lines_everything_of_the_person_s_goes_into_history_first(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "line\n"})
    root = vault.place.root
    write(root / "a.md", "line, staged only\n")
    git(root, "add", "a.md")
    write(root / "a.md", "line, in the file\n")
    with vault.transaction("x", AGENT) as tx:
        tx.edit("a.md", b"line, in the file\n", b"line, by the agent\n")
    contents = [committed(root, "a.md", f"HEAD~{n}") for n in range(4)]
    assert contents == [b"line, by the agent\n", b"line, in the file\n", b"line, staged only\n", b"line\n"]
    assert git(root, "log", "-3", "--format=%an").split() == ["vault-agent", "Anna", "Anna"]
    assert git(root, "status", "--porcelain") == ""


def test_the_person_s_next_commit_does_not_take_ours_back(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    root = vault.place.root
    with vault.transaction("x", AGENT) as tx:
        tx.create("b.md", b"two\n")
    write(root / "a.md", "one by hand\n")
    git(root, "add", "a.md")
    git(root, "commit", "-q", "-m", "by hand")
    assert committed(root, "b.md") == b"two\n"
    assert git(root, "show", "--name-only", "--format=").split() == ["a.md"]


@pytest.mark.parametrize("text", ["top by hand\n\nmiddle\n\nend\n"])
def test_with_human_commits_off_an_uncommitted_edit_stays_uncommitted(tmp_path: Path, text: str) -> None:
    made = make_vault(tmp_path, {"a.md": "top\n\nmiddle\n\nend\n"})
    root = made.place.root
    options = Options(durable=False, human_commits=False)
    vault = open_vault(root, tmp_path / "state", made.clock, options)
    write(root / "a.md", text)
    with vault.transaction("x", AGENT) as tx:
        tx.append("a.md", b"by the agent")
    assert tx.outcome.human is None
    assert committed(root, "a.md") == b"top\n\nmiddle\n\nend\nby the agent\n"
    assert [line for line in git(root, "diff", "-U0").splitlines() if line.startswith(("+t", "-t"))] == [
        "-top",
        "+top by hand",
    ]
    assert head(root) == tx.outcome.commit
