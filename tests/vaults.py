"""Real vaults in temporary folders, with real git, for tests."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agent.clock import Clock, SystemClock
from agent.git.object_ids import blob_id as id_of_blob
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from tests.first_commit import commit_all

FAST = Options(durable=False)
UNTENDED = ("-c", "maintenance.auto=false", "-c", "gc.auto=0")
"""Options of git: a commit or a transfer starts no second process that asks whether to pack."""
FORMAT = "TEST_OBJECT_FORMAT"
"""The environment variable that says which ids the tests' repositories have: sha1 (default) or sha256."""


def object_format() -> str:
    """The object format of the repositories that tests make."""
    return os.environ.get(FORMAT, "sha1")


def blob_id(data: bytes) -> str:
    """The id that git gives to a file's content in the tests' repositories."""
    return id_of_blob(data, 64 if object_format() == "sha256" else 40)


def init(root: Path, *options: str) -> None:
    """Make `root` an empty repository of the tests' object format, on the branch main."""
    git(root, "init", "-q", "-b", "main", f"--object-format={object_format()}", *options)


def lay_repository(root: Path) -> None:
    """Make `root` a repository of Anna's as `init` and `git config` do, without starting them for each test."""
    _lay(root, _new_repository(object_format()))


def lay_bare_repository(root: Path) -> None:
    """Make `root` a bare repository on the branch main, as `init` does, that is not looked after at each push."""
    _lay(root, _new_repository(object_format(), "--bare"))


def _lay(root: Path, parts: Iterable[tuple[str, bytes | None]]) -> None:
    for path, content in parts:
        if content is None:
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            write(root / path, content)


@cache
def _new_repository(form: str, *options: str) -> tuple[tuple[str, bytes | None], ...]:
    """The folders (None) and files that git makes for a new repository of this format, but the samples of hooks."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        init(root, *options)
        if options:
            git(root, "config", "receive.autoGC", "false")
        else:
            git(root, "config", "user.name", "Anna")
            git(root, "config", "user.email", "anna@example.org")
        found = [path for path in sorted(root.rglob("*")) if path.suffix != ".sample"]
        return tuple((str(path.relative_to(root)), path.read_bytes() if path.is_file() else None) for path in found)


def git(root: Path, *args: str, check: bool = True) -> str:
    """Run git as a person would, in their own name."""
    command = ["git", *UNTENDED, "-c", "user.name=Anna", "-c", "user.email=anna@example.org", *args]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if check and result.returncode:
        raise AssertionError(f"git {' '.join(args)}: {result.stderr}")
    return result.stdout


def git_beside(root: Path, *args: str) -> str:
    """The same beside a program that is at work in the repository: what stops at its lock is tried again."""
    for _ in range(100):
        try:
            return git(root, *args)
        except AssertionError as error:
            if ".lock': File exists" not in str(error) and "cannot lock ref" not in str(error):
                raise
            SystemClock().sleep(0.05)
    return git(root, *args)


def make_vault(
    folder: Path,
    notes: Mapping[str, str | bytes] | None = None,
    *,
    clock: Clock | None = None,
    options: Options = FAST,
) -> Vault:
    """A vault at `folder/vault` with these notes committed in Anna's name; its private files are at `folder/state`."""
    root = folder / "vault"
    root.mkdir(parents=True)
    lay_repository(root)
    given = {"vault-agent.yaml": "", **(notes or {})}
    files = {path: content.encode() if isinstance(content, str) else content for path, content in given.items()}
    for path, content in files.items():
        write(root / path, content)
    if any(part.startswith(".git") for path in files for part in path.split("/")):  # what git does depends on it
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "The vault as it was")
    else:
        commit_all(root, files, "The vault as it was", object_format())
    return open_vault(root, folder / "state", clock or SystemClock(), options)


def with_parts(vault: Vault, **parts: Any) -> Vault:
    """The vault with other parts (`git`, `files`, `options`), such as files that fail, for reading and for writing."""
    writer = replace(vault.writer, **parts)
    return replace(vault, **parts, _writer=lambda: writer)


def write(path: Path, content: str | bytes) -> None:
    """Write a file as a person's program would, folders included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def head(root: Path) -> str:
    """The commit that HEAD is on."""
    return git(root, "rev-parse", "HEAD").strip()


def committed(root: Path, path: str, revision: str = "HEAD") -> bytes | None:
    """A file's bytes in a commit, None where there is none."""
    result = subprocess.run(["git", "show", f"{revision}:{path}"], cwd=root, capture_output=True, check=False)
    return result.stdout if result.returncode == 0 else None
