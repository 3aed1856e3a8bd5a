"""The state of the search index, read from its manifest only: quick, and without loading an engine."""

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from agent.database.away import DatabaseAway, DatabaseFault
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.index.files import Damaged, IndexFiles
from agent.index.fingerprint import fingerprint
from agent.index.manifest import Coverage, coverage_of
from agent.index.note_store import NoteStore
from agent.index.parts import IndexPlace, has_vectors, open_seal, open_store
from agent.index.records import is_attachment
from agent.json_value import parse_json
from agent.lazy import later
from agent.texts import Sentence
from agent.vault.listing import differing
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.workspace.shared_place import shared_place
else:
    shared_place = later("agent.workspace.shared_place", "shared_place")

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
    try:
        files = index_place(workspace)
        if reason := files.damage_met():
            return _none(Sentence("it has to be built anew ({reason})", reason=reason))
        if not files.exists():
            return _none("it is not built yet")
        with closing(open_store(files, write=False)) as store, closing(files):
            return _state(files, store, notes, type_asked, known)
    except (Damaged, DatabaseAway, DatabaseFault, ConfigError) as error:
        return _none(error.message)


def _none(problem: str) -> IndexState:
    return IndexState("none", None, None, problem)


def named(notes: Mapping[str, N]) -> dict[str, N]:
    """The notes whose names are valid UTF-8; no index can hold the others."""
    return {path: value for path, value in notes.items() if _UNNAMED.search(path) is None}


def index_place(workspace: Workspace) -> IndexPlace:
    """Where the index over the current notes is: in files of this machine, or in the database of the settings."""
    folder = workspace.cache / "index"
    return IndexFiles(folder) if workspace.settings.index.engine == "files" else shared_place(workspace, folder)


def indexed_hashes(files: IndexPlace, *, attachments: bool = False) -> dict[str, str]:
    """The content hashes of the indexed notes, or attachments, by path; empty if no index can be read."""
    return _ask_store(files, lambda store: store.hashes(attachments=attachments)) or {}


def has_exactly(files: IndexPlace, notes: Mapping[str, str], *, attachments: bool = False) -> bool:
    """True if an index that can be read has these notes, or attachments, with these content hashes, and no others."""
    known = _ask_store(files, lambda store: store.listing(attachments=attachments))
    return known == (len(notes), fingerprint(notes))


def incomplete_attachments(files: IndexPlace) -> tuple[tuple[str, str], ...]:
    """The attachments whose text is not found, or not whole, each with the reason."""
    return _ask_store(files, _unread) or ()


def indexed_identity(files: IndexPlace) -> str:
    """The identity of a finished index, as in `Updater.identity`; empty if there is none that can be read."""
    return _ask_store(files, lambda store: store.meta("identity")) or ""


def may_have_type(files: IndexPlace, type_asked: str) -> frozenset[str] | None:
    """The notes that have a type, and those whose header the index does not know, of the notes that it has taken in;
    None if it cannot say, or there are too many."""

    def ask(store: NoteStore) -> frozenset[str] | None:
        with store.snapshot():
            unknown = {*store.incomplete(), *_pending_notes(store)}
            return store.paths_with("type", type_asked) | unknown if len(unknown) <= _FEW else None

    return _ask_store(files, ask)


def _unread(store: NoteStore) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((path, reason) for path, (_, reason) in store.incomplete(attachments=True).items()))


def _pending_notes(store: NoteStore) -> set[str]:
    return {path for path, _ in store.pending() if not is_attachment(path)}


def _ask_store(files: IndexPlace, question: Callable[[NoteStore], T]) -> T | None:
    """The answer of an index's store; None if it cannot be read."""
    try:
        with closing(open_store(files, write=False)) as store:
            return question(store)
    except (Damaged, DatabaseAway, DatabaseFault):
        return None


def _state(
    files: IndexPlace,
    store: NoteStore,
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
    whole = open_seal(files, engine).is_of(generation)
    is_whole = whole and (mode == "keyword" or has_vectors(files, store.meta("vectors")))
    if not (found.pending or is_whole or files.is_being_written()):  # a writer's parts follow one another
        return _none("a part of it is missing, so it has to be built anew")
    problem, vectors = ("there is no embedding model", "") if mode == "keyword" else (None, model)
    of_type = typed | unknown if len(unknown) <= _FEW else None
    return IndexState(mode, engine, found, problem, outdated, vectors, of_type, unread)
