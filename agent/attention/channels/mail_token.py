"""The token in the Message-ID of each mail: a reply that names it was written by somebody who has that mail.

The sender of a mail can be written by anybody, so it proves nothing; the token cannot be guessed. Its key is random and
stays in the vault's private folder on this machine.
"""

import base64
import hmac
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from agent.config.private import FILE, clear_way
from agent.dataclass import dataclass

_LETTERS = 26
"""The letters of a token: 130 bits."""
_KEY_BYTES = 32
_OURS = re.compile(r"<([0-9A-Za-z-]{1,40})\.([a-z2-7]{26})\.vault-agent@[^<>\s]{1,255}>", re.ASCII)

_ID = re.compile(r"<[!#-;=?-~]{1,250}>", re.ASCII)


def message_id(header: str) -> str:
    """The first Message-ID in a header, with its angle brackets; empty if there is none that can be written back."""
    found = _ID.search(header[:20_000])
    return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class ReplyToken:
    """Makes and checks the tokens of one vault."""

    key: bytes

    def message_id(self, notice: str, sender: str) -> str:
        """The Message-ID of a notice; the same each time."""
        domain = sender.rpartition("@")[2] or "localhost"
        return f"<{notice}.{self._token(notice)}.vault-agent@{domain}>"

    def proved(self, header: str) -> str:
        """The last Message-ID in a header (In-Reply-To, References) that is ours, with the right token; else empty."""
        for found in reversed(list(_OURS.finditer(header[-20_000:]))):
            if hmac.compare_digest(found[2], self._token(found[1])):
                return found[0]
        return ""

    def _token(self, notice: str) -> str:
        digest = hmac.new(self.key, notice.encode(), "sha256").digest()
        return base64.b32encode(digest).decode().lower()[:_LETTERS]


def load_token(folder: Path) -> ReplyToken:
    """The tokens of the vault with this private folder; their key is made at the first call.

    A damaged key is made anew: replies to older mails are then a guest's.
    """
    path = folder / "mail-token.key"
    for _ in range(2):
        found = _load(path)
        if found:
            return ReplyToken(found)
        clear_way(path)
        path.unlink(missing_ok=True)
        with suppress(FileExistsError):  # another process has just made one
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_hex(_KEY_BYTES))
    return ReplyToken(_load(path) or secrets.token_bytes(_KEY_BYTES))


def _load(path: Path) -> bytes:
    """The key in a file; empty if there is none."""
    try:
        key = bytes.fromhex(path.read_text("ascii"))
    except (OSError, ValueError):
        return b""
    return key if len(key) == _KEY_BYTES else b""
