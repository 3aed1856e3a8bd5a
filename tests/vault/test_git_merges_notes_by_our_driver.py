"""git merges notes by our driver in every command that merges, and is as it was where the program is gone."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.app.setup import hook_program
from agent.errors import UserError
from agent.markdown.note import Note
from agent.vault.folders import AT_ROOT, AgentFolder, is_log
from agent.vault.health.trust import executables
from agent.vault.merge_driver import merge_files
from agent.vault.merge_driver_setup import driver, install, is_ours, offer, remove
from agent.vault.store import Vault
from tests.vaults import git, make_vault, write

NOTE = "my notes/计划 'a' note.md"
BASE = "---\ntags:\n  - a\n---\n- [ ] milk\n- [ ] eggs\n"
OURS = "---\ntags:\n  - a\n  - mine\n---\n- [x] milk\n- [ ] eggs\n- [ ] bread\n"
THEIRS = "---\ntags:\n  - a\n  - theirs\n---\n- [ ] oat milk\n- [ ] eggs\n- [ ] tea\n"
MERGED = "---\ntags:\n  - a\n  - mine\n  - theirs\n---\n- [x] oat milk\n- [ ] eggs\n- [ ] bread\n- [ ] tea\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault in a folder with a space, with our driver."""
    made = make_vault(tmp_path / "a folder", {NOTE: BASE})
    assert install(made, hook_program()) == ""
    return made


def two_branches(root: Path, ours: str, theirs: str) -> None:
    """Commits of two versions of the note: `ours` on main, `theirs` on the branch other."""
    git(root, "checkout", "-q", "-b", "other")
    write(root / NOTE, theirs)
    git(root, "commit", "-qam", "theirs")
    git(root, "checkout", "-q", "main")
    write(root / NOTE, ours)
    git(root, "commit", "-qam", "ours")


def by_merge(root: Path, ours: str, theirs: str) -> None:
    two_branches(root, ours, theirs)
    git(root, "merge", "-q", "-m", "merge", "other")


def by_rebase(root: Path, ours: str, theirs: str) -> None:
    two_branches(root, ours, theirs)
    git(root, "rebase", "-q", "other")


def by_cherry_pick(root: Path, ours: str, theirs: str) -> None:
    two_branches(root, ours, theirs)
    git(root, "cherry-pick", "other")


def by_stash(root: Path, ours: str, theirs: str) -> None:
    write(root / NOTE, theirs)
    git(root, "stash")
    write(root / NOTE, ours)
    git(root, "commit", "-qam", "ours")
    git(root, "stash", "pop", "-q")


WAYS = [by_merge, by_rebase, by_cherry_pick, by_stash]
Way = Callable[[Path, str, str], None]


@pytest.mark.parametrize("way", WAYS)
def test_both_sides_are_in_the_note(vault: Vault, way: Way) -> None:
    way(vault.place.root, OURS, THEIRS)
    assert (vault.place.root / NOTE).read_text("utf-8") == MERGED
    assert "??" not in git(vault.place.root, "status", "--porcelain", "--untracked-files=all")


@pytest.mark.parametrize("way", WAYS)
def test_a_contradiction_leaves_a_copy_beside_the_note(vault: Vault, way: Way) -> None:
    root = vault.place.root
    way(root, BASE.replace("milk", "oat milk"), BASE.replace("milk", "soy milk"))
    copies = list((root / "my notes").glob("*(conflict *).md"))
    assert len(copies) == 1
    note, copy = Note.parse((root / NOTE).read_bytes()), Note.parse(copies[0].read_bytes())
    assert {"oat" in note.body, "oat" in copy.body} == {"soy" in note.body, "soy" in copy.body} == {True, False}
    assert "<<<<<<<" not in note.text
    assert note.strings("conflicts") == (f"[[{copies[0].relative_to(root).as_posix().removesuffix('.md')}]]",)
    assert copy.string("conflict_of") == f"[[{NOTE.removesuffix('.md')}]]"
    assert f"?? {copies[0].relative_to(root).as_posix()}" in git(
        root, "-c", "core.quotePath=false", "status", "--porcelain", "--untracked-files=all"
    ).replace('"', "")


def test_two_machines_come_to_the_same_note_and_copy(tmp_path: Path) -> None:
    found = []
    for name, (ours, theirs) in {"one": ("oat", "soy"), "two": ("soy", "oat")}.items():
        vault = make_vault(tmp_path / name, {NOTE: BASE})
        assert install(vault, hook_program()) == ""
        by_merge(vault.place.root, *(BASE.replace("milk", f"{kind} milk") for kind in (ours, theirs)))
        found.append({path.name: path.read_bytes() for path in (vault.place.root / "my notes").iterdir()})
    assert found[0] == found[1]


def test_a_clone_without_a_vault_is_merged_too(tmp_path: Path, vault: Vault) -> None:
    program = hook_program()
    assert program is not None
    root = tmp_path / "plain"
    subprocess.run(["git", "clone", "-q", vault.place.root, root], check=True)
    (root / "vault-agent.yaml").unlink(missing_ok=True)
    git(root, "config", "merge.vault-agent.driver", driver(program))
    write(root / ".git/info/attributes", "*.md merge=vault-agent\n")
    by_merge(root, OURS, THEIRS)
    assert (root / NOTE).read_text("utf-8") == MERGED


def test_without_the_program_git_merges_as_always(vault: Vault) -> None:
    root = vault.place.root
    git(root, "config", "merge.vault-agent.driver", driver(Path("/nowhere/a % folder/vault-agent")))
    two_branches(root, f"{BASE}- [ ] bread\n", BASE.replace("tags:", "aliases: [x]\ntags:"))
    git(root, "merge", "-q", "-m", "merge", "other")
    assert (root / NOTE).read_text("utf-8") == f"{BASE}- [ ] bread\n".replace("tags:", "aliases: [x]\ntags:")


