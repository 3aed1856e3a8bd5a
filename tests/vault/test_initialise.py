"""A folder becomes a vault: whatever was there stays as it was, and nothing of a person's is swept into our commit."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.config.resources import resource
from agent.errors import AgentError, NotAVault, UserError
from agent.vault.folders import AT_ROOT
from agent.vault.hooks import install
from agent.vault.initialise import Initialised, initialise
from agent.vault.template import laid_first, read_template
from tests.vaults import FAST, committed, git, head, write

TEMPLATE = {"AGENT.md": b"# Agent\n", "MEMORY.md": b"# Memory\n", "vault-agent.yaml": b"vault: {language: en}\n"}
IGNORE = b"# Noise.\n.obsidian/workspace*.json\n.trash/\n*~\n"
HOOKS = {"pre-commit": b"#!/bin/sh\nprogram='vault-agent'\nexit 0\n"}


def make(root: Path, *, restore: bool = False, state: Path | None = None, below: str = "") -> Initialised:
    template = TEMPLATE | ({f"{below}Welcome.md": b"# Welcome\n"} if below else {})
    state = state or root.parent / "state"
    return initialise(root, template, state, SystemClock(), FAST, ignore=IGNORE, restore=restore)


def repository(root: Path, **notes: str) -> Path:
    """A person's own repository with one commit."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "trunk")
    for name, text in {"note": "mine\n", **notes}.items():
        write(root / f"{name}.md", text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "mine")
    return root


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


def test_a_new_folder_gets_a_repository_and_one_commit_of_ours(tmp_path: Path) -> None:
    done = make(tmp_path / "new" / "vault")
    root = tmp_path / "new" / "vault"
    assert sorted(done.created) == sorted(TEMPLATE)
    assert subjects(root) == ["init(vault): added 3 files"]
    assert git(root, "symbolic-ref", "HEAD") == "refs/heads/main\n"
    assert git(root, "log", "-1", "--format=%an|%(trailers:key=Vault-Actor,valueonly)").strip() == "vault-agent|agent"
    assert git(root, "status", "--porcelain", "--ignored") == ""
    assert not any((root / ".git" / "hooks").glob("*"))


