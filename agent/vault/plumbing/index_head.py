"""The head of git's index, looked at before git reads it: git makes room for as many entries as it claims to have."""

from pathlib import Path
from struct import Struct

from agent.errors import Permanent

_HEAD = Struct(">4sII")
_VERSIONS = frozenset((2, 3, 4))
_LEAST = 62
"""Bytes of the smallest entry."""


def check_index_head(index: Path) -> None:
    """Raise `Permanent` if an index claims to have more entries than its bytes can hold."""
    try:
        with index.open("rb") as file:
            head = file.read(_HEAD.size)
            size = file.seek(0, 2)
    except OSError:
        return
    if len(head) < _HEAD.size:
        return
    _, version, count = _HEAD.unpack(head)
    if version in _VERSIONS and count * _LEAST > size:  # any other version git itself refuses
        raise Permanent(
            "git's index is damaged: it says that it has {count:,} files, which is more than fits into it",
            hint="vault-agent doctor --fix makes it anew",
            count=count,
        )
