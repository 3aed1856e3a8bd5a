"""Failures to inject: of the disk, of git, of what lies in the repository; each is in force inside a `with` block.

Afterwards everything is as it was before, so that what the product has said can be held against what it did.
"""

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from agent.clock import SystemClock
from agent.vault.store import Vault
from agent.vault.worktree.files import Files
from tests.vaults import git, with_parts

CODES = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS)


@dataclass(frozen=True, slots=True)
class FaultyFiles(Files):
    """Files whose n-th operation fails with `code`, and every later one too where `lasting`."""

    code: int = errno.EIO
    at: int = 1
    lasting: bool = False
    done: list[str] = field(default_factory=list)

    def _step(self, name: str, path: str) -> None:
        self.done.append(name)
        if len(self.done) == self.at or (self.lasting and len(self.done) > self.at):
            raise OSError(self.code, os.strerror(self.code), path)

    def read(self, path: str) -> bytes | None:
        self._step("read", path)
        return Files.read(self, path)

    def stage(self, path: str, temporary: str, data: bytes, mode: int | None) -> None:
        self._step("stage", path)
        Files.stage(self, path, temporary, data, mode)

    def publish(self, path: str, temporary: str) -> None:
        self._step("publish", path)
        Files.publish(self, path, temporary)

    def trade(self, path: str, temporary: str) -> None:
        self._step("trade", path)
        Files.trade(self, path, temporary)

    def take(self, path: str, temporary: str) -> None:
        self._step("take", path)
        Files.take(self, path, temporary)

    def beside(self, path: str, temporary: str) -> bytes | None:
        self._step("beside", path)
        return Files.beside(self, path, temporary)

    def discard(self, path: str, temporary: str) -> None:
        self._step("discard", path)
        Files.discard(self, path, temporary)

    def flush(self, path: str) -> None:
        self._step("flush", path)
        Files.flush(self, path)


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure by name: `there` has it in force, `through` alters the open vault where that is how it is injected."""

    name: str
    there: Callable[[Path, Path], AbstractContextManager[None]] = lambda root, state: nullcontext()
    through: Callable[[Vault], Vault] = lambda vault: vault


def disk(code: int, at: int, lasting: bool) -> Fault:
    """The n-th operation on the vault's files fails."""

    def through(vault: Vault) -> Vault:
        files = FaultyFiles(vault.place.root, SystemClock(), False, code, at, lasting)
        return with_parts(vault, files=files)

    name = f"{errno.errorcode[code]} at operation {at}{' and from then on' if lasting else ''}"
    return Fault(name, through=through)


WRAPPER = """#!/bin/sh
n=$(($(cat '{count}' 2>/dev/null || echo 0) + 1))
echo $n > '{count}'
if [ $n {test} {at} ]; then
  case {how} in
    fails) echo 'fatal: it does not work today' >&2; exit 128 ;;
    hangs) exec sleep 20 ;;
    works-then-fails) '{git}' "$@"; echo 'fatal: too late' >&2; exit 1 ;;
    works-then-hangs) '{git}' "$@"; exec sleep 20 ;;
    is-killed) kill -9 $$ ;;
  esac
fi
exec '{git}' "$@"
"""


def command(how: str, at: int, lasting: bool) -> Fault:
    """The n-th git process that the product starts fails, hangs, or does its work and then fails or hangs."""

    @contextmanager
    def there(root: Path, state: Path) -> Iterator[None]:
        folder = state.parent / "bin"
        folder.mkdir(exist_ok=True)
        real = shutil.which("git")
        test = "-ge" if lasting else "-eq"
        script = WRAPPER.format(count=folder / "count", test=test, at=at, how=how, git=real)
        (folder / "git").write_text(script)
        (folder / "git").chmod(0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{folder}:{path}"
        try:
            yield
        finally:
            os.environ["PATH"] = path
            shutil.rmtree(folder)

    return Fault(f"git call {at} {how}{' and from then on' if lasting else ''}", there)


@contextmanager
def kept(path: Path) -> Iterator[None]:
    """Put a file or folder back as it was, or remove it where it was not there."""
    aside = path.with_name(path.name + ".kept")
    there = os.path.lexists(path)
    if there:
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, aside)
    try:
        yield
    finally:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if there:
            aside.rename(path)


