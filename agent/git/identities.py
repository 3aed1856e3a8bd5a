"""Who made a commit, when, and with which signature: written and read in its header."""

import base64
import binascii
import getpass
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

from agent.config.ssh_key import PublicKey, public_key, wire_text
from agent.dataclass import dataclass
from agent.git.runner import Git

REFLOG_MARK = "vault-agent: "
"""The start of the reflog message of every commit that this program makes; no other program uses it."""
ARRIVAL_MARK = "vault-agent sync: "
"""The start of the reflog message when the branch moves to commits that were made elsewhere."""


@dataclass(frozen=True, slots=True)
class Person:
    """The person who owns the vault, under the name that git or the machine has; the address may be empty."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Signature:
    """The author or committer of a commit. `seconds` since 1970, `offset` in minutes east of UTC."""

    name: str
    email: str
    seconds: int
    offset: int

    def line(self) -> str:
        sign = "-" if self.offset < 0 else "+"
        return f"{self.name} <{self.email}> {self.seconds} {sign}{abs(self.offset) // 60:02}{abs(self.offset) % 60:02}"


def person(git: Git) -> Person:
    """`GIT_AUTHOR_NAME` and `_EMAIL`, else git's `user.name` and `user.email`, else the account's name, without an
    address."""
    listed = git.run("config", "-z", "--get-regexp", r"^user\.(name|email)$", ok=(0, 1)).decode("utf-8", "replace")
    found = dict(item.split("\n", 1) for item in listed.split("\0") if "\n" in item)
    name = os.environ.get("GIT_AUTHOR_NAME") or found.get("user.name", "")
    email = os.environ.get("GIT_AUTHOR_EMAIL") or found.get("user.email", "")
    return Person(_clean(name) or _account(), _clean(email))


def person_addresses(git: Git) -> set[str]:
    """The addresses of the person's own commits: the present one, and the one that earlier versions made up."""
    return {person(git).email, f"{_account()}@localhost"}


def _account() -> str:
    try:
        return _clean(getpass.getuser()) or "human"
    except (OSError, KeyError):
        return "human"


def _clean(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "<>").strip()


def signature(who: Person, when: datetime) -> Signature:
    """The author or committer line of a commit."""
    offset = when.utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    return Signature(who.name, who.email, int(when.timestamp()), minutes)


AGENT = Person("vault-agent", "vault-agent@localhost")


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


RAW = "--date=raw"
"""git's option for the form that `git_time` parses."""
_FIRST, _LAST = -62_135_510_400, 253_402_214_400
"""Seconds: a day after the first time that a `datetime` can have, and a day before the last, in every zone."""
_RAW = re.compile(r"\s*([+-]?\d{1,20})(?:\s+([+-]?)(\d{2})(\d{2}))?\s*")


def at_seconds(seconds: int) -> datetime:
    """The time so many seconds after 1970, in UTC; the nearest one that a calendar has."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(seconds, _FIRST), _LAST))


def git_time(raw: str) -> datetime:
    """The time in git's raw form, such as `1764000000 +0100`; 1970 for what is no number, UTC for no real offset."""
    found = _RAW.fullmatch(raw)
    if found is None:
        return at_seconds(0)
    minutes = int(found[3] or 0) * 60 + int(found[4] or 0)
    zone = timezone(timedelta(minutes=-minutes if found[2] == "-" else minutes)) if minutes < 24 * 60 else UTC
    return at_seconds(int(found[1])).astimezone(zone)
