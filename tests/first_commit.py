"""The first commit of a test's repository, as `git add -A` and `git commit` leave it, written without starting them.

Hundreds of tests begin with such a vault, and two processes for each are a third of what it costs. This module knows
git's formats by itself, and has nothing of the program's but the time.
"""

import hashlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from agent.clock import SystemClock

WHO = "Anna <anna@example.org>"
Folder = dict[str, "bytes | Folder"]


def commit_all(root: Path, files: Mapping[str, bytes], message: str, form: str) -> None:
    """Commit the files, which lie below `root`, in Anna's name; the branch main has no commit yet.

    `form` is the repository's format of objects: sha1 or sha256.
    """
    made = _Objects(root / ".git", form)
    tree: Folder = {}
    for path, data in files.items():
        *above, name = path.split("/")
        level = tree
        for folder in above:
            inner = level.setdefault(folder, {})
            assert isinstance(inner, dict), f"{path} is below a file"
            level = inner
        level[name] = data
    trees, _, top = made.tree("", tree)
    now = f"{SystemClock().now().astimezone():%s %z}"
    text = f"tree {top.hex()}\nauthor {WHO} {now}\ncommitter {WHO} {now}\n\n{message}\n"
    commit = made.add("commit", text.encode()).hex()
    (root / ".git/index").write_bytes(_index(root, files, made, trees))
    (root / ".git/refs/heads/main").write_text(f"{commit}\n")
    line = f"{'0' * len(commit)} {commit} {WHO} {now}\tcommit (initial): {message}\n"
    for log in ("HEAD", "refs/heads/main"):
        place = root / ".git/logs" / log
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(line)


class _Objects:
    def __init__(self, gitdir: Path, form: str) -> None:
        self.folder = gitdir / "objects"
        self.form = form

    def sum(self, data: bytes) -> bytes:
        return hashlib.new(self.form, data, usedforsecurity=False).digest()

    def blob(self, data: bytes) -> bytes:
        """The id of a file's content."""
        return self.sum(b"blob %d\0" % len(data) + data)

    def add(self, kind: str, data: bytes) -> bytes:
        """Write an object; its id."""
        whole = f"{kind} {len(data)}\0".encode() + data
        oid = self.sum(whole)
        place = self.folder / oid.hex()[:2] / oid.hex()[2:]
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(zlib.compress(whole, 1))
            place.chmod(0o444)
        return oid

    def tree(self, name: str, level: Folder) -> tuple[bytes, int, bytes]:
        """A folder's rows for the index, how many files are in it, and its id."""
        rows, below, count = list[tuple[bytes, bytes]](), list[bytes](), 0
        for each, inside in sorted(level.items(), key=lambda pair: pair[0].encode()):
            raw = os.fsencode(each)
            if isinstance(inside, bytes):
                rows.append((raw, b"100644 %s\0%s" % (raw, self.add("blob", inside))))
                count += 1
                continue
            cached, files, oid = self.tree(each, inside)
            below.append(cached)
            count += files
            rows.append((raw + b"/", b"40000 %s\0%s" % (raw, oid)))
        oid = self.add("tree", b"".join(row for _, row in sorted(rows)))
        head = b"%s\0%d %d\n" % (os.fsencode(name), count, len(below))
        return head + oid + b"".join(below), count, oid


def _index(root: Path, files: Mapping[str, bytes], made: _Objects, trees: bytes) -> bytes:
    """The index of these files: version 2, with their times and sizes, and the trees of the commit."""
    parts = [b"DIRC", (2).to_bytes(4, "big"), len(files).to_bytes(4, "big")]
    for path, data in sorted((os.fsencode(path), data) for path, data in files.items()):
        found = (root / os.fsdecode(path)).lstat()
        facts = (
            *divmod(found.st_ctime_ns, 10**9),
            *divmod(found.st_mtime_ns, 10**9),
            *(found.st_dev, found.st_ino, 0o100644, found.st_uid, found.st_gid, found.st_size),
        )
        fixed = b"".join((fact & 0xFFFFFFFF).to_bytes(4, "big") for fact in facts)
        entry = fixed + made.blob(data) + min(len(path), 0xFFF).to_bytes(2, "big") + path
        parts += [entry, bytes(8 - len(entry) % 8)]
    content = b"".join((*parts, b"TREE", len(trees).to_bytes(4, "big"), trees))
    return content + made.sum(content)
