"""The ids that git gives to objects, and the modes of its entries, without git."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import hashlib

FILE, PROGRAM, LINK, FOLDER, MODULE = "100644", "100755", "120000", "40000", "160000"


def hasher(width: int) -> "hashlib._Hash":
    """git's hash for ids of `width` hex digits: SHA-1 (40) or SHA-256 (64)."""
    import hashlib  # with a library of ciphers, and notes are read without a hash

    return hashlib.sha256() if width == 64 else hashlib.sha1(usedforsecurity=False)


def object_id(kind: str, data: bytes, width: int) -> str:
    """The id that git gives to `data` as an object of `kind`, in hex."""
    digest = hasher(width)
    digest.update(f"{kind} {len(data)}\0".encode())
    digest.update(data)
    return digest.hexdigest()


def blob_id(data: bytes, width: int) -> str:
    """The id that git gives to a file's content, in `width` hex digits; the only content hash of this project.

    The width is the repository's (`Git.width`): ids of different widths are never equal.
    """
    return object_id("blob", data, width)


def has_id(data: bytes | None, oid: str | None) -> bool:
    """True if the content has this blob id, of either width; no file (None) has no id (None)."""
    if data is None or oid is None:
        return data is None and oid is None
    return blob_id(data, len(oid)) == oid