def test_an_obsidian_vault_is_recorded_first_in_the_persons_name_without_its_noise(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for path in ("a.md", "sub/b.md", "image.png", ".obsidian/app.json", ".obsidian/workspace.json", ".trash/old.md"):
        write(root / path, f"{path}\n")
    done = make(root)
    assert subjects(root) == ["init(vault): added 3 files", "human(notes): the vault as it was, 4 files"]
    assert done.human_files == 4
    assert git(root, "log", "-1", "--format=%(trailers:key=Vault-Actor,valueonly)", "HEAD~1").strip() == "human"
    assert committed(root, "sub/b.md", "HEAD~1") == b"sub/b.md\n"
    assert git(root, "ls-files", ".trash", ".obsidian/workspace.json") == ""
    assert git(root, "status", "--porcelain") == ""
    assert not (root / ".gitignore").exists()
    assert done.excluded == (".obsidian/workspace*.json", ".trash/", "*~")


def test_a_person_without_a_name_in_git_is_named_after_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    write(tmp_path / "vault/a.md", "a\n")
    done = make(tmp_path / "vault")
    author = git(tmp_path / "vault", "log", "-1", "--format=%an <%ae>", str(done.human_commit)).strip()
    assert author.endswith(" <>") and not author.startswith(("vault-agent", "<"))
    assert not done.known_person


def test_an_existing_repository_keeps_its_dirty_tree_and_what_is_staged(tmp_path: Path) -> None:
    root = repository(tmp_path / "vault", other="one\n")
    write(root / "note.md", "mine, edited\n")
    write(root / "new.md", "new\n")
    write(root / "other.md", "two\n")
    git(root, "add", "other.md")
    done = make(root)
    assert done.uncommitted == 3 and done.human_commit is None
    assert git(root, "status", "--porcelain") == " M note.md\nM  other.md\n?? new.md\n"
    assert set(git(root, "show", "--name-only", "--format=").split("\n")) - {""} == {
        "AGENT.md", "MEMORY.md", "vault-agent.yaml",
    }  # fmt: skip


def test_a_repository_without_commits_is_not_committed_for_the_person(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root / "mine.md", "mine\n")
    done = make(root)
    assert done.uncommitted == 1
    assert committed(root, "mine.md") is None
    assert subjects(root) == ["init(vault): added 3 files"]


def test_a_folder_inside_a_repository_becomes_a_vault_of_that_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo", outside="o\n")
    write(top / "outside.md", "edited\n")
    write(top / "notes [1]/mine.md", "mine\n")
    write(top / "notes [1]/.gitignore", "*.log\n")
    done = make(top / "notes [1]", state=tmp_path / "state")
    assert committed(top, "notes [1]/AGENT.md") == b"# Agent\n"
    assert done.uncommitted == 2
    assert not (top / "notes [1]/.git").exists()
    write(top / "notes [1]/.obsidian/workspace.json", "{}")
    write(top / "notes [1]/deep/x.md~", "x")
    write(top / "x.md~", "x")
    assert git(top, "status", "--porcelain").splitlines() == [
        " M outside.md", '?? "notes [1]/.gitignore"', '?? "notes [1]/mine.md"', "?? x.md~",
    ]  # fmt: skip


def test_what_exists_is_left_whatever_the_case_of_its_name(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root / "memory.md", "my memory\n")
    write(root / "agent/mine.md", "mine\n")
    write(root / "AGENT.md", "my agent\n")
    write(root / "Inbox/mine.md", "mine\n")
    done = make(root, below="Agent/")
    assert {item.path for item in done.left} == {"MEMORY.md", "Agent/Welcome.md", "AGENT.md"}
    assert not (root / "MEMORY.md").exists() and not (root / "Agent").exists() and not (root / "inbox").exists()
    assert (root / "AGENT.md").read_text() == "my agent\n"


def test_links_files_and_other_repositories_in_the_way_are_left(tmp_path: Path) -> None:
    for number, name in enumerate(("link", "file", "repository")):
        root = tmp_path / str(number) / "vault"
        root.mkdir(parents=True)
        if name == "link":
            (tmp_path / "elsewhere").mkdir()
            (root / "Agent").symlink_to(tmp_path / "elsewhere")
        elif name == "file":
            write(root / "Agent", "a file\n")
        else:
            repository(root / "Agent")
        done = make(root, below="Agent/")
        assert [item.path for item in done.left] == ["Agent/Welcome.md"], name
        assert (root / "vault-agent.yaml").exists()
        assert not any((tmp_path / "elsewhere").iterdir())


def test_an_existing_gitignore_stays_and_our_rules_go_to_the_repositorys_own_list(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root / ".gitignore", "*~\nprivate/\n")
    done = make(root)
    assert (root / ".gitignore").read_text() == "*~\nprivate/\n"
    assert done.excluded == (".obsidian/workspace*.json", ".trash/")
    write(root / ".trash/x.md", "x\n")
    assert git(root, "status", "--porcelain") == ""
    make(root)
    assert (root / ".git/info/exclude").read_text().count(".trash/") == 1


def test_what_the_persons_rules_leave_out_is_not_laid(tmp_path: Path) -> None:
    root = repository(tmp_path / "vault")
    write(root / ".gitignore", "MEMORY.md\nvault-agent.yaml\n")
    done = make(root)
    assert {item.path for item in done.left} == {"MEMORY.md"}
    assert (root / "vault-agent.yaml").exists() and not (root / "MEMORY.md").exists()


def test_repositories_inside_are_named_and_left_alone(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    inner = repository(root / "projects" / "code")
    before = head(inner)
    done = make(root)
    assert done.nested == ("projects/code",)
    assert head(inner) == before and git(root, "ls-files", "projects") == ""


def test_files_of_a_git_filter_are_left_to_git_and_named(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root / ".gitattributes", "*.png filter=lfs\n")
    write(root / "big.png", "pixels\n")
    done = make(root)
    assert [item.path for item in done.left] == ["big.png"]
    assert git(root, "ls-files", "big.png") == ""


def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    make(root)
    (root / "MEMORY.md").unlink()
    before = head(root), git(root, "status", "--porcelain")
    done = make(root)
    assert done.was_vault and done.created == ()
    assert (head(root), git(root, "status", "--porcelain")) == before


def test_restore_lays_what_is_missing_and_only_that(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    make(root)
    (root / "MEMORY.md").unlink()
    git(root, "commit", "-qam", "not wanted")
    write(root / "AGENT.md", "my own\n")
    done = make(root, restore=True)
    assert done.created == ("MEMORY.md",)
    assert (root / "AGENT.md").read_text() == "my own\n"


def test_a_vault_that_lost_its_repository_gets_one_with_everything_in_it(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root / "vault-agent.yaml", "")
    write(root / "a.md", "a\n")
    done = make(root)
    assert done.was_vault and done.new_repository and done.created == ()
    assert committed(root, "a.md") == b"a\n"


def _bare(folder: Path) -> Path:
    git(folder, "init", "-q", "--bare", "bare.git")
    return folder / "bare.git"


def _linked(folder: Path) -> Path:
    real = repository(folder / "real")
    (folder / "vault").mkdir()
    (folder / "vault/.git").symlink_to(real / ".git")
    return folder / "vault"


def _file(folder: Path) -> Path:
    write(folder / "vault", "a file\n")
    return folder / "vault"


def _detached(folder: Path) -> Path:
    root = repository(folder / "vault")
    git(root, "checkout", "-q", "--detach")
    return root


def _rebasing(folder: Path) -> Path:
    root = repository(folder / "vault")
    (root / ".git/rebase-merge").mkdir()
    return root


def _inside_git(folder: Path) -> Path:
    return repository(folder / "vault") / ".git" / "inside"


def _inside_vault(folder: Path) -> Path:
    make(folder / "vault")
    return folder / "vault" / "inner"


def _broken(folder: Path) -> Path:
    (folder / "vault/.git").mkdir(parents=True)
    return folder / "vault"


def _ignored(folder: Path) -> Path:
    root = repository(folder / "repo")
    write(root / ".gitignore", "vault/\n")
    (root / "vault").mkdir()
    return root / "vault"


@pytest.mark.parametrize(
    "prepare", [_bare, _linked, _file, _detached, _rebasing, _inside_git, _inside_vault, _broken, _ignored]
)
def test_what_cannot_be_a_vault_is_refused_with_advice_and_nothing_is_written(
    tmp_path: Path, prepare: Callable[[Path], Path]
) -> None:
    root = prepare(tmp_path)
    before = _listing(tmp_path)
    with pytest.raises((UserError, NotAVault)) as caught:
        make(root)
    assert caught.value.hint
    assert _listing(tmp_path) == before


def test_a_folder_that_holds_our_own_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="keeps its own files"):
        initialise(tmp_path, TEMPLATE, tmp_path / ".local/state", SystemClock(), FAST)
    assert not (tmp_path / ".git").exists()


def test_a_folder_nobody_may_write_to_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        make(Path("/proc/vault"))
    assert not Path("/proc/vault").exists()


def test_a_rule_list_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    root = repository(tmp_path / "vault")
    write(root / ".gitignore", "mine\n")
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious\n")
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").unlink(missing_ok=True)
    (root / ".git/info/exclude").symlink_to(outside)
    with pytest.raises(AgentError, match="link"):
        make(root)
    assert outside.read_bytes() == b"precious\n"


def test_hooks_are_installed_once_with_the_programs_path_and_never_over_a_persons(tmp_path: Path) -> None:
    done = make(tmp_path / "vault")
    hooks = tmp_path / "vault/.git/hooks"
    installed, left = install(done.vault, HOOKS, Path("/opt/my tools/vault-agent"))
    assert installed == ["pre-commit"] and left == []
    assert b"program='/opt/my tools/vault-agent'\n" in (hooks / "pre-commit").read_bytes()
    assert (hooks / "pre-commit").stat().st_mode & 0o111
    assert install(done.vault, HOOKS, Path("/opt/my tools/vault-agent")) == ([], [])
    (hooks / "pre-commit").write_bytes(b"#!/bin/sh\n# my own\n")
    installed, left = install(done.vault, HOOKS, None)
    assert installed == [] and [item.path for item in left] == ["pre-commit"]
    assert (hooks / "pre-commit").read_bytes() == b"#!/bin/sh\n# my own\n"


def test_hooks_are_left_where_git_looks_for_them_elsewhere(tmp_path: Path) -> None:
    done = make(tmp_path / "vault")
    git(tmp_path / "vault", "config", "core.hooksPath", ".husky")
    installed, left = install(done.vault, HOOKS, None)
    assert installed == [] and ".husky" in left[0].why


def test_a_linked_work_tree_shares_hooks_and_rules_with_its_repository(tmp_path: Path) -> None:
    top = repository(tmp_path / "repo")
    git(top, "worktree", "add", "-q", "-b", "notes", str(tmp_path / "tree"))
    done = make(tmp_path / "tree")
    assert committed(top, "AGENT.md", "notes") == b"# Agent\n"
    assert install(done.vault, HOOKS, None)[0] == ["pre-commit"]
    assert (top / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_real_template_is_laid_whole(tmp_path: Path, language: str) -> None:
    template = laid_first(read_template(resource("vault_template"), language), AT_ROOT)
    done = initialise(tmp_path / "vault", template, tmp_path / "state", SystemClock(), FAST)
    welcome = "Welcome.md" if language == "en" else "欢迎.md"
    assert set(done.created) == set(template) == {"AGENT.md", "MEMORY.md", welcome, "vault-agent.yaml"}
    assert sorted(each.name for each in (tmp_path / "vault").iterdir()) == sorted({*template, ".git", "inbox"})
    assert f"language: {language}".encode() in (tmp_path / "vault/vault-agent.yaml").read_bytes()
    assert subprocess.run(["git", "fsck"], cwd=tmp_path / "vault", capture_output=True, check=False).returncode == 0


def _listing(folder: Path) -> dict[str, bytes]:
    """Every file, but for what git writes when it is only asked."""
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()}
