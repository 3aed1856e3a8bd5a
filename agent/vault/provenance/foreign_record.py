"""The record of foreign text that the machines of one vault share: lines and commits that are not its person's.

A run that has read a stranger's text writes lines that nobody can tell from its person's own afterwards; a commit that
came from a remote to which others write looks on the next machine as if its person had made it. Both are recorded here,
by hash, in an append-only file on this machine and in a reference of the repository (`FOREIGN_REF`), so that a copy of
the vault and, with sync, each other machine knows them too. Nothing here is ever taken back by what arrives: a row can
only add distrust.

Each row has a MAC by a key that the person's own machines hand each other over remotes to which only they write
(`vault.sync.foreign_exchange`); rows of others are not taken in. A commit with marked lines names its rows in a trailer
(`UNTRUSTED`): one that names rows which are not known here counts as foreign as a whole.
"""

import json
import os
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path

from agent.config import durable
from agent.dataclass import dataclass
from agent.errors import GitFailed
from agent.git.repository import OWN_REFS, common_folder, is_id, ref_commit
from agent.git.runner import Git

FOREIGN_REF = f"{OWN_REFS}foreign"
"""The reference on a tree of files with rows, named by the beginning of the rows' ids."""
UNKNOWN = "a run that had read untrusted text"
SAVED_FILE = "a saved file"
"""The source of a file beside notes, of which nothing else is known."""
_NO_RUN = "no-run"
"""The id of rows about text that was written outside of any run."""
_SOURCE = 160
_CHUNK = 4
"""Letters of an id that name the file of a row: ids that begin with the time change the fourth letter in 12 days."""
_MAC = 32
_LARGEST = 16 << 20
"""Bytes of a file of the shared record that are read."""
_MOST_FILES = 500
"""Files of a shared record: 16 years."""
_DIGITS = 16
_ID = re.compile(r"[0-9A-Za-z][\w-]{3,63}")
_EARLIER = "foreign-lines.txt"
"""The file that had the lines of tainted runs before they were shared: a mark and a source in each row."""


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """Text of one source: the `marks` of lines, or the ids of `commits`. `id` is that of the run that wrote them, or of
    the moment in which the commits went on."""

    id: str
    source: str
    marks: tuple[int, ...] = ()
    commits: tuple[str, ...] = ()
    mac: str = ""

    def signed(self, key: str) -> "ForeignRow":
        """The row with the MAC of this key."""
        return replace(self, mac=self._mac(key))

    def is_signed_by(self, keys: Iterable[str]) -> bool:
        """True if one of these keys has made its MAC."""
        return any(self.mac == self._mac(key) for key in keys)

    @property
    def line(self) -> str:
        """The row as it is stored and shared."""
        return json.dumps([*self._content, self.mac], ensure_ascii=False, separators=(",", ":"))

    @property
    def _content(self) -> list[str]:
        return [self.id, self.source, " ".join(map(_hex, self.marks)), " ".join(self.commits)]

    def _mac(self, key: str) -> str:
        text = json.dumps(self._content, ensure_ascii=True)
        hmac = import_module("hmac")  # most vaults have no row
        return str(hmac.new(key.encode(), text.encode(), "sha256").hexdigest())[:_MAC]


def parse_row(line: str) -> ForeignRow | None:
    """The row in a line of the record; None for any other line, such as one that a crash has cut."""
    try:
        id, source, marks, commits, mac = json.loads(line)
        numbers = tuple(_mark(each) for each in marks.split() if len(each) == _DIGITS)
        made = ForeignRow(id, source, numbers, tuple(commits.split()), mac)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    texts = (made.id, made.source, made.mac)
    is_row = all(isinstance(each, str) for each in texts) and all(map(is_id, made.commits))
    return made if is_row and _ID.fullmatch(made.id) else None


