"""The index in PostgreSQL is measured with made notes, which are found, and so is what is saved then."""

from contextlib import closing
from pathlib import Path

from agent.clock import SystemClock
from agent.database.connection import SharedDatabase
from agent.index.keyword import Weights
from agent.index.postgres_place import PostgresPlace
from agent.index.search import Searcher
from agent.index.update import Updater
from tests.bench.made_notes import MADE, MadeNotes
from tests.bench.shared_index import fill, saves


def test_made_notes_are_filled_in_found_and_saved(database_url: str, tmp_path: Path) -> None:
    notes = MadeNotes(40, 30)
    with closing(PostgresPlace(SharedDatabase(database_url, str(tmp_path)), "bench", tmp_path)) as place:
        updater = Updater(place, "postgres", MADE, Weights(), SystemClock())
        assert fill(updater, notes, minutes=1) == 40
        searcher = Searcher(place, "postgres", MADE, Weights())
        path = [*notes.listed()][7]
        found = searcher.search(" ".join(notes.words_of(7)[:12]), 10)
        assert (found.mode, found.hits[0].path) == ("hybrid", path)
        assert len(saves(updater, place, notes).runs) == 12
        searcher.close()
        updater.close()
