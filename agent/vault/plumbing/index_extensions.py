"""What follows the entries in git's index: its extensions and its sum (format: gitformat-index(5))."""

from collections.abc import Iterable, Sequence
from struct import Struct

from agent.vault.plumbing.object_ids import hasher

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
