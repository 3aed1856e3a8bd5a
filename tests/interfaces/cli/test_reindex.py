"""`reindex` brings the index up to date, finds damage that nobody has met, and builds it anew when asked."""

from pathlib import Path

from agent.app.open import open_workspace
from agent.workspace.search_index import open_index
from tests.interfaces.cli.conftest import Run
from tests.vaults import write


def test_it_says_what_it_did(run: Run, root: Path) -> None:
    first = run("reindex")
    assert (first["indexed"], first["rebuilt"]) == (2, "there was no index")
    (root / "b.md").rename(root / "c.md")
    write(root / "d.md", "four\n")
    second = run("reindex")
    assert (second["moved"], second["rebuilt"]) == (1, None)
    again = run("reindex")
    assert (again["indexed"], again["forgotten"], again["moved"]) == (0, 0, 0)


def test_it_builds_anew_when_asked_and_when_a_file_is_not_what_was_written(run: Run, root: Path) -> None:
    run("reindex")
    assert run("reindex", "--all")["rebuilt"] == "asked for"
    store = open_index(open_workspace(root)).files.folder / "notes.db"
    data = bytearray(store.read_bytes())
    data[len(data) // 2 :] = b"\0" * (len(data) - len(data) // 2)
    store.unlink()
    store.write_bytes(data)
    assert run("reindex")["rebuilt"]
    assert run("search", "two")["degraded"] is None
