"""The commits of HEAD, the remote-tracking branches and the last fetch, read from plain files because that is fast."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.vault.plumbing.repository import head_commit, is_id, packed_refs, read_text

_REMOTE = "refs/remotes/"
_FETCHED = re.compile(r"([0-9a-f]{40,64})\t[^\t]*\t(?:.* of )?(.*)")


@dataclass(frozen=True, slots=True)
class References:
    """The commits of a repository's references.

    `head`: the commit of HEAD (empty: none). `remotes`: the remote-tracking branches with their commits. `fetched`: the
    commits of the last fetch with the addresses that they came from.
    """

    head: str
    remotes: Mapping[str, str]
    fetched: Mapping[str, str]

    @property
    def tips(self) -> tuple[str, ...]:
        """All these commits, each once."""
        return tuple(dict.fromkeys(filter(None, (self.head, *self.remotes.values(), *self.fetched))))


def references(gitdir: Path, common: Path) -> References:
    """The present references; one that is being written, or cannot be read, is left out until the next call."""
    packed = packed_refs(common)
    remotes = {name: oid for name, oid in packed.items() if name.startswith(_REMOTE)}
    folder = common / "refs" / "remotes"
    for path in folder.rglob("*") if folder.is_dir() else ():
        text = read_text(path)
        if is_id(text):
            remotes[_REMOTE + path.relative_to(folder).as_posix()] = text
    return References(head_commit(gitdir, common), dict(sorted(remotes.items())), _fetched(gitdir))


def _fetched(gitdir: Path) -> dict[str, str]:
    found = (_FETCHED.fullmatch(line) for line in read_text(gitdir / "FETCH_HEAD").split("\n"))
    return {each[1]: each[2] for each in found if each}
