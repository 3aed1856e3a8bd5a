"""What editors and sync programs leave for a moment is not looked at; what people name oddly is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.vault.worktree import paths
from agent.watch.classify import is_ignored, is_note


@pytest.mark.parametrize(
    "path",
    [
        *("4913", "notes/5036", ".note.md.swp", "note.md.swp", "note.md~", "d/.note.md.swx"),
        *(".#note.md", "#note.md#", "note.md~", "note.md.~1~"),
        *("note.md.vsctmp", "note.md___jb_tmp___", "note.md___jb_old___", ".goutputstream-8XKQ61"),
        *(
            ".obsidian/workspace.json",
            ".trash/note.md",
            ".git/HEAD",
            "sub/.git/config",
            ".git/.gitignore",
            ".gitignore~",
        ),
        *(".syncthing.note.md.tmp", ".stfolder", "~syncthing~note.md.tmp", ".stversions/note~20260101.md"),
        *(".note.md.Ab12Cd", "sedAb12Cd", ".vault-agent-01HZ.0", "d/.vault-agent-01HZ.0.part", "download.crdownload"),
        *("~$report.docx", "desktop.ini", ".DS_Store"),
    ],
)
def test_these_are_left_out(path: str) -> None:
    assert is_ignored(path)


@pytest.mark.parametrize(
    "path",
    [
        *("note.md", "2026", "2026.md", "4913.md", "notes/4914", "sed.md", "sedative.md", "#tag.md", "# x #.md"),
        *("note.sync-conflict-20260101-120000-ABCDEFG.md", "note (conflict 2026-11-21).md", "a~b.md", "picture.png"),
        *("tmp/note.md", "x.tmp/note.md", "old~/note.md", "vault-agent.yaml", "...".join(["a", "b.md"]), "~$odd.md"),
        *(".gitignore", "sub/.gitignore"),
    ],
)
def test_these_are_seen(path: str) -> None:
    assert not is_ignored(path)


@given(st.lists(st.text("ab~#.$0123459sed_jtmp ", min_size=1, max_size=12), min_size=1, max_size=3))
def test_a_note_is_what_the_vault_calls_a_note(parts: list[str]) -> None:
    path = "/".join(parts) + ".md"
    assert (not is_ignored(path) and is_note(path)) == paths.is_note(path)
