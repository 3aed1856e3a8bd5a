"""Fetches the newest files of another repository as bytes: nothing is checked out, nothing is run.

There is no work tree, so no filter, hook, submodule or link of that repository can take effect. The objects go into a
temporary bare repository. Only addresses with https or ssh, and folders of this machine, are accepted.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from agent.dataclass import dataclass
from agent.errors import GitFailed, UserError
from agent.git.runner import Git

_ALLOWED = ("https", "ssh", "file")
_ADDRESS = re.compile(r"(?:(?:https|ssh|file)://|[\w.][\w.-]*@[\w.][\w.-]*:(?!/?/?-))[^\s\x00-\x1f]+")
_LISTED = 50_000
_LONGEST_ADDRESS = 2_000


@dataclass(frozen=True, slots=True)
class Blob:
    """A regular file in a commit: its id and its size in bytes."""

    oid: str
    size: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """The newest commit of a repository: its regular files by path, and its other entries (links, submodules)."""

    commit: str
    files: Mapping[str, Blob]
    not_files: tuple[str, ...]
    git: Git

    def read(self, paths: list[str]) -> dict[str, bytes]:
        """The bytes of these files."""
        found = self.git.objects([self.files[path].oid for path in paths]) if paths else []
        return {path: blob.data for path, blob in zip(paths, found, strict=True) if blob is not None}


def is_address(text: str) -> bool:
    """True if a text is an accepted address of a repository."""
    return len(text) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(text) is not None


@contextmanager
def fetched(address: str, timeout: float = 60.0) -> Iterator[Fetched]:
    """Fetch the newest commit of the repository at `address` (or in a folder); it is available inside the block.

    Raises `UserError` for an address of another kind or one that does not answer, `Retryable` after `timeout` seconds.
    """
    source = address if is_address(address) else str(Path(address).resolve())
    if not is_address(address) and not Path(source).is_dir():
        raise UserError(
            "{address} is no folder, and no address of a repository",
            hint="give a folder, or an address such as https://example.org/skills.git",
            address=ascii(address[:200])[1:-1],
        )
    with tempfile.TemporaryDirectory(prefix="vault-agent-", ignore_cleanup_errors=True) as folder:
        empty = Path(folder, "empty")
        empty.mkdir()
        ssh = {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
        git = Git(Path(folder, "repository"), empty, durable=False, timeout=timeout, variables=ssh)
        git.run("init", "-q", "--template=")
        allowed = [word for name in _ALLOWED for word in ("-c", f"protocol.{name}.allow=always")]
        checked = ["-c", "fetch.fsckObjects=true"]
        command = ["fetch", "-q", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
        try:
            git.run(*allowed, *checked, *command, "--end-of-options", source, "+HEAD:refs/heads/fetched")
        except GitFailed as error:
            words = error.stderr.strip().splitlines()
            raise UserError(
                "{address} could not be fetched: {reason}",
                hint="check the address, and that git can reach it without asking for a password",
                address=ascii(address[:200])[1:-1],
                reason=words[-1] if words else error,
            ) from error
        yield _listed(git)


def _listed(git: Git) -> Fetched:
    commit = git.run("rev-parse", "--verify", "-q", "refs/heads/fetched").decode().strip()
    rows = git.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).decode("utf-8", "surrogateescape").split("\0")
    if len(rows) > _LISTED:
        raise UserError(
            "the repository has more than {count:,} files",
            hint="clone it, then install from a folder of the clone",
            count=_LISTED,
        )
    files: dict[str, Blob] = {}
    not_files: list[str] = []
    for row in filter(None, rows):
        meta, path = row.split("\t", 1)
        mode, kind, oid, size = meta.split()
        if kind == "blob" and mode.startswith("100"):
            files[path] = Blob(oid, int(size))
        else:
            not_files.append(path)
    return Fetched(commit, files, tuple(not_files), git)
