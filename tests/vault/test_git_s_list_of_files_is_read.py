"""git's list of files is read as it says; and where git was asked for all settings, it is not asked for remotes."""

import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.index.fingerprint import fingerprint
from agent.vault.listing import _listed_notes, contents, list_notes
from agent.vault.provenance.remotes import configured
from agent.vault.worktree.paths import is_note
from tests.vaults import make_vault

NAMES = st.sampled_from(["a.md", "b.md", ".git.md", ".md", "c.txt", "H 100644 x.md", "ä.md", "x\t.md"])
FOLDERS = st.sampled_from(["", "l/", ".hidden/", "l/.inner/", "l/m/"])
ROWS = st.lists(
    st.tuples(st.sampled_from("HHHHHHSshM"), st.sampled_from(["100644", "100644", "100755", "120000", "160000"]),
              st.sampled_from("0001"), FOLDERS, NAMES),
    max_size=8,
)  # fmt: skip


def test_each_row_is_taken_for_what_it_is(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)

    @settings(max_examples=300, deadline=None)
    @given(ROWS)
    def compare(rows: list[tuple[str, str, str, str, str]]) -> None:
        notes, away = dict[str, str](), list[str]()
        listed = ""
        for number, (tag, mode, stage, folder, name) in enumerate(rows):
            path, oid = folder + name, f"{number:040x}"
            listed += f"{tag} {mode} {oid} {stage}\t{path}\0"
            if mode.startswith("100") and is_note(path):
                if tag in "Ssh":
                    away.append(path)
                if tag not in "Ss":
                    notes[path] = oid
        assert _listed_notes(vault, listed) == (notes, away)

    compare()


def test_a_remote_that_comes_is_known_at_once(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    assert not vault.git.has_no_remote and configured(vault.git) == {}
    contents(vault)
    assert vault.git.has_no_remote and configured(vault.git) == {}
    subprocess.run(["git", "-C", vault.place.root, "remote", "add", "origin", "/nowhere"], check=True)
    assert not vault.git.has_no_remote and configured(vault.git) == {"origin": "/nowhere"}


def test_a_number_of_the_notes_is_given_while_no_file_differs(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"folder/{number:040}.md": f"# {number}\n" for number in range(500)})
    found = list_notes(vault, fingerprint)
    assert found.number == fingerprint(found.notes) and len(found.notes) == 500
    note = vault.place.root / "folder" / f"{7:040}.md"
    note.write_text("# seven\n", "utf-8")
    assert list_notes(vault, fingerprint).number is None
    note.unlink()
    assert list_notes(vault, fingerprint).number is None
    subprocess.run(["git", "-C", vault.place.root, "checkout", "-q", "--", "."], check=True)
    assert list_notes(vault, fingerprint).number == found.number
    (vault.place.root / "new.md").write_text("# new\n", "utf-8")
    assert list_notes(vault, fingerprint).number is None
