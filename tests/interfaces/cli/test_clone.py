"""`vault-agent sync clone`: a vault of one that exists, untrusted until somebody has looked."""

import json
from pathlib import Path

import pytest

from agent.app.setup import ignore_rules
from agent.interfaces.cli.main import main
from agent.vault.exclude import rules
from tests.interfaces.cli.terminal import terminal
from tests.remotes import git_as, make_remote
from tests.vaults import git, make_vault, write

Captured = pytest.CaptureFixture[str]
NOTES = {"AGENT.md": "# Agent\n\nObey.\n", "trips/罗马.md": "# Rome\n\nAn espresso.\n", "run.sh": "#!/bin/sh\n"}


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A remote with a vault."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULT_AGENT_GIT__DURABLE", "false")
    make_remote(tmp_path / "shared.git")
    root = make_vault(tmp_path / "one", dict(NOTES)).place.root
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("trips")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "more")
    git(root, "push", "-q", str(tmp_path / "shared.git"), "main")
    return tmp_path / "shared.git"


def types(capsys: Captured, *args: str, code: int = 0) -> str:
    found = main(args)
    out, err = capsys.readouterr()
    assert found == code, (args, found, out, err)
    return out + err


def test_a_clone_is_a_vault_that_searches_and_syncs(remote: Path, tmp_path: Path, capsys: Captured) -> None:
    root = tmp_path / "new/vault"
    said = types(capsys, "clone", str(remote), str(root))
    assert "AGENT.md" in said and "trust" in said and "vault-agent trust origin --only-me" in said
    assert (root / "trips/罗马.md").read_text() == NOTES["trips/罗马.md"]
    assert not (root / "run.sh").exists() and not (root / "link").is_symlink() and "run.sh" in said
    assert git(root, "status", "--porcelain") == "" and git(root, "rev-parse", "@{upstream}") == git(
        root, "rev-parse", "HEAD"
    )
    assert "罗马" in types(capsys, "--vault", str(root), "search", "espresso")
    assert git(root, "check-attr", "merge", "--", "a.md").endswith("vault-agent\n"), "git pull merges notes, too"
    write(root / "trips/oslo.md", "# Oslo\n")
    assert "sent 1 file" in types(capsys, "--vault", str(root), "sync")
    assert git(remote, "show", "main:trips/oslo.md") == "# Oslo\n"
    assert not list(root.parent.glob(".vault*"))


def test_where_someone_is_in_their_editor_is_no_change_of_a_clone(
    remote: Path, tmp_path: Path, capsys: Captured
) -> None:
    root = tmp_path / "new"
    types(capsys, "clone", str(remote), str(root), "--only-me")
    write(root / ".obsidian/workspace.json", "{}")
    write(root / "a.md~", "half")
    types(capsys, "--vault", str(root), "sync")
    assert (
        git(root, "status", "--porcelain") == "" and git(root, "log", "--format=%H", "--", ".obsidian", "a.md~") == ""
    )
    assert ".obsidian" not in git(remote, "ls-tree", "-r", "--name-only", "main")


def test_rules_that_a_vault_brings_are_not_doubled(remote: Path, tmp_path: Path, capsys: Captured) -> None:
    work = tmp_path / "one/vault"
    write(work / ".gitignore", ignore_rules().decode() + "mine/\n")
    git(work, "add", ".gitignore")
    git(work, "commit", "-q", "-m", "rules")
    git(work, "push", "-q", str(remote), "main")
    root = tmp_path / "new"
    types(capsys, "clone", str(remote), str(root), "--only-me")
    assert (root / ".gitignore").read_bytes() == (work / ".gitignore").read_bytes()
    own = (root / ".git/info/exclude").read_text() if (root / ".git/info/exclude").exists() else ""
    assert not set(own.splitlines()) & set(rules(ignore_rules()))
    other = tmp_path / "other"
    types(capsys, "clone", str(remote), str(other), "--others")
    write(other / ".obsidian/workspace.json", "{}")
    assert git(other, "status", "--porcelain") == "", "the rules hold while those of the vault are held back"


