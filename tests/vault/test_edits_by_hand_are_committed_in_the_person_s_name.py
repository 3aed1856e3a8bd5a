"""What `commit` and the daemon record of a person's own work."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config.masking import KnownSecrets
from agent.errors import MassChange
from agent.vault.change import Stamp
from agent.vault.worktree.survey import DirtyKind, dirty
from tests.fakes import FakeClock
from tests.vaults import FAST, committed, git, head, make_vault, write


def test_a_burst_is_one_commit_in_the_person_s_name(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n", "b.md": "two\n", "sub/c.md": "three\n"})
    root = vault.place.root
    write(root / "a.md", "one, edited\n")
    write(root / "new note.md", "新的笔记\n")
    (root / "b.md").unlink()
    (root / "sub/c.md").rename(root / "sub/renamed 中文.md")
    outcome = vault.commit_human()
    assert outcome.human == head(root)
    assert git(root, "log", "-1", "--format=%an <%ae>").strip() == "Anna <anna@example.org>"
    assert "Vault-Actor: human" in git(root, "log", "-1", "--format=%B")
    said = "human(notes): edited a, created new note, deleted b, 1 renamed"
    assert git(root, "log", "-1", "--format=%s").strip() == said
    assert git(root, "status", "--porcelain") == ""
    assert "R100" in git(root, "show", "-M", "--name-status", "--format=")


def test_a_name_in_the_environment_goes_before_the_configured_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ben <b>")
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    write(vault.place.root / "a.md", "two\n")
    vault.commit_human()
    assert git(vault.place.root, "log", "-1", "--format=%an <%ae>").strip() == "Ben b <anna@example.org>"


def test_a_rename_alone_is_called_one(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n"})
    (vault.place.root / "a.md").rename(vault.place.root / "b.md")
    vault.commit_human()
    assert git(vault.place.root, "log", "-1", "--format=%s").strip() == "human(notes): renamed a → b"


def test_a_note_that_is_moved_and_edited_is_called_moved(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"garden.md": "Beans.\n", "b.md": "b\n"})
    root = vault.place.root
    (root / "garden.md").unlink()
    write(root / "archive/garden.md", "Beans, and peas.\n")
    vault.commit_human()
    assert git(root, "log", "-1", "--format=%s").strip() == "human(notes): moved garden to archive"


def test_what_was_saved_before_the_agent_s_change_is_named(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": "one\n"})
    root = vault.place.root
    write(root / "plan.md", "one\ntwo\n")
    with vault.transaction("vault(write): plan", Stamp("agent")) as transaction:
        transaction.append("plan.md", b"three\n")
    assert git(root, "log", "-2", "--format=%an: %s").splitlines()[1] == "Anna: human(notes): edited plan"
    assert "Saved before the agent's change." in git(root, "log", "-1", "--format=%b", "HEAD~")


def test_in_a_chinese_vault_a_message_has_no_english_below_its_subject(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"plan.md": "一\n", "old.md": "旧\n"}, options=replace(FAST, language="zh"))
    root = vault.place.root
    write(root / "new.md", "新\n")
    (root / "old.md").unlink()
    vault.commit_human()
    assert git(root, "log", "-1", "--format=%b").startswith("- 删除：old.md\n- 新建：new.md\n")
    write(root / "plan.md", "一\n二\n")
    with vault.transaction("vault(write): plan", Stamp("agent")) as transaction:
        transaction.append("plan.md", "三\n".encode())
    assert git(root, "log", "-1", "--format=%b", "HEAD~").startswith("在助手改动之前先存下。")


@pytest.mark.parametrize("count", [3, 9, 60])
def test_the_names_fit_a_line_and_the_others_are_counted(tmp_path: Path, count: int) -> None:
    vault = make_vault(tmp_path)
    for number in range(count):
        write(vault.place.root / f"a note with a long name {number}.md", "x\n")
    vault.commit_human(confirmed=True)
    said = git(vault.place.root, "log", "-1", "--format=%s").strip()
    assert "a note with a long name 0" in said and len(said) <= 72
    assert said.endswith(f"and {count - 1} more")


MANY = """
import tracemalloc
from agent.vault.worktree.survey import DirtyKind
from agent.vault.write.commit_plan import edit_summary

kinds = {f"l{number % 40}/note number {number}.md": DirtyKind.EDITED for number in range(10_000)}
tracemalloc.start()
print(edit_summary(kinds, {}))
print(tracemalloc.get_traced_memory()[1])
"""
"""Run in a process of its own: what threads of earlier tests allocate meanwhile is not the subject's."""


