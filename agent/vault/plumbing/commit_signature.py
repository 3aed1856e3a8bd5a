"""Signatures of commits: where they stand in a commit's bytes, and the ssh key that one names.

A signature is of the commit's bytes without it. Nothing is verified here: that is git's task.
"""

import base64
import binascii
import re
from collections.abc import Callable

from agent.vault.ssh_key import PublicKey, public_key, wire_text

Sign = Callable[[bytes], bytes]
"""Returns the signature of these bytes; empty if they are not to be signed."""

_SIGNATURE = re.compile(rb"^gpgsig(?:-sha256)? ([^\n]*\n(?: [^\n]*\n)*)", re.MULTILINE)
_SSH = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n(.*)-----END SSH SIGNATURE-----", re.DOTALL)
_MAGIC = b"SSHSIG"
_VERSION_BYTES = 4


def unsigned(data: bytes) -> bytes:
    """No signature."""
    return b""


def with_signature(commit: bytes, width: int, sign: Sign) -> bytes:
    """The bytes of a commit with its signature, in a repository with ids of `width` hex digits."""
    signature = sign(commit).strip(b"\n")
    if not signature:
        return commit
    name = b"gpgsig-sha256 " if width == 64 else b"gpgsig "
    head, blank, message = commit.partition(b"\n\n")
    return head + b"\n" + name + signature.replace(b"\n", b"\n ") + blank + message


def signature_in(commit: bytes) -> bytes:
    """The signature in a commit's bytes; empty without one."""
    found = _SIGNATURE.search(commit.partition(b"\n\n")[0] + b"\n")
    return found[1].replace(b"\n ", b"\n") if found else b""


def named_key(signature: bytes) -> PublicKey | None:
    """The key that an ssh signature says it is made with; None for another kind of signature."""
    found = _SSH.search(signature)
    try:
        data = base64.b64decode(found[1].replace(b"\n", b""), validate=True) if found else b""
    except (binascii.Error, ValueError):
        return None
    if not data.startswith(_MAGIC):
        return None
    key = wire_text(data, len(_MAGIC) + _VERSION_BYTES)
    return public_key(key) if key is not None else None