@dataclass(slots=True)
class ForeignRecord:
    """The record of one vault on this machine, for use by several threads. `folder` has the private files. `own_runs`
    are the runs of which lines from saved files count as the person's."""

    folder: Path
    git: Git
    own_runs: Callable[[], Collection[str]] = frozenset
    marks: dict[int, str] = field(default_factory=dict)
    """The source of each marked line."""
    _of_files: dict[int, str] = field(default_factory=dict)
    """The run of each marked line that comes from saved files alone, if only one run has written it."""
    commits: dict[str, str] = field(default_factory=dict)
    """The address from which each foreign commit came, as the machine knew it that received it."""
    counts: Counter[str] = field(default_factory=Counter)
    """The number of rows of each run."""
    _lines: dict[str, set[str]] = field(default_factory=dict)
    _read: int = 0
    _reference: str = ""
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def file(self) -> Path:
        return self.folder / "foreign-text.jsonl"

    def add_lines(self, run: str, marks: Sequence[int], sources: Iterable[str]) -> None:
        """Record lines that a tainted run is about to write; durable on this machine when this returns. Lines that are
        known as foreign get no second row, but the run gets one."""
        self.refresh()
        run = run or _NO_RUN
        source = " ".join(", ".join(sources).split())[:_SOURCE] or UNKNOWN
        own = self.own_runs() if self._of_files else ()
        new = tuple(
            mark for mark in dict.fromkeys(marks) if mark not in self.marks or self._of_files.get(mark, "") in own
        )
        if new or run not in self.counts:
            self._add([ForeignRow(run, source, new)])

    def source_of(self, marks: Iterable[int], own: Collection[str] | None = None) -> str:
        """The source of the first of these lines that is foreign; empty if none is. `own` are the `own_runs`, for a
        caller that asks often."""
        found = [mark for mark in marks if mark in self.marks]
        if own is None:
            own = self.own_runs() if any(mark in self._of_files for mark in found) else ()
        return next((self.marks[mark] for mark in found if self._of_files.get(mark, "") not in own), "")

    def claim_of(self, run: str) -> str:
        """What a commit with this run's lines says in its trailer: the run, and the number of its rows by now; empty
        for a run that has written nothing foreign."""
        self.refresh()
        return f"{run}-{self.counts[run]}" if run in self.counts else ""

    def knows(self, claim: str) -> bool:
        """True if all rows that a trailer names are here; also for a commit without one."""
        run, _, count = claim.rpartition("-")
        return not claim or (count.isdecimal() and self.counts.get(run, 0) >= int(count[:9]) > 0)

    def add_commits(self, id: str, sources: Mapping[str, str]) -> None:
        """Record commits (with their sources) that others have made, before they go on to another remote."""
        self.refresh()
        by_source: dict[str, list[str]] = defaultdict(list)
        for commit, source in sources.items():
            if commit not in self.commits:
                by_source[source].append(commit)
        self._add([ForeignRow(id, source, commits=tuple(each)) for source, each in by_source.items()])

    def take(self, rows: Iterable[ForeignRow]) -> None:
        """Take in rows from another machine whose MAC one of the known keys has made; others are left out."""
        self.refresh()
        keys = self.keys()
        self._store([each for each in rows if not self._has(each) and each.is_signed_by(keys)])

    def refresh(self) -> None:
        """Read what other processes, or a copied repository, have added; costs two `stat` calls if nothing was."""
        with self._lock:
            if not self._read and not self.file.exists():
                self._take_earlier()
            self._read_file()
            reference = ref_commit(common_folder(self.git.gitdir), FOREIGN_REF)
            if reference and reference != self._reference:
                self._adopt(rows_at(self.git, reference))
                self._reference = reference

    def publish(self) -> str:
        """Bring the repository's reference up to date; returns the tree that it names, empty if there are no rows.

        Raises `GitFailed`; another process may have moved the reference meanwhile, and has this machine's rows next
        time.
        """
        self.refresh()
        with self._lock:
            if not any(self._lines.values()):
                return ""
            old = ref_commit(common_folder(self.git.gitdir), FOREIGN_REF)
            tree = self._write_tree(old)
            if tree != old:
                self.git.run("update-ref", FOREIGN_REF, tree, old or "0" * self.git.width)
                self._reference = tree
            return tree

    def keys(self) -> tuple[str, ...]:
        """The keys of this vault's machines, this one's first; it is made when it is first needed."""
        with self._lock:
            found = parse_keys(_read_text(self._key_file))
            if not found:
                found = (os.urandom(32).hex(),)
                durable.replace(self._key_file, json.dumps(found))
            return found

    def add_keys(self, keys: Iterable[str]) -> None:
        """Count what the machines with these keys have recorded."""
        known = self.keys()
        if new := [each for each in dict.fromkeys(keys) if each not in known]:
            durable.replace(self._key_file, json.dumps([*known, *new]))

    @property
    def _key_file(self) -> Path:
        return self.folder / "foreign-keys.json"

    def _add(self, rows: Iterable[ForeignRow]) -> None:
        key = self.keys()[0]
        self._store([each.signed(key) for each in rows])
        with suppress(GitFailed):  # it is on disk; the next row, or the next round of sync, publishes it too
            self.publish()

    def _adopt(self, rows: Iterable[ForeignRow]) -> None:
        """Take in what the repository's own reference has: a copy of the vault knows no key, and believes its rows."""
        keys, known = self.keys(), {(row.source, row.marks, row.commits) for row in self._rows()}
        new = [each for each in rows if (each.source, each.marks, each.commits) not in known]
        self._store([each if each.is_signed_by(keys) else each.signed(keys[0]) for each in new])

    def _rows(self) -> list[ForeignRow]:
        lines = (line for each in self._lines.values() for line in each)
        return [row for line in lines if (row := parse_row(line)) is not None]

    def _store(self, rows: Sequence[ForeignRow]) -> None:
        if rows:
            durable.append(self.file, "\n" + "".join(f"{each.line}\n" for each in rows))
            self._read_file()

    def _read_file(self) -> None:
        with self._lock:
            try:
                if self.file.stat().st_size == self._read:
                    return
                with self.file.open("rb") as stream:
                    stream.seek(self._read)
                    added = stream.read()
            except (FileNotFoundError, IsADirectoryError):
                return
            whole = added[: added.rfind(b"\n") + 1]
            self._read += len(whole)
            for line in whole.decode("utf-8", "replace").splitlines():
                if (row := parse_row(line)) is not None and not self._has(row):
                    self._learn(row)

    def _has(self, row: ForeignRow) -> bool:
        return row.line in self._lines.get(row.id[:_CHUNK], ())

    def _learn(self, row: ForeignRow) -> None:
        self._lines.setdefault(row.id[:_CHUNK], set()).add(row.line)
        self.counts[row.id] += 1
        is_of_files = {SAVED_FILE} == set(row.source.split(", ")) and row.id != _NO_RUN
        for mark in row.marks:
            if is_of_files and (mark not in self.marks or self._of_files.get(mark) == row.id):
                self._of_files[mark] = row.id
            else:
                self._of_files.pop(mark, None)
            self.marks.setdefault(mark, row.source or UNKNOWN)
        for commit in row.commits:
            self.commits.setdefault(commit, row.source)

    def _write_tree(self, old: str) -> str:
        """The tree of all rows; `old` is the one before, whose files are not written again."""
        there = dict(_files_of(self.git, old)) if old else {}
        files = {}
        for name, lines in self._lines.items():
            data = "".join(f"{line}\n" for line in sorted(lines)).encode("utf-8", "replace")
            files[name] = self.git.blob_id(data)
            if files[name] != there.get(name):
                self.git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=data)
        if files == there:
            return old
        rows = "".join(f"100644 blob {oid}\t{name}\n" for name, oid in sorted(files.items()))
        return self.git.run("mktree", stdin=rows.encode()).decode().strip()

    def _take_earlier(self) -> None:
        """Take in the lines that an earlier version of this program has recorded."""
        marks: dict[str, list[int]] = defaultdict(list)
        for line in _read_text(self.folder / _EARLIER).splitlines():
            mark, _, source = line.partition(" ")
            with suppress(ValueError):
                if len(mark) == _DIGITS:
                    marks[source or UNKNOWN].append(_mark(mark))
        key = self.keys()[0] if marks else ""
        self._store([ForeignRow("0EARLIER", source, tuple(each)).signed(key) for source, each in marks.items()])


