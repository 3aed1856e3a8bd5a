"""Where HEAD, the remote-tracking branches and the last fetch are, read from plain files: a look costs little."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_REMOTE = "refs/remotes/"
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FETCHED = re.compile(r"([0-9a-f]{40,64})\t[^\t]*\t(?:.* of )?(.*)")
_LINKS = 5


@dataclass(frozen=True, slots=True)
class References:
    """`head` is the commit that HEAD is on (empty: none), `remotes` the remote-tracking branches with their commits,
    `fetched` the commits of the last fetch with the addresses that they came from."""

    head: str
    remotes: Mapping[str, str]
    fetched: Mapping[str, str]

    @property
    def tips(self) -> tuple[str, ...]:
        """Every commit that is named, each once."""
        return tuple(dict.fromkeys(filter(None, (self.head, *self.remotes.values(), *self.fetched))))


def references(gitdir: Path, common: Path) -> References:
    """What is named now; a reference that is being written, or cannot be read, is left out until the next look."""
    packed = _packed(common / "packed-refs")
    remotes = {name: oid for name, oid in packed.items() if name.startswith(_REMOTE)}
    folder = common / "refs" / "remotes"
    for path in folder.rglob("*") if folder.is_dir() else ():
        text = _text(path)
        if _ID.fullmatch(text):
            remotes[_REMOTE + path.relative_to(folder).as_posix()] = text
    return References(_head(gitdir, common, packed), dict(sorted(remotes.items())), _fetched(gitdir))


def head_commit(gitdir: Path, common: Path) -> str:
    """The id of the commit that HEAD is on; empty where there is none yet."""
    return _head(gitdir, common, _packed(common / "packed-refs"))


def _head(gitdir: Path, common: Path, packed: Mapping[str, str]) -> str:
    text = _text(gitdir / "HEAD")
    for _ in range(_LINKS):
        if not text.startswith("ref:"):
            break
        name = text.removeprefix("ref:").strip()
        text = _text(common / name) or packed.get(name, "")
    return text if _ID.fullmatch(text) else ""


def _packed(path: Path) -> dict[str, str]:
    rows = (line.partition(" ") for line in _text(path).split("\n"))
    return {name.strip(): oid for oid, _, name in rows if _ID.fullmatch(oid)}


def _fetched(gitdir: Path) -> dict[str, str]:
    found = (_FETCHED.fullmatch(line) for line in _text(gitdir / "FETCH_HEAD").split("\n"))
    return {each[1]: each[2] for each in found if each}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape").strip() if path.is_file() else ""
    except OSError:
        return ""
