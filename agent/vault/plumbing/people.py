"""In whose name a commit is made: the agent's, or the person's as git or the machine knows them."""

import getpass
from dataclasses import dataclass
from datetime import datetime

from agent.vault.plumbing.git import Git
from agent.vault.plumbing.objects import Signature


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


AGENT = Person("vault-agent", "vault-agent@localhost")
