"""Records the text that arrived in a vault from elsewhere, and finds it in a note. Start reading this package here.

`look` compares HEAD, the remote-tracking branches and the last fetch with the last update, and records new commits
before any answer is given. A commit is this machine's own if its reflog, its author and this program's journal agree.
Of every other commit, the files and their new lines are recorded with the remotes that have it. Arrived text counts as
foreign until the person has looked at it here, has answered that only they write to that remote, or has approved the
key with which the commit is signed. A signature is for what its own commit changed, and for nothing below it. What
another of the person's machines has received from others, or written in a run that had read a stranger's text, is
known from the record that they share (`foreign_record`), by whichever way it came.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.git.repository import Place
from agent.git.runner import Git
from agent.lazy import later
from agent.vault.folders import JOBS, AgentFolder
from agent.vault.options import Options
from agent.vault.provenance.database import ArrivedBlob, Database, RecordDamaged
from agent.vault.provenance.foreign_record import ForeignRecord
from agent.vault.provenance.marks import all_marks
from agent.vault.provenance.recorder import Recorder
from agent.vault.provenance.remotes import NOWHERE, AnswerFile, Looks, RemoteAnswers, addresses

if TYPE_CHECKING:
    from agent.markdown.merging.strict import merge_touching
    from agent.records.database import Records
    from agent.vault.provenance.own_runs import own_runs
    from agent.vault.write.resolve import is_conflict_copy
else:  # few notes that arrived were edited here since, and few runs had read the person's own files
    own_runs = later("agent.vault.provenance.own_runs", "own_runs")
    merge_touching = later("agent.markdown.merging.strict", "merge_touching")
    is_conflict_copy = later("agent.vault.write.resolve", "is_conflict_copy")


@dataclass(slots=True)
class Provenance:
    """The record of one vault on this machine, for use by several threads. `read` returns a note's bytes."""

    recorder: Recorder
    read: Callable[[str], bytes | None]
    answers: AnswerFile
    looks: Looks
    home: AgentFolder
    foreign: ForeignRecord
    _stamp: object = None
    _left: tuple[RemoteAnswers, Mapping[str, int]] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _looking: threading.local = field(default_factory=threading.local)

    @property
    def database(self) -> Database:
        return self.recorder.database

    @property
    def git(self) -> Git:
        return self.recorder.git

    @property
    def is_new(self) -> bool:
        """True if nothing was recorded on this machine yet: the first look reads the history."""
        return not self.database.path.exists()

    def look(self) -> None:
        """Record what has arrived since the last call; costs a few `stat` calls if nothing has.

        Raises `Retryable` if another process locks the record, `GitFailed` if git fails.
        """
        if getattr(self._looking, "has_looked", False):
            return
        with self._lock:
            self.foreign.refresh()
            stamp = self.recorder.stamp()
            if stamp == self._stamp:
                return
            try:
                self.recorder.update(self.answers.load(), self.foreign)
            except RecordDamaged:
                self._left = None
                self.recorder.update(self.answers.load(), self.foreign)
            self._stamp = stamp

    @contextmanager
    def looked(self) -> Iterator[None]:
        """Look once for all that this thread asks in the block, which must be about contents that it has read before.
        Raises as `look` does."""
        self.look()
        self._looking.has_looked = True
        try:
            yield
        finally:
            self._looking.has_looked = False

    def leave(self, address: str) -> None:
        """Forget who writes to the remote at this address. What has come from it counts as before if that was only the
        person; what comes from it later is foreign until they answer again."""
        self.look()
        with self._lock:
            if self.answers.load().is_mine(address):
                self.database.leave(address)
            self.answers.drop(address)

    def made_here(self, commits: Sequence[str]) -> set[str]:
        """The commits whose trailers count.

        This program made them here, the person's key has signed them, or they came from a remote to which only the
        person writes.
        """
        self.look()
        made = self.recorder.program_commits(commits)
        rest = [each for each in commits if each not in made]
        return made | self._mine(rest)

    def made_by_others(self, commits: Sequence[str]) -> set[str]:
        """The commits that came from elsewhere, and from where not only the person writes."""
        self.look()
        found = self.database.of_commits(commits) if commits else []
        return {each.commit for each in found if not self._is_mine(each)}

    def handed_on(self, commits: Sequence[str]) -> dict[str, str]:
        """Those of these commits that are not the person's, each with the address that it came from; what is neither
        made here nor recorded counts as a stranger's."""
        self.look()
        known = self.database.makers(commits).keys() | self.recorder.program_commits(commits)
        arrivals = self.database.of_commits([each for each in commits if each not in known])
        mine = {each.commit for each in arrivals if self._is_mine(each)}
        address = {each.commit: next(iter(each.addresses), NOWHERE) for each in arrivals}
        return {each: address.get(each, NOWHERE) for each in commits if each not in known and each not in mine}

    def add_key(self, fingerprint: str) -> int:
        """Count what this key has signed as the person's own; returns the number of such commits that came before."""
        self.look()
        self.answers.add_key(fingerprint)
        with self._lock, self.database.transaction():
            return self.recorder.sign_earlier(fingerprint)

    def forget_key(self, fingerprint: str) -> None:
        """Count what this key signs from now on as anybody's; what came before stays the person's."""
        self.look()
        self.answers.forget_key(fingerprint)

    def rewrite(self, made: Mapping[str, str]) -> None:
        """Copy the maker of each commit to the new commit that will replace it (old id to new).

        Call this before the branch moves.
        """
        self.look()
        with self._lock, self.database.transaction():
            self.recorder.rewrite(made)

    def strangers(self, path: str, data: bytes, lines: tuple[int, int] | None = None) -> str:
        """The origin of foreign text in these lines (inclusive, from 1; None: all): it arrived, or a run has written it
        after it had read a stranger's. Empty if all is the person's."""
        self.look()
        if self.foreign.marks and (found := self._written_foreign(path, all_marks(data, lines, separately=True), data)):
            return found
        if self.database.is_empty():
            return ""
        return self._source(path, self.marks_of(data, lines), "" if lines else self.git.blob_id(data))

    def marks_of(self, data: bytes, lines: tuple[int, int] | None = None) -> list[int]:
        """The marks of these lines (inclusive, from 1; None: all) by which `strangers` knows them, each once."""
        return sorted(all_marks(data, lines))

    def strangers_among(self, texts: Iterable[tuple[str, Sequence[int], str]]) -> set[str]:
        """The paths of the notes with foreign text, for (path, marks of its lines, blob id); quick for many of them."""
        self.look()
        texts = tuple(texts)
        own = self.foreign.own_runs() if self.foreign.marks else ()
        found = {path for path, marks, blob in texts if self._written_foreign(path, marks, blob, own)}
        if self.database.is_empty():
            return found
        marks, blobs = self.database.marks(), self.database.blobs()
        may_be = [each for each in texts if each[2] in blobs or not marks.isdisjoint(each[1])]
        return found | {path for path, of_lines, blob in may_be if self._source(path, of_lines, blob)}

    def _written_foreign(
        self, path: str, marks: Iterable[int], content: bytes | str, own: Collection[str] | None = None
    ) -> str:
        """The source of lines that a tainted run has written; empty if none are among these marks, or if the person has
        looked at this content (its bytes, or the id of its blob)."""
        source = self.foreign.source_of(marks, own)
        blob = self.git.blob_id(content) if source and isinstance(content, bytes) else content
        return "" if not source or self.looks.has(path, str(blob)) else source

    def _source(self, path: str, marks: Sequence[int], blob: str) -> str:
        """The origin of text with these marks, or this content; empty if all is the person's."""
        found = self.database.with_marks(marks) if marks else []
        if not found and blob:
            found = self.database.with_blob([blob])
        return next((each.source for each in found if self._counts(each, path)), "")

    def arrived(self, path: str, blob: str | None) -> bool:
        """True if exactly this content (None: its absence) came to this path from elsewhere, unseen by the person."""
        return bool(self.arrived_among([(path, blob)]))

    def arrived_among(self, contents: Collection[tuple[str, str | None]]) -> set[tuple[str, str | None]]:
        """Those of these contents (path, blob id; None: its absence) that `arrived`; one look for all of them."""
        return {
            (path, blob)
            for (path, blob), found in self._recorded(contents).items()
            if any(self._counts(each, path) for each in found) or self._is_mixed(path, blob, found)
        }

    def recorded_among(self, contents: Collection[tuple[str, str | None]]) -> set[tuple[str, str | None]]:
        """Those of these contents that git has brought from elsewhere to this path, seen by the person or not."""
        return {
            (path, blob)
            for (path, blob), found in self._recorded(contents).items()
            if any(each.path == path for each in found)
        }

    def _recorded(
        self, contents: Collection[tuple[str, str | None]]
    ) -> dict[tuple[str, str | None], list[ArrivedBlob]]:
        """The arrivals of each of these contents: at its path, else elsewhere, as it may have been moved since."""
        self.look()
        if self.database.is_empty() or not contents:
            return {}
        by_blob, removals = defaultdict(list), {}
        for each in self.database.with_blob(list({blob for _, blob in contents if blob is not None})):
            by_blob[each.after].append(each)
        for each in self.database.removals([path for path, blob in contents if blob is None]):
            removals[each.path] = each
        recorded = {}
        for path, blob in contents:
            found = by_blob[blob] if blob is not None else [removals[path]] if path in removals else []
            recorded[path, blob] = [each for each in found if each.path == path] or found
        return recorded

    def _is_mixed(self, path: str, blob: str | None, found: Sequence[ArrivedBlob]) -> bool:
        """True if a signed commit brought this content, and something in it is foreign."""
        if not any(each.signer for each in found):
            return False
        data = self._content(blob)
        return data is not None and (self.own_version(path, data) != data or bool(self.strangers(path, data)))

    def own_version(self, path: str, data: bytes | None) -> bytes | None:
        """The note without unseen text that arrived in it; a note that an arrival deleted still exists.

        None if no note remains. An edit made here that overlaps with arrived text does not count until the person has
        looked at the note.
        """
        self.look()
        if self.database.is_empty():
            return data
        waiting = [each for each in self.database.at(path) if self._counts(each, path)]
        if data is not None and not waiting:
            if is_conflict_copy(path) and self.strangers(path, data):
                return None  # a merge has put it beside the person's own version
            waiting = self._moved_here(path, data)
        own = self._without(data, waiting) if waiting else data
        return own if own is None else self._without(own, self._made_of_foreign(path, own))

    def began_elsewhere(self, path: str) -> bool:
        """True if the note came here from another machine, whoever may write there."""
        self.look()
        return any(each.before is None for each in self.database.at(path))

    def unseen(self, only: Callable[[str], bool] = lambda path: True) -> list[ArrivedBlob]:
        """The arrivals that still count as foreign: the last such one at each path that `only` accepts."""
        self.look()
        last = (self._last_foreign(path) for path in self.database.paths() if only(path))
        return [each for each in last if each is not None]

    def _last_foreign(self, path: str) -> ArrivedBlob | None:
        """The last arrival at a path if it counts as foreign; one below the person's signed commits still does."""
        for each in reversed(self.database.at(path)):
            if self._counts(each, path):
                return each
            if not each.signer:
                return None
        return None

    def addresses(self) -> dict[str, str]:
        """The plain address of each configured remote, by name."""
        return addresses(self.git)

    def counts(self) -> dict[str, int]:
        """The number of notes that came from each address (empty: from no remote)."""
        self.look()
        return self.database.counts()

    def has_seen(self, path: str) -> None:
        """Record that the person has looked at the note's present content, and at all that arrived in it before."""
        data = self.read(path)
        blob = None if data is None else self.git.blob_id(data)
        moved_here = self.database.with_blob([blob]) if blob else []
        contents = [each.after for each in (*self.database.at(path), *moved_here)] + ([blob] if blob else [])
        for content in dict.fromkeys(contents):
            if not self.looks.has(path, content):
                self.looks.add(path, content)

    def _counts(self, arrival: ArrivedBlob, path: str) -> bool:
        """True if an arrival still counts as foreign for the note at `path`.

        What comes from where only the person writes counts as an edit that they make here. Jobs are looked at on each
        machine nevertheless: they start runs by themselves.
        """
        if self.looks.has(arrival.path, arrival.after):
            return False
        return self.home.row(path).path == JOBS or not self._is_mine(arrival)

    def _is_mine(self, arrival: ArrivedBlob) -> bool:
        """True if the person's key has signed it, or if it came from a remote to which only they write, or wrote while
        it was kept in step; unless another of their machines knows better, or its commit names rows of the shared
        record that are not here: what is unknown is not trusted."""
        answers = self.answers.load()
        if self._left is None or self._left[0] is not answers:
            self._left = answers, self.database.left()
        if not arrival.is_mine(answers, self._left[1]) or not self.foreign.knows(arrival.claim):
            return False
        came_from = self.foreign.commits.get(arrival.commit)
        return came_from is None or bool(arrival.signer) or answers.is_mine(came_from)

    def _moved_here(self, path: str, data: bytes) -> list[ArrivedBlob]:
        """The arrivals at another path whose last left exactly this content, from which it was moved here."""
        blob = self.git.blob_id(data)
        if self.looks.has(path, blob):
            return []
        found = {each.path: each.id for each in self.database.with_blob([blob])}
        there = [each for other in found for each in self.database.at(other) if each.id <= found[other]]
        return sorted((each for each in there if self._counts(each, path)), key=lambda each: each.id)

    def _made_of_foreign(self, path: str, data: bytes) -> list[ArrivedBlob]:
        """The signed arrivals at a path, if one of them has made the note and it has foreign text.

        So does a merge that puts another's text beside a note, under a name of its own.
        """
        signed = [each for each in self.database.at(path) if each.signer and not self.looks.has(path, each.after)]
        is_new = any(each.before is None for each in signed)
        return signed if is_new and self.strangers(path, data) else []

    def _without(self, data: bytes | None, waiting: Sequence[ArrivedBlob]) -> bytes | None:
        """The note without these arrivals, removed newest first.

        An unedited arrival gives the version before it; otherwise the edits made here are kept.
        """
        own = data
        for each in reversed(waiting):
            blob = None if own is None else self.git.blob_id(own)
            if each.after == blob:
                own = self._content(each.before)
            elif own is not None and each.after is not None:
                own = self._taken_out(own, each)
        return own

    def _taken_out(self, data: bytes, arrival: ArrivedBlob) -> bytes | None:
        """A note edited here, without the text of one arrival; the version before the arrival if the two overlap."""
        before, after = self._content(arrival.before), self._content(arrival.after) or b""
        old, new, now = (set(version.split(b"\n")) for version in (before or b"", after, data))
        if not (new - old) & now and not (old - new) - now:
            return data  # nothing of the arrival is left
        merged = merge_touching(after, data, before or b"")
        if merged is None:
            return before
        return merged if merged.strip() or before is not None else None

    def _content(self, blob: str | None) -> bytes | None:
        found = self.git.objects([blob])[0] if blob else None
        return found.data if found is not None else None

    def _mine(self, commits: Sequence[str]) -> set[str]:
        """The commits that the person's key has signed, or that came only from remotes to which only they write."""
        found = self.database.of_commits(commits) if commits else []
        return {each.commit for each in found} - {each.commit for each in found if not self._is_mine(each)}


def provenance(
    place: Place,
    git: Git,
    folder: Path,
    read: Callable[[str], bytes | None],
    journalled: Callable[[], Iterable[str]],
    options: Options,
    records: "Callable[[], Records]",
) -> Provenance:
    """The record of a vault, in its private `folder`; `journalled` returns the commits in the write journal."""
    recorder = Recorder(place, git, Database(folder / "provenance.db", git.durable), journalled, options.receiving)
    answers, looks = AnswerFile(folder / "remotes.json"), Looks(folder / "looks.jsonl")
    foreign = ForeignRecord(folder, git, lambda: own_runs(records(), options.mine()))
    return Provenance(recorder, read, answers, looks, options.home, foreign)
