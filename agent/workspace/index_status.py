"""The state of the search index, read from its manifest only: quick, and without loading an engine."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from agent.dataclass import dataclass
from agent.index.checksums import Checksums
from agent.index.files import Damaged, IndexFiles
from agent.index.fingerprint import fingerprint
from agent.index.manifest import Coverage, coverage_of
from agent.index.passage_store import PassageStore, open_store
from agent.index.records import is_attachment
from agent.json_value import parse_json
from agent.texts import Sentence
from agent.vault.listing import differing
from agent.workspace.workspace import Workspace

T = TypeVar("T")
N = TypeVar("N")
_UNNAMED = re.compile("[\ud800-\udfff]")
_RENAME = "its name is not UTF-8; rename it"
_FEW = 1_000
"""Notes that are not in the index up to which they are named as perhaps of a type: each must be read and parsed, while
git's search through 100,000 notes takes a second."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """The part of the vault that search finds. `mode` is hybrid, keyword or none; `problem` is why it is not hybrid.

    `outdated` counts the notes that differ from the index; None if there is no index to compare. `vectors` is the
    embedding model of the index, empty for none. `of_type` are the notes that may have the type that
    was asked for: those that have it, and those whose header the index does not know. None if nothing can be said, or
    too many are not known. `unread` are the attachments whose text is not found, or not whole, each with the reason.
    """

    mode: str
    engine: str | None
    coverage: Coverage | None
    problem: str | None
    outdated: int | None = None
    vectors: str = ""
    of_type: frozenset[str] | None = None
    unread: tuple[tuple[str, str], ...] = ()


def index_state(
    workspace: Workspace,
    notes: Callable[[], Mapping[str, str]],
    type_asked: str = "",
    known: Callable[[], int | None] = lambda: None,
) -> IndexState:
    """The state of the index as it is, without an update. `notes` gives every note's content hash, by path; git may
    still be looking for them while the index is read. `known` gives their fingerprint, if it is known then."""
    files = index_files(workspace)
    if files.mark.exists():
        return _none(Sentence("it has to be built anew ({reason})", reason=files.why_broken()))
    if not files.folder.exists():
        return _none("it is not built yet")
    try:
        store = open_store(files.store, write=False)
    except Damaged as error:
        return _none(error.message)
    try:
        return _state(files, store, notes, type_asked, known)
    except Damaged as error:
        return _none(error.message)
    finally:
        store.close()


def _none(problem: str) -> IndexState:
    return IndexState("none", None, None, problem)


def named(notes: Mapping[str, N]) -> dict[str, N]:
    """The notes whose names are valid UTF-8; no index can hold the others."""
    return {path: value for path, value in notes.items() if _UNNAMED.search(path) is None}


def index_files(workspace: Workspace) -> IndexFiles:
    """The files of the index over the current notes."""
    return IndexFiles(workspace.cache / "index")


def indexed_hashes(files: IndexFiles, *, attachments: bool = False) -> dict[str, str]:
    """The content hashes of the indexed notes, or attachments, by path; empty if no index can be read."""
    return _ask_store(files, lambda store: store.hashes(attachments=attachments)) or {}


def has_exactly(files: IndexFiles, notes: Mapping[str, str], *, attachments: bool = False) -> bool:
    """True if an index that can be read has these notes, or attachments, with these content hashes, and no others."""
    known = _ask_store(files, lambda store: store.listing(attachments=attachments))
    return known == (len(notes), fingerprint(notes))


def incomplete_attachments(files: IndexFiles) -> tuple[tuple[str, str], ...]:
    """The attachments whose text is not found, or not whole, each with the reason."""
    return _ask_store(files, _unread) or ()


def indexed_identity(files: IndexFiles) -> str:
    """The identity of a finished index, as in `Updater.identity`; empty if there is none that can be read."""
    return _ask_store(files, lambda store: store.meta("identity")) or ""


def may_have_type(files: IndexFiles, type_asked: str) -> frozenset[str] | None:
    """The notes that have a type, and those whose header the index does not know, of the notes that it has taken in;
    None if it cannot say, or there are too many."""

    def ask(store: PassageStore) -> frozenset[str] | None:
        with store.snapshot():
            unknown = {*store.incomplete(), *_pending_notes(store)}
            return store.paths_with("type", type_asked) | unknown if len(unknown) <= _FEW else None

    return _ask_store(files, ask)


def _unread(store: PassageStore) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((path, reason) for path, (_, reason) in store.incomplete(attachments=True).items()))


def _pending_notes(store: PassageStore) -> set[str]:
    return {path for path, _ in store.pending() if not is_attachment(path)}


def _ask_store(files: IndexFiles, question: Callable[[PassageStore], T]) -> T | None:
    """The answer of an index's store; None if it cannot be read."""
    try:
        store = open_store(files.store, write=False)
    except Damaged:
        return None
    try:
        return question(store)
    except Damaged:
        return None
    finally:
        store.close()


def _state(
    files: IndexFiles,
    store: PassageStore,
    notes: Callable[[], Mapping[str, str]],
    type_asked: str,
    known: Callable[[], int | None],
) -> IndexState:
    if store.meta("building") or not store.meta("identity"):
        return _none("the first index is being built")
    _, engine, model, _ = parse_json(store.meta("identity"))
    with store.snapshot():
        listing = store.listing()
        incomplete, unread, typed = store.incomplete(), _unread(store), store.paths_with("type", type_asked)
        pending = _pending_notes(store)
        now, number = notes(), known()
        is_same = listing == (len(now), fingerprint(now) if number is None else number)
        unnamed = frozenset[str]() if is_same else frozenset(filter(_UNNAMED.search, now))
        if unnamed:
            now = named(now)
            is_same = listing == (len(now), fingerprint(now))
        changed = set[str]() if is_same else differing(store.hashes(), now)
    found = coverage_of(listing[0], incomplete, pending)
    found = replace(found, failed=(*found.failed, *((path, _RENAME) for path in sorted(unnamed))))
    tried = {path for path, _ in found.failed}
    outdated = len(changed - tried)
    unknown = changed | tried | pending | {path for path, _ in found.skipped}
    mode = "keyword" if model == "none" else "hybrid"
    generation = int(store.meta("generation", "0"))
    whole = Checksums(files.keyword(engine)).generation() == generation
    is_whole = whole and (mode == "keyword" or files.has_vectors(store.meta("vectors")))
    if not (found.pending or is_whole or files.is_being_written()):  # a writer's parts follow one another
        return _none("a part of it is missing, so it has to be built anew")
    problem, vectors = ("there is no embedding model", "") if mode == "keyword" else (None, model)
    of_type = typed | unknown if len(unknown) <= _FEW else None
    return IndexState(mode, engine, found, problem, outdated, vectors, of_type, unread)
