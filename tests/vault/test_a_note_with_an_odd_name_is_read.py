"""What a person has called a note is theirs: a name that no new note may have is read, searched and recalled."""

from pathlib import Path

import pytest

from agent.errors import BadPath
from agent.vault.change import Stamp
from agent.vault.worktree.paths import check, check_inside
from tests.vaults import make_vault

AGENT = Stamp("agent", tool="vault_write")
ODD = ("Q: tea.md", "~tea.md", "back\\slash.md", "new\nline.md", "tab\tname.md")


@pytest.mark.parametrize("name", ODD)
def test_it_is_read_now_and_in_a_commit(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path, {name: "green tea\n"})

    assert vault.read(name) == vault.read_now(name) == vault.glance(name) == b"green tea\n"
    assert vault.read_at("HEAD", name) == b"green tea\n"


@pytest.mark.parametrize("name", ODD)
def test_it_is_changed_moved_and_deleted_as_any_other(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path, {name: "green tea\n"})
    with vault.transaction("write(notes): tea", AGENT) as change:
        change.edit(name, b"green tea\n", b"white tea\n")
    assert vault.read(name) == b"white tea\n"
    with vault.transaction("write(notes): tea", AGENT) as change:
        change.move(name, "plain.md")
    assert vault.read(name) is None and vault.read("plain.md") == b"white tea\n"
    with pytest.raises(BadPath), vault.transaction("write(notes): tea", AGENT) as change:
        change.move("plain.md", name)


@pytest.mark.parametrize("name", ODD)
def test_it_is_added_to(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path, {name: "green tea\n"})
    with vault.transaction("write(notes): tea", AGENT) as change:
        change.append(name, b"no sugar")
    assert vault.read(name) == b"green tea\nno sugar\n"


@pytest.mark.parametrize("name", ODD)
def test_no_addition_makes_it(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path, {"plain.md": "white tea\n"})
    before = sorted(vault.place.root.iterdir())
    with pytest.raises(BadPath), vault.transaction("write(notes): tea", AGENT) as change:
        change.append(name, b"no sugar")
    assert sorted(vault.place.root.iterdir()) == before


@pytest.mark.parametrize("name", ODD)
def test_no_new_note_has_it(name: str) -> None:
    with pytest.raises(BadPath) as refused:
        check(name)
    assert refused.value.hint


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x.md", "a/../b.md", "a//b.md", ".git/config", "a\0b.md"])
def test_what_lies_outside_is_not_read(path: str) -> None:
    with pytest.raises(BadPath) as refused:
        check_inside(path)
    assert refused.value.hint
