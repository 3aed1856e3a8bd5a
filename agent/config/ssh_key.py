"""The public half of an ssh key, as one line of text and as the fingerprint that a person compares."""

import base64
import binascii
import re
from hashlib import sha256

from agent.dataclass import dataclass

PREFIX = "SHA256:"
"""The start of an ssh key's fingerprint."""
_LINE = re.compile(r"([a-z][\w@.-]{2,60}) ([A-Za-z0-9+/]{32,4096}={0,2})(?: [^\n]*)?")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key: its kind, such as `ssh-ed25519`, and its bytes."""

    kind: str
    data: bytes

    @property
    def line(self) -> str:
        """The key as ssh writes it, without a comment."""
        return f"{self.kind} {base64.b64encode(self.data).decode()}"

    @property
    def fingerprint(self) -> str:
        """The fingerprint, as `ssh-keygen -l` prints it."""
        return PREFIX + base64.b64encode(sha256(self.data).digest()).decode().rstrip("=")


def parse_public_key(text: str) -> PublicKey | None:
    """The key in a line of text, with or without a comment; None if there is none."""
    found = _LINE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        data = base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError):
        return None
    key = public_key(data)
    return key if key is not None and key.kind == found[1] else None


def public_key(data: bytes) -> PublicKey | None:
    """The key with these bytes, which begin with its kind; None if they do not."""
    kind = wire_text(data)
    if kind is None or re.fullmatch(rb"[a-z][\w@.-]{2,60}", kind) is None:
        return None
    return PublicKey(kind.decode(), data)


def wire_text(data: bytes, at: int = 0) -> bytes | None:
    """The text at a place in ssh's format: four bytes with its length, then the text; None if it is cut off."""
    size = int.from_bytes(data[at : at + 4], "big")
    text = data[at + 4 : at + 4 + size]
    return text if len(data) >= at + 4 and len(text) == size else None
