"""Makes the bytes of a commit again with another tree, other parents or another message; the rest stays as it was."""

import re
from collections.abc import Mapping, Sequence

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
