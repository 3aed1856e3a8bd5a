"""A store that is asked for lists of many lengths keeps few of the statements that it has prepared."""

import gc
from contextlib import closing
from pathlib import Path

from agent.index.passage_store import open_store

FEW = 40


def statements() -> int:
    """The statements of all connections of this process."""
    gc.collect()
    return sum(type(each).__name__ == "Statement" and type(each).__module__ == "sqlite3" for each in gc.get_objects())


def test_lists_of_a_hundred_lengths_leave_few_statements(tmp_path: Path) -> None:
    before = statements()
    with closing(open_store(tmp_path / "notes.db", write=True)) as store:
        for length in range(1, 101):
            store.remove(range(length))  # none of them is there
        assert 0 < statements() - before <= FEW