def rows_at(git: Git, tree: str) -> list[ForeignRow]:
    """The rows of a shared record; files that are too large and lines that are no rows are left out."""
    blobs = [oid for _, oid in _files_of(git, tree)]
    texts = git.small_blobs(blobs[:_MOST_FILES], _LARGEST).values()
    lines = (line for text in texts for line in text.decode("utf-8", "replace").splitlines())
    return [row for line in lines if (row := parse_row(line)) is not None]


def _files_of(git: Git, tree: str) -> Iterator[tuple[str, str]]:
    """The name and the blob of each file directly in a tree; none if there is no such tree."""
    for row in git.fields("ls-tree", "-z", "--format=%(objecttype) %(objectname) %(path)", tree, ok=(0, 128)):
        kind, _, file = row.partition(" ")
        if kind == "blob":
            oid, _, name = file.partition(" ")
            yield name, oid


def parse_keys(text: str) -> tuple[str, ...]:
    """The keys in a text; none if it has no such list."""
    try:
        found = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    rows = found if isinstance(found, list) else []
    return tuple(dict.fromkeys(each for each in rows if isinstance(each, str) and len(each) == 64 and each.isalnum()))


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _hex(mark: int) -> str:
    return f"{mark & (2**64 - 1):0{_DIGITS}x}"


def _mark(text: str) -> int:
    found = int(text, 16)
    return found - 2**64 if found >= 2**63 else found
