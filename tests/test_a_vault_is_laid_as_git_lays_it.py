"""The vaults that tests begin with are what git itself would have made."""

import subprocess
from pathlib import Path

import pytest

from tests.first_commit import commit_all
from tests.vaults import FORMAT, git, lay_repository, object_format, write

FILES = {
    "vault-agent.yaml": b"",
    "a.md": b"# A\n",
    "a/b.md": b"below\n",
    "a/long" + "x" * 200 + "/c.md": b"\r\nlines\r\n",
    "a-b/c.md": b"\0\1\2",
    "ä ö/文.md": "Grüße\n".encode(),
    "a0": b"same\n",
    "z/same": b"same\n",
}


def facts(root: Path, *command: str) -> bytes:
    return subprocess.run(["git", *command], cwd=root, capture_output=True, check=True).stdout


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_first_commit_is_what_git_makes(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORMAT, form)
    assert object_format() == form
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for root in (ours, theirs):
        root.mkdir()
        lay_repository(root)
        for path, data in FILES.items():
            write(root / path, data)
    commit_all(ours, FILES, "One", form)
    git(theirs, "add", "-A")
    git(theirs, "commit", "-q", "-m", "One")
    assert facts(ours, "fsck", "--strict") == b""
    for command in (
        ("ls-files", "--stage", "-v", "-z"),
        ("ls-tree", "-r", "-t", "-z", "HEAD"),
        ("log", "--format=%T %P %an %ae %cn %ce %B"),
        ("reflog", "--format=%gs", "--all"),
        ("diff-files", "--name-only"),
        ("diff-index", "--cached", "--name-only", "HEAD"),
        ("status", "--porcelain"),
        ("write-tree",),
        ("rev-parse", "--abbrev-ref", "HEAD"),
    ):
        assert facts(ours, *command) == facts(theirs, *command), command
    shown = [facts(root, "ls-files", "--debug").count(b"size: 0") for root in (ours, theirs)]
    assert shown == [1, 1], "the index has the sizes of the files"