def test_without_the_program_a_conflict_has_git_s_markers(vault: Vault) -> None:
    root = vault.place.root
    git(root, "config", "merge.vault-agent.driver", driver(Path("/nowhere/vault-agent")))
    two_branches(root, OURS, THEIRS)
    git(root, "merge", "-q", "-m", "merge", "other", check=False)
    text = (root / NOTE).read_text("utf-8")
    assert "<<<<<<<" in text and "oat milk" in text and "bread" in text
    assert git(root, "diff", "--name-only", "--diff-filter=U")


def test_a_driver_without_a_fallback_would_hide_the_other_side(vault: Vault) -> None:
    """The reason for the second half of the configured line."""
    root = vault.place.root
    git(root, "config", "merge.vault-agent.driver", "/nowhere/vault-agent merge-driver -- %O %A %B %P")
    two_branches(root, OURS, THEIRS)
    git(root, "merge", "-q", "-m", "merge", "other", check=False)
    assert (root / NOTE).read_text("utf-8") == OURS


def merges_by(vault: Vault) -> str:
    """What git merges a note by."""
    return git(vault.place.root, "check-attr", "merge", "--", "a.md").split()[-1]


def test_it_is_offered_installed_once_and_taken_out(tmp_path: Path) -> None:
    vault, program = make_vault(tmp_path, {"a.md": "a\n"}), hook_program()
    attributes = vault.place.gitdir / "info/attributes"
    write(attributes, "*.png binary")
    config = (vault.place.gitdir / "config").read_bytes()
    assert offer(vault, program).settings[1] == ("merge.vault-agent.driver", driver(program or Path()))
    assert (vault.place.gitdir / "config").read_bytes() == config
    assert merges_by(vault) == "unspecified"
    for _ in range(2):
        assert install(vault, program) == ""
    assert merges_by(vault) == "vault-agent"
    assert attributes.read_text().count("merge=vault-agent") == 1
    remove(vault)
    assert merges_by(vault) == "unspecified"
    assert attributes.read_text() == "*.png binary\n"
    assert (vault.place.gitdir / "config").read_bytes() == config


def test_a_person_s_own_driver_stays(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {".gitattributes": "*.md merge=union\n"})
    assert "union" in str(install(vault, hook_program()))
    assert not (vault.place.gitdir / "info/attributes").exists()


def test_without_a_program_nothing_is_configured(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {})
    assert install(vault, None)
    assert "merge" not in (vault.place.gitdir / "config").read_text()


def test_our_driver_is_no_danger_and_another_under_its_name_is(vault: Vault) -> None:
    program = hook_program()

    def dangers() -> list[str]:
        return [each.key for each in executables(vault.git, vault.place) if not is_ours(vault, each, program)]

    assert not any("merge" in key for key in dangers())
    git(vault.place.root, "config", "merge.vault-agent.driver", "touch x")
    assert "merge.vault-agent.driver" in dangers()


def test_our_own_git_calls_work_with_the_driver(vault: Vault) -> None:
    write(vault.place.root / NOTE, OURS)
    outcome = vault.commit_human(confirmed=True)
    assert outcome.human
    write(vault.place.root / NOTE, THEIRS)
    assert [item.path for item in vault.changed_files()] == [NOTE]
    assert vault.git.run("diff", "--stat", "HEAD", drivers_off=True)


@pytest.mark.parametrize("folder", ["", "Agent"])
def test_a_daily_note_of_two_machines_is_one(tmp_path: Path, folder: str) -> None:
    root = tmp_path / "repository"
    vault = root / "sub"
    (root / ".git").mkdir(parents=True)
    write(vault / "vault-agent.yaml", f"vault:\n  folder: {folder or '/'}\n")
    parts = {"base": "", "ours": "# 21\n\n- 10:00 tea\n- 12:00 rain\n", "theirs": "# 22\n\n- 11:00 post\n"}
    for name, text in parts.items():
        write(tmp_path / name, text)
    path = f"sub/{folder}/daily/2026-11-21.md".replace("//", "/")
    files = [tmp_path / name for name in parts]
    assert merge_files(files[0], files[1], files[2], path, root) is None
    assert set(parts["ours"].split("\n") + parts["theirs"].split("\n")) <= set(files[1].read_text("utf-8").split("\n"))


def test_logs_are_known_by_their_folder() -> None:
    home = AgentFolder("Agent/")
    for name in ("daily/x.md", "skills/history/x.md", "jobs/history/x.md", "sessions/2026/11/x.md"):
        assert is_log(name, AT_ROOT) and is_log(f"Agent/{name}", home) and not is_log(name, home)
    assert is_log("profile/_changelog.md", AT_ROOT)
    assert not is_log("profile/00-basic-info.md", AT_ROOT) and not is_log("jobs/x.md", AT_ROOT)


def test_no_copy_is_written_through_a_link_or_without_a_work_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "repository"
    root.mkdir()
    (root / "notes").symlink_to(outside)
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for file, text in zip(files, ("milk\n", "oat milk\n", "soy milk\n"), strict=True):
        write(file, text)
    with pytest.raises(UserError):
        merge_files(files[0], files[1], files[2], "x.md", root)
    (root / ".git").mkdir()
    with pytest.raises(UserError):
        merge_files(files[0], files[1], files[2], "notes/x.md", root)
    assert files[1].read_text() == "oat milk\n" and not list(outside.iterdir())
