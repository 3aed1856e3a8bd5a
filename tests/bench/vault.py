"""Notes in memory with an index on disk: what tests and measurements of search stand on, without git."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from agent.clock import Clock, SystemClock
from agent.config.memory_settings import MemorySettings
from agent.database.connection import SharedDatabase
from agent.index.embedder import EmbedderChoice
from agent.index.files import IndexFiles
from agent.index.keyword import Engine, Weights
from agent.index.parts import IndexPlace
from agent.index.postgres_place import PostgresPlace
from agent.index.search import Searcher
from agent.index.update import IndexReport, Updater
from agent.memory.forgetting.tombstones import Tombstones
from agent.memory.recall.recaller import FindNotes, ReadNote, Recaller
from agent.vault.folders import AT_ROOT

KEYWORDS_ONLY = EmbedderChoice(None, "no embedding model")


@dataclass(slots=True)
class MemoryVault:
    """Notes by path; `listed` is what a vault lists of them."""

    notes: dict[str, bytes] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)

    @classmethod
    def of_folder(cls, root: Path) -> "MemoryVault":
        return cls({path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.md"))})

    def listed(self) -> dict[str, str]:
        return {path: blake2b(data, digest_size=20).hexdigest() for path, data in self.notes.items()}

    def updater(
        self,
        folder: Path,
        engine: Engine = "whoosh",
        chosen: EmbedderChoice = KEYWORDS_ONLY,
        weights: Weights | None = None,
    ) -> Updater:
        return Updater(index_place(folder, engine), engine, chosen, weights or Weights(), self.clock, patience=0.0)

    def update(self, updater: Updater, *, verify: bool = False) -> IndexReport:
        return updater.update(self.listed(), self.notes.get, verify=verify)

    def searcher(
        self, folder: Path, engine: Engine, chosen: EmbedderChoice, weights: Weights | None = None
    ) -> Searcher:
        """Index everything, then a searcher over it."""
        updater = self.updater(folder, engine, chosen, weights)
        self.update(updater)
        updater.close()
        updater.files.close()
        return Searcher(index_place(folder, engine), engine, chosen, weights or Weights())


def index_place(folder: Path, engine: Engine) -> IndexPlace:
    """The index in a folder; for PostgreSQL the one of this name in the database of the environment."""
    if engine != "postgres":
        return IndexFiles(folder)
    return PostgresPlace(SharedDatabase(os.environ["VAULT_AGENT_DATABASE__URL"], str(folder)), "tests", folder)


def recaller_over(find: FindNotes, read: ReadNote, now: Callable[[], datetime], settings: MemorySettings) -> Recaller:
    """Recall from notes of which none has untrusted text, in a vault where nothing was forgotten."""
    return Recaller(find, read, now, settings, lambda path, data: False, Tombstones, lambda each: each, AT_ROOT)
