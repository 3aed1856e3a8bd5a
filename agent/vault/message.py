"""What a commit says: one line `type(scope): what`, the reason, and trailers that name who and on whose behalf."""

import getpass
import re
from dataclasses import dataclass
from datetime import datetime

from agent.errors import UserError
from agent.vault.change import Stamp
from agent.vault.git import Git
from agent.vault.objects import Signature

AGENT_NAME, AGENT_EMAIL = "vault-agent", "vault-agent@localhost"

_SUBJECT = 120
_ACTOR = re.compile(r"human|agent|http|(job|mcp):[\w.@/-]{1,100}")
_TRAILER_VALUE = re.compile(r"[^\x00-\x1f\x7f]{0,200}")


def compose(subject: str, stamp: Stamp, body: str = "") -> str:
    """The whole message; raises `UserError` for a trailer value that would break out of its line."""
    trailers = [("Vault-Actor", stamp.actor), ("Vault-Run", stamp.run), ("Vault-Tool", stamp.tool)]
    trailers += [("Vault-Session", stamp.session), *(("Vault-Undoes", commit) for commit in stamp.undoes)]
    if not _ACTOR.fullmatch(stamp.actor):
        raise UserError(f"{stamp.actor!r} is no actor", hint="human, agent, http, job:<id> or mcp:<client>")
    for name, value in trailers:
        if not _TRAILER_VALUE.fullmatch(value):
            raise UserError(f"{name} must be one line of at most 200 characters")
    line = one_line(subject)
    parts = [line, body.strip(), "\n".join(f"{name}: {value}" for name, value in trailers if value)]
    return "\n\n".join(part for part in parts if part) + "\n"


def one_line(text: str) -> str:
    """The text on one line, without control characters, cut at 120 characters."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _SUBJECT else flat[: _SUBJECT - 1] + "…"


@dataclass(frozen=True, slots=True)
class Person:
    """The human whose vault this is, as git knows them or as the machine does."""

    name: str
    email: str


def person(git: Git) -> Person:
    """git's `user.name` and `user.email`; where they are not set, the account's name at localhost."""
    listed = git.run("config", "-z", "--get-regexp", r"^user\.(name|email)$", ok=(0, 1)).decode("utf-8", "replace")
    found = dict(item.split("\n", 1) for item in listed.split("\0") if "\n" in item)
    account = _account()
    name = _clean(found.get("user.name", "")) or account
    return Person(name, _clean(found.get("user.email", "")) or f"{account}@localhost")


def _account() -> str:
    try:
        return _clean(getpass.getuser()) or "human"
    except (OSError, KeyError):
        return "human"


def _clean(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in "<>").strip()


def signature(who: Person, when: datetime) -> Signature:
    """Who and when, in the form a commit wants."""
    offset = when.utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    return Signature(who.name, who.email, int(when.timestamp()), minutes)


AGENT = Person(AGENT_NAME, AGENT_EMAIL)
