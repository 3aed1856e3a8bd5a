"""Files of this machine's state refer to a note by its new name, and are not named after one that is forgotten."""

import json
from dataclasses import replace
from pathlib import Path

from agent.memory.forgetting.forgotten_statements import phrase
from agent.memory.forgetting.private_state import follow_names, forget_in_rows
from agent.records.database import Records
from agent.records.table import Lines, Table
from tests.vaults import write

OLD, NEW = "2026-11-21-钥匙在青蛙下面-5n7f9a", "2026-11-21-forgotten-5n7f9a"
GONE = "2026-11-21-the-key-4t2b8c"


def test_names_are_replaced_in_texts_and_in_the_names_of_files(tmp_path: Path) -> None:
    path = f"sessions/2026/11/{OLD}.md"
    write(tmp_path / f"conversations/{OLD}.txt", f"{path}\n{OLD} and {OLD}")
    write(tmp_path / "runs/row.json", json.dumps({"session": path, "other": "青蛙"}))
    follow_names(tmp_path, {OLD: NEW, GONE: ""})
    new = f"sessions/2026/11/{NEW}.md"
    assert (tmp_path / f"conversations/{NEW}.txt").read_text() == f"{new}\n{NEW} and {NEW}"
    assert json.loads((tmp_path / "runs/row.json").read_text()) == {"session": new, "other": "青蛙"}
    assert len(list(tmp_path.rglob("*.*"))) == 2


def test_a_file_named_after_a_note_that_goes_is_deleted_and_all_other_bytes_stay(tmp_path: Path) -> None:
    write(tmp_path / f"conversations/{GONE}.txt", "x")
    kept = {"a.db": b"\0" + OLD.encode(), "b.bin": b"\xff" + OLD.encode(), "c.txt": GONE.encode(), "d.txt": b"\r\nx"}
    for name, data in kept.items():
        write(tmp_path / name, data)
    follow_names(tmp_path, {OLD: NEW, GONE: ""})
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")} == kept


def test_rows_follow_too_and_lose_the_text(tmp_path: Path) -> None:
    records = Records(tmp_path, durable=False)
    waiting, told = Table(records, "waiting", list[str]), Lines(records, "told")
    waiting.put([f"sessions/{OLD}.md", "the key is under the frog", "tea"], OLD)
    waiting.put(["x"], GONE)
    told.append(f"[[{OLD}]]")
    said = replace(phrase("the key is under the frog"), names={OLD: NEW, GONE: ""})
    forget_in_rows(records, said)
    ((key, (path, left, other)),) = waiting.items()
    assert (key, path, other, told.all()) == (NEW, f"sessions/{NEW}.md", "tea", [f"[[{NEW}]]"])
    assert "frog" not in left
    assert not any(word in path.read_bytes() for path in tmp_path.iterdir() for word in (b"frog", OLD.encode()))
