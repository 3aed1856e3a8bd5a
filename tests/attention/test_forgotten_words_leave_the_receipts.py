"""What is forgotten for good is in no receipt any more; what was decided stays known."""

import json
from pathlib import Path

from tests.interfaces.cli.conftest import Run, root, run
from tests.vaults import write

__all__ = ["root", "run"]


def said(folder: Path) -> bool:
    return any(b"marmalade" in path.read_bytes() for path in folder.glob("records.sqlite*"))


def test_a_purge_takes_the_words_out_of_the_receipts(root: Path, run: Run, tmp_path: Path) -> None:
    run("notify", "the safe opens with marmalade\nmarmalade, and a turn", "--urgent")
    run("notify", "the parcel has come", "--urgent")
    (folder,) = (path.parent for path in tmp_path.glob("home/**/records.sqlite"))
    assert said(folder)
    write(root / "safe.md", "the safe opens with marmalade\n")
    run("commit")
    (day,) = (path for path in (root / "daily").glob("2*.md"))
    day.unlink()
    run("commit")
    found = run("forget", "the safe opens with marmalade", "--purge", "--yes", code=1)  # a note of theirs says it still
    assert "records" not in json.dumps(found)
    assert not said(folder), "neither in the database nor in its log"
    shown = json.dumps(run("notices", "list"))
    assert shown.count('"decision": "sent"') == 2
