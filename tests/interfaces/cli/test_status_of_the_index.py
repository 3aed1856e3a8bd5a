"""`status` says of the index what a search would meet: whole, behind, to be built anew, or not there."""

import shutil
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.index.files import IndexFiles
from agent.interfaces.cli.main import main
from tests.fakes import FakeClock
from tests.interfaces.cli.conftest import Run
from tests.vaults import write


@pytest.fixture
def files(root: Path) -> IndexFiles:
    return IndexFiles(open_workspace(root).cache / "index")


def _index(run: Run) -> dict[str, object]:
    found = run("status")["index"]
    assert isinstance(found, dict)
    return found


def test_a_template_with_placeholders_is_no_fault(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "Templates/Day.md", "---\ndate: {{date}}\n---\n# {{title}}\n")
    run("reindex")
    assert main(["status", "--notes"]) == 0
    assert "a key in the header" not in capsys.readouterr().out
    assert main(["search", "xylophone"]) == 0
    assert "not whole in the index" not in capsys.readouterr().out


def test_before_the_first_search_there_is_none(run: Run) -> None:
    assert _index(run)["mode"] == "none"


def test_an_index_that_is_up_to_date_is_not_behind(run: Run) -> None:
    run("reindex")
    found = _index(run)
    assert (found["mode"], found["indexed"], found["behind"], found["problem"]) == ("hybrid", 2, 0, None)


def test_notes_that_were_changed_made_and_deleted_since_are_counted(
    run: Run, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("reindex")
    write(root / "b.md", "other\n")
    write(root / "c.md", "three\n")
    (root / "a.md").unlink()
    assert _index(run)["behind"] == 3
    assert main(["status"]) == 0
    assert "3 changes not taken in yet" in capsys.readouterr().out
    run("search", "three")
    assert _index(run)["behind"] == 0


def test_files_whose_text_cannot_be_read_are_named(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "lease.pdf", "no PDF at all")
    run("reindex")
    assert _index(run)["files_not_read"] == 1
    assert main(["status"]) == 0
    assert "the text of 1 file is not read, see --notes" in capsys.readouterr().out
    assert main(["status", "--notes"]) == 0
    assert "lease.pdf: it is damaged, or no PDF" in capsys.readouterr().out


def test_an_index_of_no_note_is_whole(run: Run, root: Path) -> None:
    for path in root.glob("*.md"):
        path.unlink()
    run("reindex")
    found = _index(run)
    assert (found["mode"], found["indexed"], found["problem"]) == ("hybrid", 0, None)


def test_one_that_has_to_be_built_anew_is_not_called_whole(run: Run, files: IndexFiles) -> None:
    run("reindex")
    files.ask_for_rebuild("a search met damage")
    found = _index(run)
    assert found["mode"] == "none" and "a search met damage" in str(found["problem"])
    run("search", "two")
    assert _index(run)["mode"] == "hybrid"


@pytest.mark.parametrize("part", ["keyword-*", "vectors"])
def test_one_with_a_part_missing_is_not_called_whole(run: Run, files: IndexFiles, part: str) -> None:
    run("reindex")
    (path,) = files.folder.glob(part)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with files.writing(FakeClock(), 1):
        assert _index(run)["mode"] == "hybrid", "its writer is at it, and has not written this part yet"
    found = _index(run)
    assert found["mode"] == "none" and "missing" in str(found["problem"])