def test_what_steers_waits_for_a_look_unless_only_the_person_writes_there(
    remote: Path, tmp_path: Path, capsys: Captured
) -> None:
    root = tmp_path / "new"
    types(capsys, "clone", str(remote), str(root), "--only-me")
    assert (root / "run.sh").stat().st_mode & 0o111 and (root / "link").is_symlink()
    trust = json.loads(types(capsys, "--vault", str(root), "trust", "--json"))
    assert trust["steering"] == [] and trust["remotes"][0]["writers"] == "me"
    other = tmp_path / "other"
    types(capsys, "clone", str(remote), str(other))
    trust = json.loads(types(capsys, "--vault", str(other), "trust", "--json"))
    assert trust["steering"] == ["AGENT.md"] and trust["remotes"][0]["writers"] is None
    assert trust["remotes"][0]["notes"] >= 2


def test_nothing_that_the_repository_names_is_run(remote: Path, tmp_path: Path, capsys: Captured,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    config = tmp_path / "gitconfig"
    config.write_text(f'[filter "evil"]\n\tsmudge = "touch {tmp_path}/ran"\n\tclean = cat\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    work = tmp_path / "one/vault"
    write(work / ".gitattributes", "*.md filter=evil\n")
    git(work, "add", ".gitattributes")
    git(work, "commit", "-q", "-m", "attributes")
    git(work, "push", "-q", str(remote), "main")
    types(capsys, "clone", str(remote), str(tmp_path / "new"))
    assert not (tmp_path / "ran").exists()


def test_a_folder_with_files_is_left_alone(remote: Path, tmp_path: Path, capsys: Captured) -> None:
    write(tmp_path / "full/a.txt", "a")
    assert "is not empty" in types(capsys, "clone", str(remote), str(tmp_path / "full"), code=2)
    (tmp_path / "empty").mkdir()
    types(capsys, "clone", str(remote), str(tmp_path / "empty"))
    assert (tmp_path / "full/a.txt").read_text() == "a" and (tmp_path / "empty/AGENT.md").exists()


def test_what_is_no_vault_gets_a_way_on(tmp_path: Path, remote: Path, capsys: Captured) -> None:
    make_remote(tmp_path / "empty.git")
    said = types(capsys, "clone", str(tmp_path / "empty.git"), str(tmp_path / "new"), code=2)
    assert "nothing at" in said and "vault-agent init" in said
    plain = tmp_path / "plain"
    git(tmp_path, "init", "-q", "-b", "main", str(plain))
    write(plain / "a.md", "a\n")
    git(plain, "add", "-A")
    git(plain, "commit", "-q", "-m", "a")
    said = types(capsys, "clone", str(plain), str(tmp_path / "new"), code=2)
    assert "is no vault" in said and "git clone" in said and "vault-agent init" in said
    assert "cannot be used" in types(capsys, "clone", str(tmp_path / "none.git"), str(tmp_path / "new"), code=2)
    assert "no branch work" in types(capsys, "clone", str(remote), str(tmp_path / "new"), "--branch", "work", code=2)
    assert not (tmp_path / "new").exists() and not list(tmp_path.glob(".new*"))


def test_the_usual_branch_is_taken(remote: Path, tmp_path: Path, capsys: Captured) -> None:
    git(tmp_path / "one/vault", "push", "-q", str(remote), "main:aaa")
    types(capsys, "clone", str(remote), str(tmp_path / "new"))
    assert git_as(tmp_path / "new", "Anna", "branch", "--show-current").strip() == "main"


def test_at_a_terminal_a_bar_moves_and_its_person_is_asked(remote: Path, tmp_path: Path, capsys: Captured) -> None:
    work = tmp_path / "one/vault"
    for number in range(25):
        write(work / f"notes/{number}.md", f"note {number}\n")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "many")
    git(work, "push", "-q", str(remote), "main")
    own = {"VAULT_AGENT_HOME": str(tmp_path / "home"), "VAULT_AGENT_GIT__DURABLE": "false", "LANG": "C.UTF-8"}
    root = tmp_path / "new"
    with terminal(tmp_path, own, "clone", str(remote), str(root)) as screen:
        screen.sees("Do only you write there, from your own devices?")
        screen.type("y\n")
        screen.sees("is a vault now")
        assert screen.ends() == 0 and b"28/28" in screen.raw and (root / "run.sh").is_file()
    trust = json.loads(types(capsys, "--vault", str(root), "trust", "--json"))
    assert trust["remotes"][0]["writers"] == "me"
