"""Files that Obsidian's settings exclude are found after all others, as Obsidian shows them."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.vault.obsidian import excluded_files
from agent.workspace.search_index import open_index
from tests.index.fakes import FAKE
from tests.vaults import make_vault, write


def test_an_excluded_note_is_found_after_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    notes = {"Old/roof.md": "# Roof\n\nroof roof roof\n", "house.md": "# House\n\nThe roof leaks above the attic.\n"}
    workspace = open_workspace(make_vault(tmp_path, notes).place.root)
    with closing(open_index(workspace, chosen=FAKE)) as index:
        index.refresh()
        before = {hit.path: hit.score for hit in index.search("roof", 5).hits}
        assert [*before] == ["Old/roof.md", "house.md"]
        write(workspace.vault.place.root / ".obsidian/app.json", json.dumps({"userIgnoreFilters": ["old/"]}))
        after = index.search("roof", 5).hits
        assert [hit.path for hit in after] == ["house.md", "Old/roof.md"]
        assert after[1].score < before["Old/roof.md"], "in recall, too"


@pytest.mark.parametrize(
    ("filters", "excluded", "free"),
    [
        (
            ["Templates/", "/\\.excalidraw\\.md$/"],
            ("templates/a.md", "x/a.excalidraw.md"),
            ("x/Templates/a.md", "a.md"),
        ),
        (["/(?=x)/", "//", "", 3, "/"], (), ("x.md", "a/b.md")),
        ("Old/", (), ("Old/a.md",)),
    ],
)
def test_a_filter_is_a_beginning_or_an_expression(
    tmp_path: Path, filters: object, excluded: tuple[str, ...], free: tuple[str, ...]
) -> None:
    write(tmp_path / ".obsidian/app.json", json.dumps({"userIgnoreFilters": filters}))
    is_excluded = excluded_files(tmp_path)
    assert [path for path in (*excluded, *free) if is_excluded(path)] == list(excluded)
