"""The search checks in `doctor`: the embedder encodes text, and the index matches the notes."""

from collections.abc import Iterator

import numpy as np

from agent.errors import ConfigError, LockHeld
from agent.index.files import Damaged
from agent.index.parts import open_store
from agent.texts import Sentence, joined
from agent.vault.health.probe import Check, Level, guarded, ok
from agent.workspace.catch_up import FEW
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.workspace import Workspace

_NEXT = "vault-agent doctor --fix"


def search_checks(workspace: Workspace, *, fix: bool) -> list[Check]:
    """Check the embedder and compare the index with the vault; `fix` updates or rebuilds the index."""
    try:
        index = open_index(workspace)
    except ConfigError as error:
        return [Check(Level.BAD, "search index", error.message, next=error.hint)]
    try:
        return [*guarded("embedder", lambda: _embedder(index)), *guarded("search index", lambda: _index(index, fix))]
    finally:
        index.close()


def _embedder(index: SearchIndex) -> Iterator[Check]:
    embedder = index.chosen.embedder
    if embedder is None:
        why = Sentence("none, so search is by keywords alone: {reason}", reason=index.chosen.reason)
        yield Check(Level.WARN, "embedder", why, next=index.chosen.fix)
        return
    rows = embedder.vectors(embedder.tokens(["a cup of green tea 一杯绿茶"])[0])
    if not len(rows) or not np.isfinite(rows).all() or not np.abs(rows).sum():
        yield Check(
            Level.BAD,
            "embedder",
            Sentence("{name} gives no vectors", name=embedder.name),
            next="install vault-agent again",
        )
        return
    yield ok(
        "embedder", "{name} encodes, {dimensions} numbers each", name=embedder.name, dimensions=embedder.dimensions
    )
    if index.chosen.reason:
        yield Check(Level.WARN, "embedder", index.chosen.reason, next=index.chosen.fix)


def _index(index: SearchIndex, fix: bool) -> Iterator[Check]:
    if index.files.inode() is None and not fix:
        yield ok("search index", "not built yet; the daemon, or the first search, builds it")
        return
    damage = Sentence("it was made with another model") if index.is_of_another_model else _damage(index)
    listed, known = index.listed(), index.known()
    outdated = sorted({path for path, _ in listed.items() ^ known.items()})
    if not outdated and damage is None:
        yield ok("search index", "says what {count} notes say ({engine})", count=len(listed), engine=index.engine)
        return
    what = damage or Sentence(
        "1 change is not in it yet" if len(outdated) == 1 else "{count} changes are not in it yet", count=len(outdated)
    )
    if not fix and damage is None and len(outdated) <= FEW:
        yield ok(
            "search index", "{problem}; the daemon, or the next search, takes that in", tuple(outdated), problem=what
        )
        return
    if not fix:
        yield Check(Level.WARN, "search index", what, tuple(outdated), _NEXT)
        return
    try:
        report = index.refresh(verify=True)
    except LockHeld as error:
        yield Check(Level.WARN, "search index", joined([what, error.message], "; "), next=_NEXT)
        return
    done = "brought up to date: {indexed} notes indexed, {forgotten} dropped"
    if report.rebuilt:
        done = "built anew: {indexed} notes indexed, {forgotten} dropped"
    yield ok(
        "search index",
        done,
        indexed=report.indexed,
        forgotten=report.forgotten,
    )


def _damage(index: SearchIndex) -> str | None:
    """The damage found in the index by checking every byte; None if there is none."""
    try:
        store = open_store(index.files, write=False)
    except Damaged as error:
        return error.message
    try:
        store.verify()
    except Damaged as error:
        return error.message
    finally:
        store.close()
    degraded = index.searcher.search("anything", 1).degraded
    return degraded if degraded != index.chosen.notice else None  # a fallback model is no damage of the index
