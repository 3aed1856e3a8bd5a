"""Owner, permissions, access list and extended attributes are a person's, and an edit is of the text alone."""

import os
import stat
import struct
from pathlib import Path

import pytest

from agent.vault.change import Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault
from agent.vault.worktree import attributes
from tests.vaults import make_vault, write

AGENT = Stamp("agent", "r1")
TEXT = "top\n\nmiddle\n\nend\n"


def edit(vault: Vault) -> None:
    with vault.transaction("x", AGENT) as tx:
        tx.edit("a.md", TEXT.encode(), TEXT.replace("middle", "by the agent").encode())


def append(vault: Vault) -> None:
    with vault.transaction("x", AGENT) as tx:
        tx.append("a.md", b"more")


def edit_and_undo(vault: Vault) -> None:
    with vault.transaction("x", AGENT) as tx:
        tx.append("a.md", b"more")
    assert tx.outcome.commit
    undo(vault, Selection(commits=(tx.outcome.commit,)))


def merge(vault: Vault) -> None:
    path = vault.place.root / "a.md"
    with path.open("r+b") as file:
        file.write(TEXT.replace("end", "END").encode())
    edit(vault)
    assert b"END" in path.read_bytes() and b"by the agent" in path.read_bytes()


def move(vault: Vault) -> None:
    with vault.transaction("x", AGENT) as tx:
        tx.move("a.md", "sub/b.md")


CHANGES = {"edit": edit, "append": append, "undo": edit_and_undo, "merge": merge, "move": move}


def changed_file(vault: Vault) -> Path:
    moved = vault.place.root / "sub/b.md"
    return moved if moved.exists() else vault.place.root / "a.md"


def access_list(mask: int) -> bytes:
    """An access list that lets the user 1234 read: owner rw, user 1234 r, group r, others nothing."""
    none = 0xFFFFFFFF
    rows = [(1, 6, none), (2, 4, 1234), (4, 4, none), (0x10, mask, none), (0x20, 0, none)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def give(path: Path, name: str, value: bytes) -> None:
    if not hasattr(os, "setxattr"):
        pytest.skip("no extended attributes on this system")
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"no {name} on this file system: {error}")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    "mode", [0o640, *(pytest.param(mode, marks=pytest.mark.chaos) for mode in (0o600, 0o444, 0o755))]
)
def test_the_mode_stays(tmp_path: Path, change: object, mode: int) -> None:
    vault = make_vault(tmp_path, {"a.md": TEXT})
    (vault.place.root / "a.md").chmod(mode)
    assert callable(change)
    change(vault)
    assert stat.S_IMODE(changed_file(vault).stat().st_mode) == mode


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_extended_attributes_and_the_access_list_stay(tmp_path: Path, change: object) -> None:
    vault = make_vault(tmp_path, {"a.md": TEXT})
    path = vault.place.root / "a.md"
    give(path, "user.colour", b"\xff\0red")
    give(path, "system.posix_acl_access", access_list(4))
    before = path.stat().st_mode
    assert callable(change)
    change(vault)
    after = changed_file(vault)
    assert os.getxattr(after, "user.colour") == b"\xff\0red"
    assert os.getxattr(after, "system.posix_acl_access") == access_list(4) and after.stat().st_mode == before


def test_an_access_list_of_the_folder_does_not_open_a_private_note(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": TEXT})
    path = vault.place.root / "a.md"
    path.chmod(0o600)
    give(vault.place.root, "system.posix_acl_default", access_list(4))
    edit(vault)
    assert "system.posix_acl_access" not in os.listxattr(path) and stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_owner_and_group_stay(tmp_path: Path, change: object) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    vault = make_vault(tmp_path, {"a.md": TEXT})
    path = vault.place.root / "a.md"
    path.chmod(0o640)
    os.chown(path, 1234, 4321)
    assert callable(change)
    change(vault)
    found = changed_file(vault).stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o640)


@pytest.mark.parametrize(
    ("mode", "left"), [(0o640, 0o600), (0o664, 0o644), (0o4755, 0o755), (0o606, 0o606), (0o770, 0o700)]
)
def test_where_the_owner_cannot_be_kept_nobody_gets_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, left: int
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for path in (old, new):
        write(path, "x")
    if os.geteuid() == 0:
        os.chown(old, 1234, 4321)
    old.chmod(mode)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    folder = os.open(tmp_path, os.O_RDONLY)
    attributes.copy_attributes(folder, "old", folder, "new")
    os.close(folder)
    if os.geteuid() == 0:
        assert stat.S_IMODE(new.stat().st_mode) == left


def test_not_copying_them_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "_copy", lambda source, target: None)
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    with pytest.raises(AssertionError):
        test_owner_and_group_stay(tmp_path, edit)
