"""Something outside cuts a file of the index short while it is open: no process dies, the next update makes it good."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_no_cut_kills_the_process_and_each_is_made_good(tmp_path: Path, engine: str) -> None:
    if engine == "tantivy":
        pytest.importorskip("tantivy")
    command = [sys.executable, "-m", "tests.index.cut_files", engine, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    names = {name for name, *_ in rows}
    assert {"notes.db", "notes.db-shm"} <= names and any(name.startswith("vectors/") for name in names)
    for name, length, said, again, good in rows:
        assert good == "True", (name, length)
        if name.startswith("vectors/") or (name.startswith("keyword-") and not name.endswith((".json", ".toc"))):
            assert said == again == f"{name} was cut short"
        elif name == "notes.db":
            assert said.startswith(again[:24]) and "notes.db cannot be read" in said
        else:
            assert said == again == "whole", (name, length)
