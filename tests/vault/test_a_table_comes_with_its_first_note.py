"""A table for Obsidian comes in the commit of the first note that it lists, and never again while there are notes."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.vault.change import Stamp
from agent.vault.folders import AgentFolder
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.store import Vault
from tests.vaults import FAST, committed, git, head, make_vault, write

ENTRY = "entries/2026/11/tea.md"


def vault(tmp_path: Path, home: str = "", **notes: str) -> Vault:
    options = replace(FAST, views=True, home=AgentFolder(home))
    return make_vault(tmp_path, {f"{name}.md": text for name, text in notes.items()}, options=options)


def add(made: Vault, path: str) -> list[str]:
    """The files of the commit that adds this note."""
    with made.transaction("note(write): one", Stamp("agent")) as change:
        change.create(path, b"# Tea\n")
    return git(made.place.root, "show", "--name-only", "--format=", "HEAD").split()


@pytest.mark.parametrize("home", ["", "Agent/"])
def test_it_comes_with_the_first_note_and_looks_into_the_agents_folder(tmp_path: Path, home: str) -> None:
    made = vault(tmp_path, home)
    assert add(made, f"{home}{ENTRY}") == [f"{home}entries.base", f"{home}{ENTRY}"]
    assert f'inFolder("{home}entries")'.encode() in (committed(made.place.root, f"{home}entries.base") or b"")
    assert add(made, f"{home}entries/2026/11/more.md") == [f"{home}entries/2026/11/more.md"]
    assert add(made, f"{home}research/one.md") == [f"{home}research/one.md"], "there is no table of these"


def test_one_that_was_deleted_stays_deleted(tmp_path: Path) -> None:
    made = vault(tmp_path)
    add(made, ENTRY)
    (made.place.root / "entries.base").unlink()
    made.commit_human(confirmed=True)
    assert add(made, "entries/2026/11/more.md") == ["entries/2026/11/more.md"]


def test_none_replaces_one_that_is_there_or_comes_into_a_folder_of_the_persons(tmp_path: Path) -> None:
    made = vault(tmp_path, **{"tasks/mine": "# Mine\n"})
    write(made.place.root / "entries.base", "views: []\n")
    made.commit_human(confirmed=True)
    assert add(made, ENTRY) == [ENTRY]
    assert add(made, "tasks/its.md") == ["tasks/its.md"]
    assert committed(made.place.root, "entries.base") == b"views: []\n"


def test_none_stands_in_the_way_of_one_that_comes_with_the_note(tmp_path: Path) -> None:
    made = vault(tmp_path)
    with made.transaction("note(write): both", Stamp("agent")) as change:
        change.create(ENTRY, b"# Tea\n")
        change.create("entries.base", b"views: []\n")
    assert committed(made.place.root, "entries.base") == b"views: []\n"


def test_it_goes_with_the_note_when_that_is_taken_back(tmp_path: Path) -> None:
    made = vault(tmp_path)
    add(made, ENTRY)
    undo(made, Selection(commits=(head(made.place.root),)))
    assert not (made.place.root / "entries.base").exists() and not (made.place.root / ENTRY).exists()
