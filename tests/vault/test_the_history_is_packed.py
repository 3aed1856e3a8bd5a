"""Loose objects are folded into packs while the vault is used; nothing is deleted, and nobody waits."""

import os
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from agent.errors import GitFailed
from agent.vault.change import Stamp
from agent.vault.health import packing
from agent.vault.health.packing import is_packing_due, pack
from agent.vault.history.commit_index import NAME
from agent.vault.store import Vault
from tests.vaults import git, make_vault


def loose(root: Path) -> int:
    return int(git(root, "count-objects").split()[0])


def remember(vault: Vault, number: int) -> None:
    with vault.transaction("bench(notes): one", Stamp(run="01RUN")) as tx:
        tx.create(f"entries/{number}.md", f"note {number}\n".encode())


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = make_vault(tmp_path, {"a.md": "a\n"})
    for number in range(8):
        remember(made, number)
    return made


def test_packing_is_due_when_objects_have_gathered(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_packing_due(vault)
    monkeypatch.setattr(packing, "LOOSE", 10)
    assert is_packing_due(vault)
    done = pack(vault)
    assert done.before > 10 and done.after == loose(vault.place.root) == 0
    assert not is_packing_due(vault)
    (vault.place.gitdir / "gc.pid").write_text("1 here")
    monkeypatch.setattr(packing, "LOOSE", 0)
    assert not is_packing_due(vault), "git gc does the same now"


def test_what_no_reference_leads_to_is_kept(vault: Vault) -> None:
    root = vault.place.root
    lost = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=root, input=b"rescued", capture_output=True, check=True
    )
    blob = lost.stdout.decode().strip()
    dropped = git(root, "commit-tree", "-m", "dropped", "HEAD^{tree}").strip()
    pack(vault)
    remember(vault, 100)
    pack(vault)
    assert git(root, "cat-file", "-p", blob) == "rescued" and git(root, "cat-file", "-t", dropped) == "commit\n"
    git(root, "fsck", "--strict")


def test_git_has_a_commit_graph_with_the_changed_paths(vault: Vault) -> None:
    pack(vault)
    git(vault.place.root, "commit-graph", "verify")
    folder = vault.place.gitdir / "objects" / "info" / "commit-graphs"
    assert any(b"BIDX" in path.read_bytes() for path in folder.glob("*.graph")), "the changed paths of each commit"
    assert (vault.private_folder / NAME).is_file()


def test_writes_go_on_while_it_is_packed_and_while_another_program_collects(vault: Vault) -> None:
    root = vault.place.root

    def again(work: str) -> None:
        for _ in range(4):
            with suppress(GitFailed, AssertionError):  # one of the two may find that the other has done its work
                pack(vault) if work == "pack" else git(root, "gc", "-q")

    threads = [threading.Thread(target=again, args=(each,)) for each in ("pack", "gc")]
    for each in threads:
        each.start()
    number = 1000
    while any(each.is_alive() for each in threads) or number < 1010:
        remember(vault, number)
        number += 1
    git(root, "fsck", "--strict")
    assert len(git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()) == number - 1000 + 8 + 2
    pack(vault)
    assert loose(root) == 0


def test_objects_that_another_program_removes_meanwhile_are_no_error(vault: Vault) -> None:
    objects = vault.place.gitdir / "objects"
    others, pack_of_another = [objects / f"{number:02x}" for number in range(256)], objects / "pack" / "pack-0.pack"
    ended = threading.Event()

    def collect() -> None:
        while not ended.is_set():
            pack_of_another.touch()
            for folder in others:
                with suppress(OSError):  # those with objects in them stay
                    folder.mkdir(exist_ok=True)
                    folder.rmdir()
            pack_of_another.unlink()

    other = threading.Thread(target=collect)
    other.start()
    try:
        for _ in range(100):
            assert not is_packing_due(vault)
    finally:
        ended.set()
        other.join()


def test_an_old_base_of_a_split_index_is_deleted_when_nothing_names_it(vault: Vault) -> None:
    root, gitdir = vault.place.root, vault.place.gitdir
    git(root, "update-index", "--split-index")
    old = next(gitdir.glob("sharedindex.*"))
    remember(vault, 100)
    git(root, "update-index", "--split-index")
    new = next(path for path in gitdir.glob("sharedindex.*") if path != old)
    pack(vault)
    assert old.exists(), "a program may still read it"
    for path in (old, new):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    pack(vault)
    assert not old.exists() and new.exists()
    assert git(root, "status", "--porcelain") == ""