def holding(name: str, content: bytes | None) -> Fault:
    """A file in the repository has these bytes (None: it is gone)."""

    @contextmanager
    def there(root: Path, state: Path) -> Iterator[None]:
        path = root / ".git" / name
        with kept(path):
            if path.is_dir():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            yield
        if not any(path.parent.iterdir()):
            path.parent.rmdir()

    return Fault(f"{name} is {'gone' if content is None else repr(content[:30])}", there)


def folder_instead(name: str) -> Fault:
    """A folder stands where the product keeps a private file."""

    @contextmanager
    def there(root: Path, state: Path) -> Iterator[None]:
        (private,) = (path for path in state.iterdir() if path.is_dir())
        with kept(private / name):
            (private / name).unlink(missing_ok=True)
            (private / name).mkdir()
            yield

    return Fault(f"{name} is a folder", there)


@contextmanager
def _immovable(root: Path, state: Path) -> Iterator[None]:
    """Nothing in the notes' folder can be changed, not even by root, where the file system has that attribute."""
    done = subprocess.run(["chattr", "+i", root / "notes"], capture_output=True, check=False).returncode == 0
    mode = stat.S_IMODE((root / "notes").stat().st_mode)
    if not done:
        (root / "notes").chmod(0o555)
    try:
        yield
    finally:
        if done:
            subprocess.run(["chattr", "-i", root / "notes"], capture_output=True, check=True)
        else:
            (root / "notes").chmod(mode)


@contextmanager
def _detached(root: Path, state: Path) -> Iterator[None]:
    git(root, "checkout", "-q", "--detach")
    try:
        yield
    finally:
        git(root, "checkout", "-q", "main")


@contextmanager
def _gone(root: Path) -> Iterator[None]:
    (root / ".git" / "index").unlink()
    yield


def _missing(kind: str) -> Fault:
    """An object that HEAD needs is not there."""

    @contextmanager
    def there(root: Path, state: Path) -> Iterator[None]:
        oid = git(root, "rev-parse", f"HEAD{kind}").strip()
        path = root / ".git" / "objects" / oid[:2] / oid[2:]
        aside = root.parent / "object.kept"
        path.rename(aside)
        try:
            yield
        finally:
            path.parent.mkdir(exist_ok=True)
            aside.rename(path)

    return Fault(f"the object HEAD{kind} is missing", there)


STATES: tuple[Fault, ...] = (
    holding("index.lock", b""),
    holding("HEAD.lock", b""),
    holding("refs/heads/main.lock", b""),
    holding("packed-refs.lock", b""),
    holding("index", b"garbage"),
    holding("index", b"DIRC\0\0\0\2\0\0\0\1"),
    holding("index", b""),
    Fault("the index is gone for good", lambda root, state: _gone(root)),
    holding("HEAD", b"garbage\n"),
    holding("HEAD", b""),
    holding("HEAD", None),
    holding("refs/heads/main", b"garbage\n"),
    holding("refs/heads/main", b"0123456789012345678901234567890123456789\n"),
    holding("objects", b"not a folder"),
    holding("config", b"[broken\n"),
    holding("rebase-merge/head-name", b"refs/heads/main\n"),
    holding("MERGE_HEAD", b"0123456789012345678901234567890123456789\n"),
    holding("CHERRY_PICK_HEAD", b"0123456789012345678901234567890123456789\n"),
    holding("REVERT_HEAD", b"0123456789012345678901234567890123456789\n"),
    holding("BISECT_LOG", b"git bisect start\n"),
    Fault("HEAD is detached", _detached),
    _missing(""),
    _missing("^{tree}"),
    _missing(":notes"),
    _missing(":notes/edit.md"),
    folder_instead("journal.jsonl"),
    folder_instead("writer.lock"),
    Fault("the notes' folder cannot be changed", _immovable),
)


def faults(count: int, seed: str) -> list[Fault]:
    """States of a repository, failing disk operations and failing git calls, mixed."""
    rng = Random(seed)
    states = list(STATES)
    rng.shuffle(states)
    hows = ["fails", "hangs", "works-then-fails", "works-then-hangs", "is-killed"]
    found = []
    for number in range(count):
        match number % 3:
            case 0:
                found.append(states[number // 3 % len(states)])
            case 1:
                found.append(disk(rng.choice(CODES), rng.randint(1, 34), rng.random() < 0.4))
            case _:
                found.append(command(hows[number // 3 % len(hows)], rng.randint(1, 9), rng.random() < 0.3))
    return found
