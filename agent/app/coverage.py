"""What search knows of the vault, read from the index's manifest alone: quick, and without loading an engine."""

import json
from dataclasses import dataclass

from agent.app.build import App
from agent.index.files import IndexFiles
from agent.index.manifest import Coverage, coverage
from agent.index.passage_store import PassageStore, open_store
from agent.index.seal import Damaged


@dataclass(frozen=True, slots=True)
class IndexState:
    """How much of the vault search finds. `mode` is hybrid, keyword or none; `problem` says why it is not hybrid."""

    mode: str
    engine: str | None
    coverage: Coverage | None
    problem: str | None


def index_state(app: App) -> IndexState:
    """Look at the index as it is; changes nothing."""
    files = index_files(app)
    try:
        store = open_store(files.store, write=False)
    except Damaged as error:
        return IndexState("none", None, None, error.message)
    try:
        return _state(store)
    except Damaged as error:
        return IndexState("none", None, None, error.message)
    finally:
        store.close()


def index_files(app: App) -> IndexFiles:
    """Where the index over the notes as they are now is."""
    return IndexFiles(app.cache / "index")


def known(files: IndexFiles) -> dict[str, str]:
    """The content hashes that an index was made from, by path; empty where there is none that can be read."""
    try:
        store = open_store(files.store, write=False)
    except Damaged:
        return {}
    try:
        return store.hashes()
    except Damaged:
        return {}
    finally:
        store.close()


def _state(store: PassageStore) -> IndexState:
    if store.meta("building") or not store.meta("identity"):
        return IndexState("none", None, None, "the first index is being built")
    _, engine, model, _ = json.loads(store.meta("identity"))
    found = coverage(store)
    mode = "keyword" if model == "none" else "hybrid"
    return IndexState(mode, engine, found, "there is no embedding model" if mode == "keyword" else None)
