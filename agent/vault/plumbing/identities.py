"""Authors of commits: the agent, or the person under the name that git or the machine has; and the marks in git's logs.

A person whom git does not know is recorded with the name of the account and without an address: no address is invented.
"""

import getpass
import os
from datetime import datetime

from agent.dataclass import dataclass
from agent.vault.plumbing.git import Git

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
