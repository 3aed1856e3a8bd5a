"""Causes of a git command that hangs: pipes in the place of rule files, and patterns with exponential matching time.

The search walks through every folder, so it is done only by `doctor` and for a command that takes too long. The mere
size of a repository is not a hazard: its commands get their full time limit.
"""

import os
import re
import stat
from collections.abc import Iterator
from itertools import pairwise
from math import comb
from pathlib import Path
from struct import Struct

from agent.dataclass import dataclass
from agent.errors import Permanent

STARS = 3
"""Number of stars in one pattern from which on matching can take seconds."""
STEPS = 50_000_000
"""Matching steps that git does in about half a second."""
_MOST = 1 << 20
_READ_BY_GIT = frozenset((".gitattributes", ".gitignore", ".gitmodules"))
READERS = frozenset(("status", "ls-files", "update-index", "check-attr", "check-ignore", "diff", "add"))
"""The git commands that read the rule files."""
_RULES = frozenset((".gitignore", ".gitattributes"))
_RUN = re.compile(r"\*+")
_KEYS = (b"excludesfile", b"attributesfile", b"path")


@dataclass(frozen=True, slots=True)
class Hazard:
    """A file that git reads. `pattern` is its costly line, number `line` from 1; empty for a pipe or device."""

    path: Path
    line: int = 0
    pattern: str = ""

    def __str__(self) -> str:
        if not self.pattern:
            return f"git waits for {self.path}, which is not a file"
        return f"git takes too long to match line {self.line} of {self.path}: {self.pattern[:60]}"

    @property
    def hint(self) -> str:
        return f"remove it: rm {self.path}" if not self.pattern else "use fewer stars in that line"


def hazards(gitdir: Path, worktree: Path, *, folders: bool = True) -> Iterator[Hazard]:
    """The hazards of a repository; with `folders` also those in the folders of its work tree."""
    fixed = [gitdir / "config", worktree / ".mailmap", gitdir / "info" / "exclude", gitdir / "info" / "attributes"]
    fixed += [_home() / name for name in ("ignore", "attributes", "config")]
    fixed += _named(gitdir / "config", gitdir, worktree)
    fixed = list(dict.fromkeys(fixed))
    yield from (Hazard(path) for path in fixed if _is_pipe(path))
    if not folders:
        return
    yield from (Hazard(path) for path in _pipes(worktree))
    suspects = [each for path in fixed if path.name not in {"config", ".mailmap"} for each in _suspects(path)]
    names: list[str] = []
    for folder, below, files in os.walk(worktree):
        below[:] = sorted(name for name in below if name != ".git")
        for name in sorted(_RULES.intersection(files)):
            suspects += _suspects(Path(folder, name))
        inside = folder[len(str(worktree)) + 1 :]
        names += (f"{inside}/{name}" if inside else name for name in (*below, *files))
    yield from (each for each in suspects if _steps(each.pattern, names) > STEPS)


def _pipes(worktree: Path) -> Iterator[Path]:
    """Paths of git's rule files that are pipes, sockets or devices. Links are not followed, as in git."""
    for folder, below, names in os.walk(worktree):
        below[:] = sorted(name for name in below if name != ".git")
        for name in sorted(_READ_BY_GIT.intersection(names)):
            path = Path(folder, name)
            try:
                kind = path.lstat().st_mode
            except OSError:
                continue
            if not stat.S_ISREG(kind) and not stat.S_ISLNK(kind):
                yield path


def _steps(pattern: str, names: list[str]) -> int:
    """About how many steps git takes to match a pattern with these paths when it does not match.

    Each star is tried at every place where its next character occurs: k stars and m places give `comb(m, k)` tries.
    (git up to 2.40 tries them all; newer versions stop early.)
    """
    stars = _stars(pattern)
    after = {end for here, end in pairwise(pattern) if here == "*" and end != "*"}
    anything = bool(after & set("?[\\"))
    whole = "/" in pattern.rstrip("/")
    total = 0
    for path in names:
        name = path if whole else path.rpartition("/")[2]
        places = len(name) if anything else max((name.count(each) for each in after), default=0)
        total += comb(places, stars)
        if total > STEPS:
            break
    return total


def _home() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path(os.environ.get("HOME", "/")) / ".config") / "git"


def _named(config: Path, gitdir: Path, worktree: Path) -> Iterator[Path]:
    """The files that the repository's settings refer to: pattern files and included settings."""
    for line in _content(config).splitlines():
        key, _, value = line.partition(b"=")
        if key.strip().lower() in _KEYS:
            named = Path(os.fsdecode(value.strip().strip(b'"'))).expanduser()
            yield from (gitdir / named, worktree / named) if not named.is_absolute() else (named,)


def _is_pipe(path: Path) -> bool:
    """True if the path exists and is neither a file nor a folder; links are followed, as git does here."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind) and path != Path(os.devnull)


def _suspects(path: Path) -> Iterator[Hazard]:
    for number, line in enumerate(_content(path).split(b"\n"), 1):
        pattern = line.strip().decode("utf-8", "replace")
        if not pattern.startswith("#") and _stars(pattern) >= STARS:
            yield Hazard(path, number, pattern)


def _stars(pattern: str) -> int:
    """The number of stars in a pattern; neighbours count as one, and a `**` for whole folders does not count."""
    return sum(len(_RUN.findall(part)) for part in pattern.split("/") if part != "**")


def _content(path: Path) -> bytes:
    """The bytes of a small file; empty if it is missing or a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""


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