def test_the_subject_of_very_many_notes_costs_no_more_than_their_list() -> None:
    out = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True).stdout
    said, most = out.splitlines()
    assert said == "human(notes): edited note number 0, note number 1 and 9998 more"
    assert int(most) < 5_000_000


def test_a_secret_in_a_note_s_name_is_in_no_subject(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, options=replace(FAST, known=KnownSecrets(("hunter2-hunter2",))))
    write(vault.place.root / "hunter2-hunter2.md", "x\n")
    with vault.transaction("vault(write)", Stamp("agent")) as transaction:
        transaction.append("hunter2-hunter2.md", b"y\n")
    assert "hunter2" not in git(vault.place.root, "log", "--format=%B")


def test_an_edit_in_the_same_instant_and_of_the_same_length_is_seen(tmp_path: Path) -> None:
    """git tells such an edit by the time of its index alone, so our copy of the index must keep that time."""
    vault = make_vault(tmp_path, {"a.md": "x = 1\n", "b.md": "b\n"})
    root = vault.place.root
    git(root, "config", "core.trustctime", "false")  # nobody can set a ctime, so git must not look at it here
    then = 1_600_000_000_000_000_000
    os.utime(root / "a.md", ns=(then, then))
    git(root, "update-index", "--refresh")
    os.utime(vault.place.gitdir / "index", ns=(then, then))
    (root / "a.md").write_bytes(b"x = 2\n")
    os.utime(root / "a.md", ns=(then, then))
    with vault.transaction("x", Stamp("agent")) as tx:
        tx.append("b.md", b"more")
    assert [item.path for item in dirty(vault.git, vault.place)] == ["a.md"]
    vault.commit_human()
    assert committed(root, "a.md") == b"x = 2\n"


def test_odd_names_links_and_programs_are_recorded_as_they_are(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    odd = os.fsencode(str(root)) + b"/caf\xe9 \n odd.md"
    Path(os.fsdecode(odd)).write_bytes(b"odd\n")
    (root / "link.md").symlink_to("/etc/hostname")
    write(root / "run.sh", "#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    write(root / "--force.md", "dashes\n")
    write(root / "empty.md", "")
    vault.commit_human()
    assert git(root, "status", "--porcelain") == ""
    listed = git(root, "ls-tree", "-r", "HEAD")
    assert "120000" in listed and "100755" in listed
    assert committed(root, "link.md") == b"/etc/hostname"
    assert git(root, "fsck", "--strict") == ""


def test_nothing_happens_until_the_burst_is_over(tmp_path: Path) -> None:
    clock = FakeClock()
    vault = make_vault(tmp_path, {"a.md": "one\n"}, clock=clock)
    path = vault.place.root / "a.md"
    write(path, "one, edited\n")
    changed = path.stat().st_ctime
    clock.advance(changed - clock.now().timestamp() + 3)
    assert vault.commit_human(quiet=True).human is None
    clock.advance(vault.options.quiet_seconds - 2)
    assert vault.commit_human(quiet=True).human == head(vault.place.root)


def test_ignored_and_temporary_files_are_nobody_s_edit(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {".gitignore": "*.swp\n"})
    write(vault.place.root / "a.md.swp", "x")
    write(vault.place.root / ".vault-agent-x-0", "x")
    assert dirty(vault.git, vault.place) == []
    assert vault.commit_human().human is None


def test_a_repository_inside_the_vault_is_left_alone(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    inner = vault.place.root / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    write(inner / "x.md", "x\n")
    write(vault.place.root / "a.md", "one\n")
    assert vault.commit_human().paths == ("a.md",)


def test_a_filtered_file_is_left_to_git(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {".gitattributes": "*.bin filter=lfs\n"})
    write(vault.place.root / "big.bin", "x")
    write(vault.place.root / "a.md", "one\n")
    assert vault.commit_human().paths == ("a.md",)
    assert [(item.path, item.kind) for item in dirty(vault.git, vault.place)] == [("big.bin", DirtyKind.CREATED)]


def test_a_vanished_vault_is_not_committed_unasked(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"n{number}.md": "text\n" for number in range(30)})
    before = head(vault.place.root)
    for path in vault.place.root.glob("n*.md"):
        path.unlink()
    with pytest.raises(MassChange, match="30 of"):
        vault.commit_human()
    assert head(vault.place.root) == before
    assert vault.commit_human(confirmed=True).human is not None


def test_moving_a_folder_is_no_mass_change(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"old/n{number}.md": f"text {number}\n" for number in range(40)})
    (vault.place.root / "old").rename(vault.place.root / "new")
    assert vault.commit_human().human is not None
    assert committed(vault.place.root, "new/n7.md") == b"text 7\n"
