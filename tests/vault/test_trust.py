"""What could make git run something is listed with its place, and listing it runs nothing."""

from pathlib import Path

import pytest

from agent.vault.health.trust import could_execute, executables
from tests.vaults import git, make_vault, write


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.fsmonitor", "touch x"),
        ("core.sshcommand", "ssh"),
        ("core.hookspath", "hooks"),
        ("filter.lfs.clean", "git-lfs clean"),
        ("filter.a.b=c.smudge", "x"),
        ("diff.word.textconv", "x"),
        ("diff.external", "x"),
        ("merge.mine.driver", "x"),
        ("gpg.program", "x"),
        ("gpg.ssh.program", "x"),
        ("credential.https://example.org.helper", "x"),
        ("alias.st", "!x"),
        ("include.path", "../x"),
        ("includeif.gitdir:~/.path", "x"),
        ("remote.origin.url", "ext::sh -c x"),
        ("remote.origin.uploadpack", "x"),
        ("submodule.a.update", "!x"),
        ("core.worktree", "/"),
    ],
)
def test_settings_that_can_run_something_are_known(key: str, value: str) -> None:
    assert could_execute(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("user.name", "Ana"),
        ("core.fsmonitor", "true"),
        ("core.bare", "false"),
        ("remote.origin.url", "https://example.org/notes.git"),
        ("submodule.a.update", "rebase"),
        ("diff.word.xfuncname", "x"),
        ("filter.lfs.required", "true"),
        ("branch.main.remote", "origin"),
    ],
)
def test_ordinary_settings_are_not_listed(key: str, value: str) -> None:
    assert not could_execute(key, value)


def test_a_fresh_vault_has_nothing_that_could_run(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    hooks = vault.place.gitdir / "hooks"
    assert [item for item in executables(vault.git, vault.place) if hooks not in Path(item.where).parents] == []


def test_everything_is_named_with_its_place_and_nothing_runs(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root, gitdir, canary = vault.place.root, vault.place.gitdir, tmp_path / "canary"
    run = f"touch {canary}"
    git(root, "config", "core.fsmonitor", run)
    git(root, "config", "filter.a.b=c.clean", run)
    git(root, "config", "alias.st", f"!{run}")
    write(tmp_path / "more.config", f'[diff "x"]\n\ttextconv = {run}\n')
    write(gitdir / "config", (gitdir / "config").read_text() + f"[include]\n\tpath = {tmp_path}/more.config\n")
    write(gitdir / "hooks/post-commit", f"#!/bin/sh\n{run}\n")
    (gitdir / "hooks/post-commit").chmod(0o755)
    write(gitdir / "hooks/pre-push.sample", "")
    write(root / "sub/.gitattributes", "# filter=no\n*.md filter=a.b=c diff=x -merge\n")
    write(gitdir / "info/attributes", "*.txt merge=mine\n")
    write(gitdir / "objects/info/alternates", "/elsewhere/objects\n")
    (gitdir / "logs").rename(tmp_path / "logs")
    (gitdir / "logs").symlink_to(tmp_path / "logs")
    git(root, "-c", "core.fsmonitor=false", "init", "-q", "--bare", "inner/bare.git")
    found = {(item.key, item.value) for item in executables(vault.git, vault.place)}
    assert found >= {
        ("core.fsmonitor", run),
        ("filter.a.b=c.clean", run),
        ("alias.st", f"!{run}"),
        ("include.path", f"{tmp_path}/more.config"),
        ("diff.x.textconv", run),
        ("hook post-commit", "a program"),
        ("attribute filter", "a.b=c"),
        ("attribute diff", "x"),
        ("attribute merge", "mine"),
        ("alternate objects", "/elsewhere/objects"),
        ("link in the repository", str(tmp_path / "logs")),
    }
    where = {item.key: item.where for item in executables(vault.git, vault.place)}
    assert where["repository inside"] == str(root / "inner/bare.git")
    assert where["diff.x.textconv"] == str(tmp_path / "more.config")
    assert where["attribute filter"] == f"{root}/sub/.gitattributes:2"
    assert "hook pre-push.sample" not in where
    assert not canary.exists()
