"""`fs_read` and `fs_write`: what a person has opened, and not a byte beside it."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.interfaces.node.folders import Folders
from agent.interfaces.node.session import NodeFailure
from tests.interfaces.node.desk import Office, office

__all__ = ["office"]
SECRET = "the secret of the house"


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """An open folder, with traps, beside a file that is not open."""
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed/secret").write_text(SECRET)
    folder = tmp_path / "open"
    (folder / "deep/er").mkdir(parents=True)
    (folder / "note.txt").write_text("hello\n")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "away").symlink_to(tmp_path / "closed")
    (folder / "within").symlink_to(folder / "deep")
    (folder / "vault/.hidden").mkdir(parents=True)
    (folder / "vault/vault-agent.yaml").write_text("")
    (folder / "vault/note.md").write_text(SECRET)
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text(SECRET)
    return folder


def test_nothing_is_open_by_default(office: Office, opened: Path) -> None:
    assert office.fails("fs_read", path=str(opened / "note.txt")) == (
        "outside",
        "vault-agent config set node.folders ~/FOLDER",
    )


def test_files_are_read_listed_and_written(office: Office, opened: Path) -> None:
    where = str(opened)
    assert office.says("fs_read", where, path=f"{where}/note.txt") == "hello\n"
    assert office.says("fs_read", where, path=f"{where}/note.txt", offset=3) == "lo\n"
    assert "deep/" in office.says("fs_read", where, path=where).splitlines()
    office.says("fs_write", where, path=f"{where}/new.txt", content="one\n")
    assert office.fails("fs_write", where, path=f"{where}/new.txt", content="two\n")[0] == "tool_failed"
    office.says("fs_write", where, path=f"{where}/new.txt", content="two\n", mode="append")
    (opened / "new.txt").chmod(0o640)
    assert (opened / "new.txt").read_text() == "one\ntwo\n"
    office.says("fs_write", where, path=f"{where}/new.txt", content="three\n", mode="replace")
    assert (opened / "new.txt").read_text() == "three\n" and (opened / "new.txt").stat().st_mode & 0o777 == 0o640
    assert not [each for each in opened.iterdir() if each.name.endswith(".new")]


def test_a_picture_is_no_text_and_a_long_file_comes_in_parts(office: Office, opened: Path) -> None:
    (opened / "a.png").write_bytes(b"\x89PNG\0\0")
    assert office.fails("fs_read", str(opened), path=f"{opened}/a.png")[0] == "bad_arguments"
    (opened / "long").write_text("x" * ((1 << 20) + 5))
    assert office.says("fs_read", str(opened), path=f"{opened}/long").endswith("[5 bytes more: offset 1048576]")
    os.mkfifo(opened / "pipe")
    assert office.fails("fs_read", str(opened), path=f"{opened}/pipe")[0] == "bad_arguments"


@pytest.mark.parametrize("name", ["hard", "deep/er/hard", "both"])
def test_a_file_with_another_name_is_not_reached(office: Office, opened: Path, tmp_path: Path, name: str) -> None:
    """One that lies inside may be a file outside: neither is it read, nor written, nor is its name given away."""
    linked, where = opened / name, str(opened)
    if name == "both":
        (opened / "one").write_text(SECRET)
    linked.hardlink_to(opened / "one" if name == "both" else tmp_path / "secret")
    code, hint = office.fails("fs_read", where, path=f"{where}/{name}")
    assert code == "outside" and "copy" in hint
    for mode in ("append", "replace"):
        assert office.fails("fs_write", where, path=f"{where}/{name}", content="x", mode=mode)[0] == "outside"
    assert office.fails("fs_write", where, path=f"{where}/{name}", content="x")[0] == "tool_failed"
    assert linked.read_text() == SECRET and linked.stat().st_nlink == 2
    copy = linked.read_text()
    linked.unlink()
    linked.write_text(copy)
    assert office.says("fs_read", where, path=f"{where}/{name}") == SECRET, "a copy is a file of the folder's own"


def test_a_folder_that_is_named_through_a_link_is_open(office: Office, opened: Path, tmp_path: Path) -> None:
    (tmp_path / "Documents").symlink_to(opened)
    assert office.says("fs_read", "~/Documents", path="~/Documents/note.txt") == "hello\n"
    assert office.says("fs_read", "~/Documents", path=f"{opened}/note.txt") == "hello\n"


@pytest.mark.parametrize(
    "path",
    [
        *("../secret", "deep/../../secret", "link", "away/secret", "within/x", "within/er", "away"),
        *("vault/note.md", "vault", "vault/new.md", ".git/config", ".GIT/config", ".git/hooks/new", "deep/er/.ssh/x"),
    ],
)
def test_no_way_leads_out_or_into_what_is_closed(office: Office, opened: Path, path: str) -> None:
    for tool, more in (("fs_read", {}), ("fs_write", {"content": "x", "mode": "replace"})):
        answer = office.ask(tool, str(opened), path=f"{opened}/{path}", **more)
        assert answer.status in {403, 422}, (tool, answer.document)
        assert SECRET not in str(answer.document)
    assert (opened.parent / "secret").read_text() == (opened / ".git/config").read_text() == SECRET


def test_the_programs_own_folders_stay_closed(office: Office, opened: Path, tmp_path: Path) -> None:
    (tmp_path / "config/keys").mkdir(parents=True)
    (tmp_path / "config/keys/node").write_text(SECRET)
    for path in ("config/keys/node", "state/node/requests.jsonl"):
        assert office.fails("fs_read", str(tmp_path), path=f"{tmp_path}/{path}")[0] == "outside"


PARTS = st.sampled_from(
    ["..", ".", "", "a", "link", "away", "deep", "within", "er", "vault", ".git", "secret", "note.txt", "\0", "~", "/"]
)


@given(parts=st.lists(PARTS, max_size=6), absolute=st.booleans())
def test_whatever_path_is_asked_for_no_byte_outside_is_read_or_changed(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], absolute: bool
) -> None:
    root = tmp_path_factory.getbasetemp() / "house"
    if not root.exists():
        (root / "open/deep/er").mkdir(parents=True)
        (root / "secret").write_text(SECRET)
        (root / "closed").mkdir()
        (root / "closed/secret").write_text(SECRET)
        (root / "open/link").symlink_to(root / "secret")
        (root / "open/away").symlink_to(root / "closed")
        (root / "open/within").symlink_to(root / "open/deep")
    folders = Folders.named(str(root / "open"))
    path = "/".join([*([str(root / "open")] if absolute else []), *parts])
    for act in (lambda: folders.read(path, 0)[0], lambda: folders.list(path)):
        try:
            assert SECRET.encode() != act()
        except (NodeFailure, ValueError):
            continue
    for mode in ("create", "replace", "append"):
        try:
            folders.write(path, b"x", mode=mode)
        except (NodeFailure, ValueError):
            continue
    assert (root / "secret").read_text() == (root / "closed/secret").read_text() == SECRET
    assert sorted(each.name for each in root.iterdir()) == ["closed", "open", "secret"]
    assert [each.name for each in (root / "closed").iterdir()] == ["secret"]
