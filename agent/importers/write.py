"""Writes an import into the vault: the only way in. Its commits belong to one run, so that one undo takes it back.

A commit has some hundred notes at most: an export of any size needs little memory, and what was stopped in the middle
is taken up by importing again.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.dataclass import dataclass
from agent.importers.composing import LAST, Composer
from agent.importers.export import Export
from agent.importers.names import digest
from agent.importers.plan import SLOT, ImportPlan, new_turns
from agent.importers.values import ImportedConversation, ImportedFact, ImportedFile, ImportedNote, Item
from agent.markdown.note import Note
from agent.texts import Language, Sentence
from agent.vault.change import Outcome, Stamp
from agent.vault.provenance.marks import new_marks
from agent.vault.secrets import introduced
from agent.vault.store import Vault

_NOTES, _BYTES = 200, 8 << 20
"""The most notes, and about the most bytes, of one commit."""
_TEXTS = (".md", ".markdown", ".txt", ".canvas", ".base")
"""The endings of files that count as typed by the person."""


@dataclass(frozen=True, slots=True)
class WrittenImport:
    """The result: the id of the `run` by which it is taken back (empty: nothing was written), its commits in their
    order, the paths that were written, those of files with a secret in them, which were not, the number of texts in
    which secrets were masked, and why it waits to be written.
    """

    run: str = ""
    commits: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    masked: int = 0
    queued: str | None = None


@dataclass(frozen=True, slots=True)
class _Write:
    """One file to write: `before` is what it holds now, None for a new one."""

    path: str
    before: bytes | None
    after: bytes


def write_import(
    plan: ImportPlan, source: Export, language: Language, progress: Callable[[int], object] = lambda done: None
) -> WrittenImport:
    """Write what the plan has as new, in one run; `progress` is told how many things are written. Raises what a
    transaction raises, and `UserError` for a source that has changed since; what was written before stays, as its run.
    """
    return _Writing(plan, source, language, progress).write()


class _Writing:
    def __init__(self, plan: ImportPlan, source: Export, language: Language, progress: Callable[[int], object]) -> None:
        self.plan, self.source, self.progress = plan, source, progress
        self.vault: Vault = plan.vault
        now = self.vault.clock.now()
        self.composer = Composer(plan.format.label, plan.is_mine, language, plan.stones, plan.paths, self._masked, now)
        self.run = self.vault.clock.new_id()
        self.commits: list[str] = []
        self.paths: list[str] = []
        self.secret: list[str] = []
        self.masked = 0
        self.queued: str | None = None
        self._written_files: set[str] = set()

    def write(self) -> WrittenImport:
        batch, size = list[_Write](), 0
        for item in self.plan.format.read(self.source):
            for each in self._writes(item):
                batch.append(each)
                size += len(each.after)
                if len(batch) >= _NOTES or size >= _BYTES:
                    self._commit(batch)
                    batch, size = [], 0
        self._commit(batch)
        run = self.run if self.paths else ""
        return WrittenImport(run, tuple(self.commits), tuple(self.paths), tuple(self.secret), self.masked, self.queued)

    def _commit(self, batch: list[_Write]) -> None:
        if not batch:
            return
        subject = Sentence("import: {count} from {label}", count=len(batch), label=self.plan.format.label)
        with self.vault.transaction(subject, Stamp("agent", run=self.run, tool="import")) as change:
            for each in batch:
                change.write(each.path, each.before, each.after)
        outcome: Outcome = change.outcome
        self.commits += [outcome.commit] if outcome.commit else []
        self.queued = outcome.queued or self.queued
        self.paths += [each.path for each in batch]
        self.progress(len(self.paths))

    def _writes(self, item: Item) -> Iterator[_Write]:
        match item:
            case ImportedConversation():
                yield from self._conversation(item)
            case ImportedNote():
                placed = self.plan.place(item)
                if placed is not None and placed.path not in self._written_files:
                    yield from self._files(item.files)
                    self._written_files.add(placed.path)
                    yield _Write(placed.path, None, self.composer.note(item, placed.path))
            case ImportedFact():
                if self.plan.takes(item):
                    yield self._fact(item)
            case ImportedFile():
                yield from self._files((item,))
            case _:
                return

    def _conversation(self, found: ImportedConversation) -> Iterator[_Write]:
        placed = self.plan.place(found)
        if placed is None or placed.path in self._written_files or not found.turns:
            return
        self._written_files.add(placed.path)
        yield from self._files(tuple(file for each in found.turns for file in each.files))
        if not placed.before:
            yield _Write(placed.path, None, self.composer.conversation(found, placed.path))
            return
        before = self.vault.read(placed.path)
        if before is not None:
            note = Note.parse(before).with_key(LAST, digest(found.turns[-1].id))
            more = self.composer.turns(new_turns(found, placed.before), placed.path)
            # the person may have made the note their own: what comes now is not
            self.vault.provenance.foreign.add_lines(
                self.run, new_marks(more.encode("utf-8", "replace"), [before]), [self.plan.format.label]
            )
            after = note.data + (b"" if note.data.endswith(b"\n") else b"\n") + more.encode("utf-8", "replace")
            yield _Write(placed.path, before, after)

    def _fact(self, found: ImportedFact) -> _Write:
        others = () if self.plan.is_mine else (self.plan.format.label,)
        slots = {**found.entry.slots, SLOT: found.id}
        entry = replace(found.entry, id=self.vault.clock.new_id(), slots=slots, untrusted=others)
        return _Write(self.vault.home.at(entry.path), None, entry.note())

    def _files(self, files: tuple[ImportedFile, ...]) -> Iterator[_Write]:
        for each in files:
            path = self.plan.paths.get(each.key, "")
            if not path or path in self._written_files:
                continue
            self._written_files.add(path)
            if (self.vault.place.root / path).exists():
                continue
            data = each.load()
            if introduced(b"", data):
                self.secret.append(path)
                continue
            if path.endswith(_TEXTS) and not self.plan.is_mine:  # of any other file nobody knows who has written it
                self.vault.provenance.foreign.add_lines(self.run, new_marks(data, []), [self.plan.format.label])
            yield _Write(path, None, data)

    def _masked(self, words: str) -> str:
        masked = self.vault.masked(words)
        self.masked += masked != words
        return masked
