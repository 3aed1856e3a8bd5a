"""git's objects as bytes: trees with changed paths, commits, and packs; written and read as files without git.

Makes the bytes of a commit again with another tree, other parents or another message; the rest stays as it was.
"""

import os
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

from agent.dataclass import dataclass
from agent.git.object_ids import FOLDER, hasher, object_id
from agent.git.repository import common_folder
from agent.git.runner import Git
from agent.platform.here import platform

if TYPE_CHECKING:
    from agent.git.identities import Signature

_HEADER = re.compile(rb"^(tree|parent) ([0-9a-f]{40,64})\n", re.MULTILINE)
_SIGNATURE = re.compile(rb"^(?:gpgsig(?:-sha256)?|mergetag) [^\n]*\n(?: [^\n]*\n)*", re.MULTILINE)
_COMMIT_ID = re.compile(rb"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")


def parents_in(raw: bytes) -> list[str]:
    """The parents that a commit's bytes name."""
    return [oid.decode() for name, oid in _HEADER.findall(raw.partition(b"\n\n")[0] + b"\n") if name == b"parent"]


def tree_in(raw: bytes) -> str:
    """The tree that a commit's bytes name."""
    return raw[len(b"tree ") : raw.index(b"\n")].decode()


def made_again(raw: bytes, tree: str, parents: Sequence[str], message: bytes) -> bytes:
    """A commit by the same people at the same times; its signature goes, since it would not be valid."""
    head = raw.partition(b"\n\n")[0] + b"\n"
    links = b"".join(f"parent {parent}\n".encode() for parent in parents)
    return f"tree {tree}\n".encode() + links + _SIGNATURE.sub(b"", _HEADER.sub(b"", head)) + b"\n" + message


def with_new_ids(message: bytes, made: Mapping[str, str]) -> bytes:
    """The message with the new ids of the commits that it names."""
    return _COMMIT_ID.sub(lambda found: made.get(found[0].decode(), found[0].decode()).encode(), message)


