"""Old faults in real histories pass; a folder that could harm who checks it out does not."""

import subprocess
from pathlib import Path

import pytest

from agent.errors import GitFailed
from agent.git.network import HARMLESS
from agent.vault.sync.problems import ProblemKind, problem_of
from tests.vault.network.persons import Shared, own_account, shared
from tests.vaults import git

TRACKED = "+refs/heads/*:refs/remotes/origin/*"
WHO = b"Anna <anna@example.org> 1700000000 +0000"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shared:
    own_account(tmp_path, monkeypatch)
    return shared(tmp_path)


def put(remote: Path, kind: str, data: bytes) -> str:
    """Write an object as it is, without a check; returns its id."""
    command = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    return subprocess.run(command, cwd=remote, input=data, capture_output=True, check=True).stdout.decode().strip()


def tree(remote: Path, *names: bytes, mode: bytes = b"100644", content: bytes = b"x\n") -> str:
    blob = bytes.fromhex(put(remote, "blob", content))
    return put(remote, "tree", b"".join(mode + b" " + name + b"\0" + blob for name in names))


def commit(remote: Path, folder: str, author: bytes = WHO, committer: bytes = WHO, message: bytes = b"old\n") -> None:
    head = b"tree " + folder.encode() + b"\nauthor " + author + b"\ncommitter " + committer
    oid = put(remote, "commit", head + b"\n\n" + message)
    git(remote, "update-ref", "refs/heads/odd", oid)


@pytest.mark.parametrize(
    "author",
    [
        b"Anna <anna@example.org> 1700000000 +051800",
        b"Anna <anna@example.org>1700000000 +0000",
        b"Anna<anna@example.org> 1700000000 +0000",
        b"<anna@example.org> 1700000000 +0000",
        b"Anna <anna@exa<mple.org> 1700000000 +0000",
        b"Anna 1700000000 +0000",
        b"Anna <anna@example.org> 01700000000 +0000",
        b"Anna <anna@example.org> 99999999999999999999 +0000",
        b"Anna <anna@example.org> yesterday +0000",
    ],
)
def test_an_odd_name_or_time_of_an_old_commit_passes(place: Shared, author: bytes) -> None:
    commit(place.remote, tree(place.remote, b"a.md"), author=author)
    place.network.fetch("origin", [TRACKED])
    assert git(place.root, "show", "origin/odd:a.md") == "x\n"


def test_an_old_way_to_write_a_folder_passes(place: Shared) -> None:
    inner = bytes.fromhex(tree(place.remote, b"a.md"))
    commit(place.remote, put(place.remote, "tree", b"040000 notes\0" + inner))
    place.network.fetch("origin", [TRACKED])
    assert git(place.root, "show", "origin/odd:notes/a.md") == "x\n"


@pytest.mark.parametrize(
    ("names", "mode", "content"),
    [
        ([b".git"], b"100644", b"x\n"),
        ([b".GIT"], b"100644", b"x\n"),
        ([b"git~1"], b"100644", b"x\n"),
        ([b".."], b"100644", b"x\n"),
        ([b"."], b"100644", b"x\n"),
        ([b"a/b"], b"100644", b"x\n"),
        ([b""], b"100644", b"x\n"),
        ([b"a.md", b"a.md"], b"100644", b"x\n"),
        ([b"b.md", b"a.md"], b"100644", b"x\n"),
        ([b".gitmodules"], b"100644", b'[submodule "x"]\n\tpath = x\n\turl = u\n\tupdate = !touch /tmp/x\n'),
        ([b".gitmodules"], b"100644", b'[submodule "../x"]\n\tpath = x\n\turl = u\n'),
        ([b".gitmodules"], b"100644", b'[submodule "x"]\n\tpath = x\n\turl = --upload-pack=x\n'),
        ([b".gitmodules"], b"120000", b"/etc/passwd"),
    ],
)
def test_a_folder_that_could_harm_is_refused(place: Shared, names: list[bytes], mode: bytes, content: bytes) -> None:
    commit(place.remote, tree(place.remote, *names, mode=mode, content=content))
    with pytest.raises(GitFailed) as caught:
        place.network.fetch("origin", [TRACKED])
    assert problem_of(caught.value).kind is ProblemKind.BROKEN, caught.value.stderr
    assert "odd" not in git(place.root, "for-each-ref")


def test_git_knows_every_fault_that_may_pass(place: Shared) -> None:
    """A name that git does not know would only be a warning, and the fault would stop the transfer."""
    settings = [word for name in HARMLESS for word in ("-c", f"fsck.{name}=warn")]
    done = subprocess.run(["git", *settings, "fsck"], cwd=place.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
