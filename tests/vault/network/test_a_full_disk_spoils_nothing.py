"""A disk that is full, here or on the server's side: told apart, and the next transfer works when there is room."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.git.network import Network, RefUpdate
from agent.vault.sync.problems import ProblemKind as Kind
from agent.vault.sync.problems import TransferProblem, problem_of
from tests.remotes import git_as, make_remote
from tests.small_disk import mounted_disk
from tests.vault.network.persons import own_account
from tests.vaults import git, head, make_vault, write

MAIN = "refs/heads/main"
TRACKED = "+refs/heads/*:refs/remotes/origin/*"


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    own_account(tmp_path, monkeypatch)
    with mounted_disk(tmp_path, 2) as place:
        yield place


def trouble(network: Network, *updates: RefUpdate) -> TransferProblem:
    try:
        refused = network.push("origin", updates)
        if not updates:
            network.fetch("origin", [TRACKED])
    except AgentError as error:
        return problem_of(error)
    assert refused, "there was room"
    return problem_of(refused)


def test_here(small_disk: Path, tmp_path: Path) -> None:
    vault = make_vault(small_disk, {"notes/a.md": "one\n"})
    root = vault.place.root
    make_remote(tmp_path / "remote.git")
    git(root, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(root, "push", "-q", "origin", "main")
    git_as(tmp_path, "Bob", "clone", "-q", str(tmp_path / "remote.git"), "bob")
    write(tmp_path / "bob/large.bin", os.urandom(3_000_000))
    git_as(tmp_path / "bob", "Bob", "add", "-A")
    git_as(tmp_path / "bob", "Bob", "commit", "-q", "-m", "large")
    git_as(tmp_path / "bob", "Bob", "push", "-q", "origin", "HEAD:main")
    problem = trouble(Network(vault.git))
    assert (problem.kind, problem.reason, problem.passes) == (Kind.OTHER, "this disk is full", True)
    assert not [*(root / ".git").glob("vault-agent/network-*"), *(root / ".git").glob("**/tmp_*")]
    git(root, "fsck", "--full")
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    Network(vault.git).fetch("origin", [TRACKED])
    assert git(root, "rev-parse", "origin/main").strip() == head(tmp_path / "bob")


def test_there(small_disk: Path, tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"notes/a.md": "one\n"})
    root = vault.place.root
    make_remote(small_disk / "remote.git")
    git(root, "remote", "add", "origin", str(small_disk / "remote.git"))
    git(root, "push", "-q", "origin", "main")
    write(root / "large.bin", os.urandom(3_000_000))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "large")
    problem = trouble(Network(vault.git), RefUpdate("HEAD", MAIN, None))
    assert problem.kind is Kind.BUSY and problem.passes, problem
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    assert Network(vault.git).push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    git(small_disk / "remote.git", "fsck", "--full")
