"""Parts of git's index as bytes: an entry of version 2, the extensions, and the cached trees of folders."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from struct import Struct

from agent.dataclass import dataclass
from agent.vault.plumbing.object_ids import hasher
from agent.vault.plumbing.objects import folders

LINK, RESOLVED = b"link", b"REUC"
_REMADE = frozenset((b"EOIE", b"IEOT"))
"""What only says where entries lie in the file."""
_HEAD = Struct(">4sI")


def parse_extensions(content: bytes, at: int, width: int) -> tuple[tuple[bytes, bytes], ...]:
    """The name and the data of each extension from `at` on, but those that only say where entries lie.

    `width` is the number of hex digits of an id. Raises `ValueError` or `struct.error` if they are cut off.
    """
    end, found = len(content) - width // 2, list[tuple[bytes, bytes]]()
    while at < end:
        name, size = _HEAD.unpack_from(content, at)
        found.append((name, content[at + _HEAD.size : at + _HEAD.size + size]))
        at += _HEAD.size + size
    if at != end:
        raise ValueError("the extensions of the index are cut off")
    return tuple((name, data) for name, data in found if name not in _REMADE)


def with_extensions(parts: Sequence[bytes], extensions: Iterable[tuple[bytes, bytes]], width: int) -> bytes:
    """The bytes of an index: its head and entries, its extensions, and the sum of all that."""
    after = (_HEAD.pack(name, len(data)) + data for name, data in extensions)
    content = b"".join((*parts, *after))
    digest = hasher(width)
    digest.update(content)
    return content + digest.digest()


HEADER = Struct(">4sII")
"""The start of an index: `DIRC`, version, number of entries."""
SIGNATURE, VERSION = b"DIRC", 2
_FACTS, _MODE = 40, Struct(">I")
_AT_MODE = 24
_LENGTH, _STAGE, _EXTENDED, _ASSUMED = 0xFFF, 0x3000, 0x4000, 0x8000


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An entry: `fixed` are its bytes before the name, `name` is empty where a base has it."""

    fixed: bytes
    name: bytes

    @property
    def mode(self) -> str:
        """The octal mode, as in a tree."""
        return f"{_MODE.unpack_from(self.fixed, _AT_MODE)[0]:o}"

    @property
    def oid(self) -> str:
        """The blob id in hex."""
        return self.fixed[_FACTS:-2].hex()

    @property
    def is_plain(self) -> bool:
        """True if the entry is in no conflict and has no further marks."""
        return not int.from_bytes(self.fixed[-2:], "big") & (_STAGE | _EXTENDED)

    @property
    def is_assumed(self) -> bool:
        """True if git was told to take the file as unchanged, and never to look at it."""
        return bool(int.from_bytes(self.fixed[-2:], "big") & _ASSUMED)

    def bytes_with(self, name: bytes) -> bytes:
        """The entry's bytes in an index, with this name."""
        flags = int.from_bytes(self.fixed[-2:], "big") & ~_LENGTH | min(len(name), _LENGTH)
        padding = 8 - (len(self.fixed) + len(name)) % 8
        return self.fixed[:-2] + flags.to_bytes(2, "big") + name + bytes(padding)


def new_entry(mode: str, oid: str, name: bytes) -> IndexEntry:
    """An entry without a file's size and times, as `git update-index --index-info` makes it."""
    fixed = bytes(_AT_MODE) + _MODE.pack(int(mode, 8)) + bytes(_FACTS - _AT_MODE - 4) + bytes.fromhex(oid)
    return IndexEntry(fixed + min(len(name), _LENGTH).to_bytes(2, "big"), name)


def parse_entries(content: bytes, at: int, count: int, width: int) -> Iterator[tuple[IndexEntry, int]]:
    """`count` entries from `at` on, each with where it ends; raises `ValueError` if they are cut off.

    `width` is the number of hex digits of an id.
    """
    before = _FACTS + width // 2 + 2
    for _ in range(count):
        fixed = content[at : at + before]
        length = int.from_bytes(fixed[-2:], "big") & _LENGTH
        if length == _LENGTH:
            length = content.index(b"\0", at + before) - at - before
        end = at + before + length
        at = end + 8 - (before + length) % 8
        if at > len(content):
            raise ValueError("the index is cut off")
        yield IndexEntry(fixed, content[end - length : end]), at


TREES = b"TREE"
_TREE_HEAD = re.compile(rb"([^\0]*)\0(-?\d+) (\d+)\n")


def kept(
    extensions: Iterable[tuple[bytes, bytes]], paths: Collection[bytes], width: int
) -> tuple[tuple[bytes, bytes], ...]:
    """The extensions of an index after the files at `paths` have changed: all, with the cached trees that are valid."""
    return tuple((name, without(data, paths, width) if name == TREES else data) for name, data in extensions)


def without(data: bytes, paths: Iterable[bytes], width: int) -> bytes:
    """The cached trees after the files at `paths` have changed: those of the folders above are not valid any more.

    `width` is the number of hex digits of an id. Raises `ValueError` for data in another form.
    """
    changed = frozenset(folders(paths))
    out, at, open_folders = list[bytes](), 0, list[tuple[bytes, int]]()
    while at < len(data):
        head = _TREE_HEAD.match(data, at)
        if head is None:
            raise ValueError("the cached trees are in no known form")
        end = head.end() + (width // 2 if int(head[2]) >= 0 else 0)
        above, left = open_folders.pop() if open_folders else (b"", 1)
        path = above + head[1]
        if left > 1:
            open_folders.append((above, left - 1))
        is_changed = path in changed
        out.append(b"%s\0-1 %s\n" % (head[1], head[3]) if is_changed else data[at:end])
        if int(head[3]):
            open_folders.append((path and path + b"/", int(head[3])))
        at = end
    return b"".join(out)
