"""The vault's search index: opened over the current notes or those of a commit, updated and searched."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent.config.private import make_folder
from agent.config.program_parts import command_to_add
from agent.database.away import DatabaseAway, DatabaseFault
from agent.dataclass import dataclass
from agent.errors import ConfigError
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.files import IndexFiles
from agent.index.identity import index_identity
from agent.index.keyword import Engine, Weights, engine_for
from agent.index.parts import IndexPlace
from agent.index.query import SearchResult
from agent.index.records import Filters
from agent.index.search import Searcher, UnsavedNote
from agent.index.vectors import load_library
from agent.prefetch import Prefetch
from agent.vault.listing import VaultListing, contents_at, list_notes, listed
from agent.vault.obsidian import excluded_files
from agent.vault.store import Vault
from agent.workspace.index_status import has_exactly, index_place, indexed_hashes, indexed_identity, named
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.index.update import IndexReport, Updater

_KEPT_PASTS = 5
_TOGETHER = 500
_EXCLUDED = 0.5
"""The share of its score that a hit keeps which Obsidian excludes: recall orders the hits of several searches by it."""


def not_held(path: str, digest: str) -> bytes | None:
    """None for every note; for an index with no contents in memory."""
    return None


def ignore_listing(listing: VaultListing) -> None:
    """Do nothing; for callers that need no more of the notes than the index of them."""


@dataclass(slots=True)
class SearchIndex:
    """One index over one set of notes. Keeps files open until `close`.

    `held` returns a note's bytes by path and content hash if they are in memory already, None for most. From
    `elsewhere` notes on, an update is made by a process that ends with it; None: all are made here. `on_listing` is
    called with what git has listed, each time that all current notes are compared with the index.
    """

    files: IndexPlace
    engine: Engine
    workspace: Workspace
    listed: Callable[[], dict[str, str]]
    read: Callable[[str], bytes | None]
    _chosen: EmbedderChoice | None = None
    _searcher: Searcher | None = None
    _updater: "Updater | None" = None
    held: Callable[[str, str], bytes | None] = not_held
    elsewhere: int | None = None
    on_listing: Callable[[VaultListing], object] = ignore_listing

    @property
    def chosen(self) -> EmbedderChoice:
        """The embedder, loaded on first use."""
        if self._chosen is None:
            self._chosen = choose_embedder(self.workspace.settings.index.model)
        return self._chosen

    @property
    def searcher(self) -> Searcher:
        if self._searcher is None:
            self._searcher = Searcher(self.files, self.engine, self.chosen, Weights())
        return self._searcher

    @property
    def updater(self) -> "Updater":
        if self._updater is None:
            module = import_module("agent.index.update")  # most searches find nothing to update
            vault = self.workspace.vault
            made: Updater = module.Updater(self.files, self.engine, self.chosen, Weights(), vault.clock)
            made.is_private = vault.private_notes.hide
            made.commit = lambda: vault.head or ""
            self._updater = made
        return self._updater

    def warm(self) -> None:
        """Load all that a search needs, while git lists the notes."""
        if self.chosen.embedder is not None:
            load_library()
        self.searcher.open()

    def search(
        self,
        text: str,
        limit: int,
        *,
        passages: bool = False,
        explain: bool = False,
        unsaved: Sequence[UnsavedNote] = (),
        without: tuple[Filters, ...] = (),
    ) -> SearchResult:
        """The hits in the index as it is, without an update, and among `unsaved` notes; none that `without` fits. Those
        that Obsidian excludes come last, as there."""
        found = self.searcher.search(text, limit, passages=passages, explain=explain, unsaved=unsaved, without=without)
        vault = self.workspace.vault
        private, excluded = vault.private_notes, excluded_files(vault.place.root)
        left = [hit for hit in found.hits if not private.have(hit.path)]  # the index may not know of it yet
        last = [replace(hit, score=hit.score * _EXCLUDED) for hit in left if excluded(hit.path)]
        return replace(found, hits=(*(hit for hit in left if not excluded(hit.path)), *last))

    def folders(self) -> frozenset[str]:
        """The folders that have indexed notes."""
        return self.searcher.folders()

    def refresh(self, *, verify: bool = False) -> "IndexReport":
        """Update the index to the current notes; raises `LockHeld` if another process is updating it, at once if
        another machine writes the index that they share."""
        self.files.claim(self.workspace.vault.clock, self.updater.patience)
        known = Prefetch(self.known) if self.elsewhere is not None and not verify else None  # while git looks
        notes = self.listed()
        outdated = self._count_outdated(known.result(), notes) if known is not None else 0
        del known
        done = None if verify else self._elsewhere(notes, lambda _: outdated, are_all=True)
        return done or self.updater.update(notes, self.read, verify=verify)

    def touch(self, changed: dict[str, str | None]) -> "IndexReport":
        """Update the index for changed paths only, given their content hashes (None: deleted); raises as `refresh`."""
        changed = named(changed)
        there = listed(self.workspace.vault, [path for path, digest in changed.items() if digest is not None])
        seen = {path: digest if path in there else None for path, digest in changed.items()}

        def read(path: str) -> bytes | None:
            data = self.held(path, seen[path] or "")
            return self.read(path) if data is None else data

        return self._elsewhere(seen, len, are_all=False) or self.updater.touch(seen, read) or self.refresh()

    def _elsewhere(
        self, notes: Mapping[str, str | None], size: Callable[[Mapping[str, str | None]], int], *, are_all: bool
    ) -> "IndexReport | None":
        """What another process has made of these notes; None if the update is small, or is to be made here for another
        reason. `size` counts the notes that it would take in."""
        load, most = self.chosen.load, self.elsewhere
        if load is None or most is None or len(notes) < most or size(notes) < most:
            return None
        module = import_module("agent.workspace.index_elsewhere")  # few processes meet so many notes
        updater, root = self.updater, self.workspace.vault.place.root
        task = module.IndexTask(root, self.files.folder, updater.identity, load, notes, are_all)
        report: IndexReport | None = module.take_in_elsewhere(task, updater.progress)
        return report

    def _count_outdated(self, known: Mapping[str, str], notes: Mapping[str, str | None]) -> int:
        """How many of all notes the index, which has the `known` ones, does not have as they are."""
        if self.is_broken() or self.is_of_another_model:
            return len(notes)
        return 0 if known == notes else sum(known.get(path) != digest for path, digest in notes.items())

    def is_broken(self) -> bool:
        """True if the index must be rebuilt: the cache was deleted, or a search has met damage."""
        with suppress(DatabaseAway, DatabaseFault):  # the next search says so
            return bool(self.files.why_broken())
        return False

    @property
    def is_of_another_model(self) -> bool:
        """True if there is an index that was made with another embedder, engine or field weights."""
        made_with = indexed_identity(self.files)
        return bool(made_with) and made_with != index_identity(self.engine, self.chosen, Weights())

    def known(self) -> dict[str, str]:
        """The content hashes of the indexed notes, by path."""
        return indexed_hashes(self.files)

    def has_exactly(self, notes: Mapping[str, str]) -> bool:
        """True if these notes with these content hashes are indexed, and no others; quicker than `known`."""
        return has_exactly(self.files, notes)

    def close(self) -> None:
        """Close all files, and leave a shared index to other machines."""
        self.release_files()
        self.files.close()

    def release_files(self) -> None:
        """Close all files; the next search or update opens them again."""
        for part in (self._searcher, self._updater):
            if part is not None:
                part.close()
        self._searcher = self._updater = None


def open_index(
    workspace: Workspace,
    held: Callable[[str, str], bytes | None] = not_held,
    chosen: EmbedderChoice | None = None,
    *,
    elsewhere: int | None = None,
) -> SearchIndex:
    """The index over the current notes; `held` and `elsewhere` as in `SearchIndex`, `chosen` in place of the configured
    embedder."""
    vault = workspace.vault

    def all_notes() -> dict[str, str]:
        found = list_notes(vault)
        index.on_listing(found)
        return named(found.notes)

    files = index_place(workspace)
    engine: Engine = "postgres" if files.is_shared else _engine(workspace)
    elsewhere = None if files.is_shared else elsewhere  # who has the right to write does
    index = SearchIndex(
        files, engine, workspace, all_notes, vault.whole.read_now, chosen, held=held, elsewhere=elsewhere
    )
    return index


def open_past_index(workspace: Workspace, commit: str) -> SearchIndex:
    """An index over the notes as they were in a commit (a full id); built if missing, and cached for a while."""
    folder = workspace.cache / "past" / commit
    _drop_old(folder)
    past = _Past(workspace.vault, named(contents_at(workspace.vault, commit)))
    return SearchIndex(IndexFiles(folder), _engine(workspace), workspace, lambda: past.listed, past.read)


@dataclass(slots=True)
class _Past:
    """The notes of a commit, read in batches in the order in which an index reads them."""

    vault: Vault
    listed: dict[str, str]
    _held: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        if path not in self._held:
            after = sorted(name for name in self.listed if name >= path)[:_TOGETHER]
            found = self.vault.read_blobs([self.listed[name] for name in after])
            self._held = dict(zip(after, found, strict=True))
        return self._held.get(path)


def _engine(workspace: Workspace) -> Engine:
    engine = engine_for(workspace.settings.index.keyword)
    if engine == "tantivy" and find_spec("tantivy") is None:
        raise ConfigError(
            "tantivy is not installed",
            hint="install it: {command}; or set index.keyword to auto",
            command=command_to_add("fast"),
        )
    return engine


def _drop_old(folder: Path) -> None:
    """Delete the cached indexes of past commits, except the few that were used last."""
    make_folder(folder)
    os.utime(folder)
    others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[_KEPT_PASTS:]:
        shutil.rmtree(path, ignore_errors=True)