_PACK_TYPE = {"commit": 1, "tree": 2, "blob": 3}
LOOSE_OBJECTS, LOOSE_BYTES = 400, 32 << 20
"""The most objects, and their compressed bytes, that are stored one by one; more are stored as a pack."""
FEW_OBJECTS, FEW_BYTES = 40, 1 << 20
"""The most objects, and their bytes, that are written without git."""
_SPOOL_BYTES = 8 << 20
_PIECE = 1 << 20
_TREE_RECORD = re.compile(rb"([0-7]+ ([^\0]+)\0.{20})", re.DOTALL)
_TREE_RECORD_256 = re.compile(rb"([0-7]+ ([^\0]+)\0.{32})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A name's entry in a tree or the index: octal mode without leading zeros, hex id."""

    mode: str
    oid: str


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object that the repository may not have yet: hex id, type and bytes."""

    oid: str
    kind: str
    data: bytes


def index_lines(entries: Mapping[bytes, TreeEntry | None], width: int) -> bytes:
    """The entries in the format of `git update-index -z --index-info`; mode 0 and an id of zeros remove a path."""
    return b"".join(
        (f"{entry.mode} {entry.oid}" if entry else f"0 {'0' * width}").encode() + b"\t" + path + b"\0"
        for path, entry in entries.items()
    )


def _spool() -> IO[bytes]:
    from tempfile import SpooledTemporaryFile  # with what packs archives: most commands write nothing

    return SpooledTemporaryFile(_SPOOL_BYTES)


@dataclass(slots=True)
class Pack:
    """New objects for the repository: a few are in memory, more in a temporary file while they are added.

    The file exists until `close`. `level` is zlib's; 0 if git unpacks the pack at once and compresses again.
    """

    width: int = 40
    level: int = 1
    ids: set[str] = field(default_factory=set)
    _few: list[NewObject] | None = field(default_factory=list)
    _bytes: int = 0
    _body: IO[bytes] = field(default_factory=_spool)

    def add(self, kind: str, data: bytes) -> str:
        """Add one object (once) and return its id."""
        oid = object_id(kind, data, self.width)
        if oid in self.ids:
            return oid
        self.ids.add(oid)
        if self._few is None:
            self._write(kind, data)
            return oid
        self._few.append(NewObject(oid, kind, data))
        self._bytes += len(data)
        if len(self._few) > FEW_OBJECTS or self._bytes > FEW_BYTES:
            self._write_few()
        return oid

    @property
    def few(self) -> Sequence[NewObject] | None:
        """The objects, if they are few and small; None if git has to store them."""
        return self._few

    @property
    def size(self) -> int:
        """The compressed bytes that were written so far."""
        return self._body.tell()

    @property
    def store_command(self) -> tuple[str, ...]:
        """The git command that stores the finished pack from its standard input: a small one object by object."""
        is_small = len(self.ids) <= LOOSE_OBJECTS and self.size <= LOOSE_BYTES
        return ("unpack-objects", "-q") if is_small else ("index-pack", "--stdin")

    def close(self) -> None:
        """Delete the temporary file."""
        self._body.close()

    def stream(self) -> BinaryIO:
        """The finished pack as a real file, positioned at its start."""
        self._write_few()
        from tempfile import TemporaryFile

        out = TemporaryFile()  # noqa: SIM115 - the git process that reads it outlives this function
        digest = hasher(self.width)
        head = b"PACK" + (2).to_bytes(4, "big") + len(self.ids).to_bytes(4, "big")
        self._body.seek(0)
        for part in (head, *iter(lambda: self._body.read(1 << 20), b"")):
            digest.update(part)
            out.write(part)
        out.write(digest.digest())
        out.seek(0)
        return out

    def _write_few(self) -> None:
        few, self._few = self._few, None
        for each in few or ():
            self._write(each.kind, each.data)

    def _write(self, kind: str, data: bytes) -> None:
        self._body.write(_pack_header(_PACK_TYPE[kind], len(data)))
        squeeze = zlib.compressobj(self.level)
        for start in range(0, len(data), _PIECE):  # a large attachment is in memory only once
            self._body.write(squeeze.compress(memoryview(data)[start : start + _PIECE]))
        self._body.write(squeeze.flush())


def _pack_header(kind: int, size: int) -> bytes:
    first, size = (kind << 4) | (size & 15), size >> 4
    head = bytearray()
    while size:
        head.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    head.append(first)
    return bytes(head)


Level = dict[bytes, bytes]
"""One folder of a commit: name to the raw record of the tree object, because most records are only copied."""

Trees = dict[bytes, Level]
"""The folders of a commit by path; the root's path is empty."""


def parse_tree(data: bytes, width: int) -> Level:
    """The records of a tree object by name."""
    pattern = _TREE_RECORD if width == 40 else _TREE_RECORD_256
    return {name: record for record, name in pattern.findall(data)}


def format_tree(level: Level) -> bytes:
    """The bytes of a tree object in git's order: by name, folders as if their name ended in a slash."""
    folder = b"40000 "
    keyed = [(name + b"/" if record[:6] == folder else name, record) for name, record in level.items()]
    return b"".join([record for _, record in sorted(keyed)])


def _record(name: bytes, entry: TreeEntry) -> bytes:
    return b"%s %s\0%s" % (entry.mode.encode(), name, bytes.fromhex(entry.oid))


def entry_in(trees: Trees, path: bytes) -> TreeEntry | None:
    """The entry at a path; None if there is none."""
    folder, _, name = path.rpartition(b"/")
    record = trees.get(folder, {}).get(name)
    if record is None:
        return None
    mode = record.partition(b" ")[0]
    return TreeEntry(mode.decode(), record[len(mode) + 1 + len(name) + 1 :].hex())


def folders(paths: Iterable[bytes]) -> list[bytes]:
    """The folders above the paths, with the root (empty path), parents before children."""
    found = {b""}
    for path in paths:
        while b"/" in path:
            path = path.rpartition(b"/")[0]
            if path in found:
                break
            found.add(path)
    return sorted(found)


def graft(trees: Trees, edits: Mapping[bytes, TreeEntry | None], pack: Pack) -> tuple[str, Trees]:
    """Write new trees along the changed paths; returns the new root's id and the folders after the change.

    `trees` must have every existing folder of `folders(edits)`; None removes a path. An emptied folder disappears,
    because git has no empty folders.
    """
    levels = {folder: dict(trees.get(folder, {})) for folder in folders(edits)}
    for path, entry in edits.items():
        folder, _, name = path.rpartition(b"/")
        if entry is None:
            levels[folder].pop(name, None)
        else:
            levels[folder][name] = _record(name, entry)
    for folder in sorted(levels, key=_depth, reverse=True):
        if not folder:
            continue
        parent, _, name = folder.rpartition(b"/")
        if levels[folder]:
            tree = pack.add("tree", format_tree(levels[folder]))
            levels[parent][name] = _record(name, TreeEntry(FOLDER, tree))
        elif levels[parent].get(name, b"").startswith(b"40000 "):
            del levels[parent][name]
    return pack.add("tree", format_tree(levels[b""])), {**trees, **levels}


def _depth(folder: bytes) -> int:
    return folder.count(b"/") + bool(folder)


def format_commit(
    tree: str, parents: Iterable[str], author: "Signature", committer: "Signature", message: str
) -> bytes:
    """The bytes of a commit object."""
    lines = [
        f"tree {tree}",
        *(f"parent {p}" for p in parents),
        f"author {author.line()}",
        f"committer {committer.line()}",
    ]
    return ("\n".join(lines) + "\n\n" + message.rstrip("\n") + "\n").encode("utf-8", "replace")


_SHARED = re.compile(rb"sharedRepository", re.IGNORECASE)
_LEVEL = 1
"""zlib's, as git has it for these files."""


def store(git: Git, pack: Pack) -> None:
    """Write the objects of a pack into the repository; raises `GitFailed` where that cannot be done."""
    if pack.few is not None and _store_few(common_folder(git.gitdir), pack.few, durable=git.durable):
        return
    with pack.stream() as stream:
        git.run(*pack.store_command, stdin=stream)


def _store_few(gitdir: Path, objects: Iterable[NewObject], *, durable: bool) -> bool:
    """Write the objects that are not there; False if git has to do it, or can say better what is wrong."""
    try:
        if _SHARED.search((gitdir / "config").read_bytes()):
            return False
        for each in objects:
            _store_one(gitdir / "objects" / each.oid[:2], each, durable=durable)
    except OSError:
        return False
    return True


def _store_one(folder: Path, new: NewObject, *, durable: bool) -> None:
    path = folder / new.oid[2:]
    with suppress(FileNotFoundError):
        os.utime(path)  # an old one that nothing refers to might be removed as rubbish at this moment
        return
    squeeze = zlib.compressobj(_LEVEL)
    content = squeeze.compress(f"{new.kind} {len(new.data)}\0".encode()) + squeeze.compress(new.data) + squeeze.flush()
    draft = folder / f"tmp_obj_{os.urandom(6).hex()}"  # the name by which git finds and removes what a crash left
    folder.mkdir(exist_ok=True)
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                platform().flush(descriptor)
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


_MOST = 4 << 20
"""The most compressed bytes that are read here: git needs less memory for a film."""


def load_loose(gitdir: Path, oid: str, kind: str) -> bytes | None:
    """The content of a loose object of this kind; None if it is missing or cannot be read.

    `gitdir` is the repository's shared folder.
    """
    found = load_object(gitdir, oid)
    return found[1] if found is not None and found[0] == kind else None


def load_object(gitdir: Path, oid: str) -> tuple[str, bytes] | None:
    """The type and the content of a loose object; None if it is missing, large, or not in the form that git writes."""
    try:
        with (gitdir / "objects" / oid[:2] / oid[2:]).open("rb") as file:
            squeezed = file.read(_MOST + 1)
        if len(squeezed) > _MOST:
            return None
        data = zlib.decompress(squeezed)
    except (OSError, zlib.error):
        return None
    head, _, content = data.partition(b"\0")
    kind, _, size = head.partition(b" ")
    return (kind.decode("ascii", "replace"), content) if size == b"%d" % len(content) else None
