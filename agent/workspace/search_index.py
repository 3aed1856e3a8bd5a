"""The vault's index: built from what the vault lists and reads, and asked by everybody who searches."""

import logging
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from agent.config.private import make_folder
from agent.errors import ConfigError
from agent.index.embedder import EmbedderChoice, choose_embedder
from agent.index.files import IndexFiles
from agent.index.hit import SearchResult
from agent.index.keyword import Engine, engine_for, open_engine
from agent.index.search import Searcher
from agent.index.update import IndexReport, Updater
from agent.index.vector import VectorIndex
from agent.index.weights import Weights
from agent.vault.listing import contents, contents_at, listed
from agent.vault.store import Vault
from agent.workspace.index_status import index_files, indexed_hashes
from agent.workspace.workspace import Workspace

_UNSAYABLE = re.compile("[\ud800-\udfff]")
N = TypeVar("N")
logger = logging.getLogger(__name__)
_KEPT_PASTS = 5
_TOGETHER = 500


def not_held(path: str, digest: str) -> bytes | None:
    """For an index whose notes nobody has read already."""
    return None


@dataclass(slots=True)
class SearchIndex:
    """One index over one set of notes. Keeps files open; `close` lets go of them.

    `held`: a note's bytes of this content hash from somebody who has read them already, None for most.
    """

    files: IndexFiles
    engine: Engine
    workspace: Workspace
    listed: Callable[[], dict[str, str]]
    read: Callable[[str], bytes | None]
    _chosen: EmbedderChoice | None = None
    _searcher: Searcher | None = None
    _updater: Updater | None = None
    held: Callable[[str, str], bytes | None] = not_held

    @property
    def chosen(self) -> EmbedderChoice:
        """The embedder, loaded at the first need."""
        if self._chosen is None:
            wanted = self.workspace.settings.index.model
            self._chosen = choose_embedder("" if wanted == "auto" else wanted)
        return self._chosen

    @property
    def searcher(self) -> Searcher:
        if self._searcher is None:
            self._searcher = Searcher(self.files, self.engine, self.chosen, Weights())
        return self._searcher

    @property
    def updater(self) -> Updater:
        if self._updater is None:
            self._updater = Updater(self.files, self.engine, self.chosen, Weights(), self.workspace.clock)
        return self._updater

    def warm(self, text: str) -> None:
        """Load what a search for `text` needs beside the index's files; for when there is time to do it."""
        open_engine(self.engine, self.files.keyword(self.engine), Weights())
        if self.chosen.embedder is not None:
            VectorIndex(self.chosen.embedder.dimensions)
            self.chosen.embedder.tokens([text])

    def search(self, text: str, limit: int, *, passages: bool = False, explain: bool = False) -> SearchResult:
        """Ask the index as it is."""
        return self.searcher.search(text, limit, passages=passages, explain=explain)

    def refresh(self, *, verify: bool = False) -> IndexReport:
        """Bring the index up to what the notes say; raises `LockHeld` when another process is at it."""
        return self.updater.update(self.listed(), self.read, verify=verify)

    def touch(self, changed: dict[str, str | None]) -> IndexReport:
        """The same when only these paths changed (None: gone)."""
        changed = _named(changed)
        there = listed(self.workspace.vault, [path for path, digest in changed.items() if digest is not None])
        seen = {path: digest if path in there else None for path, digest in changed.items()}

        def read(path: str) -> bytes | None:
            data = self.held(path, seen[path] or "")
            return self.read(path) if data is None else data

        return self.updater.touch(seen, read) or self.refresh()

    def is_broken(self) -> bool:
        """Whether it has to be built anew: the cache was deleted, or a search has met damage."""
        return bool(self.files.why_broken())

    def known(self) -> dict[str, str]:
        """The content hashes that the index was made from, by path."""
        return indexed_hashes(self.files)

    def close(self) -> None:
        """Let go of all files."""
        for part in (self._searcher, self._updater):
            if part is not None:
                part.close()
        self._searcher = self._updater = None


def _named(notes: Mapping[str, N]) -> dict[str, N]:
    """Those whose names are text: no index can hold the others, and none is left out unsaid."""
    found = {path: value for path, value in notes.items() if _UNSAYABLE.search(path) is None}
    for path in notes.keys() - found.keys():
        logger.warning("%s is not found by search: its name is not UTF-8; rename it", ascii(path))
    return found


def open_index(workspace: Workspace, held: Callable[[str, str], bytes | None] = not_held) -> SearchIndex:
    """The index over the notes as they are now; `held` as in `SearchIndex`."""
    vault = workspace.vault
    return SearchIndex(
        index_files(workspace),
        _engine(workspace),
        workspace,
        lambda: _named(contents(vault)),
        vault.read_now,
        held=held,
    )


def open_past_index(workspace: Workspace, commit: str) -> SearchIndex:
    """An index over the notes as they were in a commit (a full id); built where it is missing, and kept for a while."""
    folder = workspace.cache / "past" / commit
    _drop_old(folder)
    past = _Past(workspace.vault, _named(contents_at(workspace.vault, commit)))
    return SearchIndex(IndexFiles(folder), _engine(workspace), workspace, lambda: past.listed, past.read)


@dataclass(slots=True)
class _Past:
    """The notes of a commit, read many at a time in the order in which an index asks for them."""

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
            "tantivy is not installed", hint="pip install 'vault-agent[fast]', or set index.keyword to auto"
        )
    return engine


def _drop_old(folder: Path) -> None:
    """Keep the few pasts that were asked for last."""
    make_folder(folder)
    os.utime(folder)
    others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[_KEPT_PASTS:]:
        shutil.rmtree(path, ignore_errors=True)
