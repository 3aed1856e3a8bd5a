"""Tests the machine in a temporary vault: git, durable writes, exchange of files, commit and undo.

Each question gives one `Check`. `examine` checks a vault; the command formats the output and sets the exit code.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path

from agent.clock import Clock
from agent.config.private import make_folder
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.git.repository import MARKER
from agent.git.runner import Git
from agent.platform.here import platform
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.vault.history.undo import Undone, undo
from agent.vault.history.undo_choice import Selection
from agent.vault.initialise import initialise
from agent.vault.options import Options
from agent.vault.store import Vault

OLDEST, RECENT = (2, 34), (2, 36)
_MB = 1 << 20
_FULL, _SCARCE = 50 * _MB, 500 * _MB


class Level(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Check:
    """One question and its answer: one line, details on further lines, and the command that helps."""

    level: Level
    name: str
    what: str
    details: tuple[str, ...] = ()
    next: str = ""


def ok(name: str, what: str, /, details: tuple[str, ...] = (), **values: object) -> Check:
    """A finding without a problem; `values` are those of the placeholders in `what`."""
    return Check(Level.OK, name, Sentence(what, **values), details)


def warn(name: str, what: str, /, details: tuple[str, ...] = (), next: str = "", **values: object) -> Check:
    """A finding that a person should look at."""
    return Check(Level.WARN, name, Sentence(what, **values), details, next)


def bad(name: str, what: str, /, details: tuple[str, ...] = (), next: str = "", **values: object) -> Check:
    """A finding that keeps the vault from working."""
    return Check(Level.BAD, name, Sentence(what, **values), details, next)


_TO_ASK_HERE = frozenset({"vault-agent doctor looks for the cause", "vault-agent doctor says how to mend it"})
"""Hints that lead to these checks."""


def guarded(name: str, ask: Callable[[], Iterable[Check]]) -> list[Check]:
    """The answers, or one bad answer if asking fails: a broken vault must not stop `doctor`."""
    try:
        return list(ask())
    except AgentError as error:
        return [bad(name, error.message, next="" if error.hint in _TO_ASK_HERE else error.hint)]
    except (OSError, ValueError, KeyError, RecursionError) as error:
        return [bad(name, "{kind}: {problem}", kind=type(error).__name__, problem=error)]


Undo = Callable[[Vault, str], object]
"""A function that undoes one commit of a vault."""


def _take_back(vault: Vault, commit: str) -> Undone:
    return undo(vault, Selection(commits=(commit,)))


def machine(state: Path, clock: Clock, options: Options, take_back: Undo = _take_back) -> list[Check]:
    """All checks of this machine; `state` is the folder for vaults' private files."""
    checks = guarded("git", _git_version)
    checks += guarded("state", lambda: _state(state))
    if any(check.level is Level.BAD for check in checks):
        return checks
    checks += guarded("disk", lambda: [disk("disk", state)])
    return checks + guarded("scratch", lambda: _scratch(state, clock, options, take_back))


def _git_version() -> Iterator[Check]:
    answer = Git(Path("/nowhere"), Path("/")).run("version").decode("utf-8", "replace").strip()
    found = re.search(r"(\d+)\.(\d+)", answer)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    if version < OLDEST:
        yield bad("git", "{version} is too old; 2.34 or newer is needed", next="install a newer git", version=answer)
    elif version < RECENT:
        yield warn(
            "git",
            "{version}: before 2.36 git can force only new objects to the disk, not refs and the index",
            version=answer,
        )
    else:
        yield ok("git", answer.removeprefix("git version "))


def _state(state: Path) -> Iterator[Check]:
    make_folder(state)
    with tempfile.TemporaryFile(dir=state) as file:
        file.write(b"probe")
        file.flush()
        platform().flush(file.fileno())
    yield ok("state", "{path} can be written", path=state)


def disk(name: str, folder: Path) -> Check:
    """The check of free disk space for this folder."""
    free = shutil.disk_usage(folder).free
    what = Sentence("{size:.1f} GB free at {folder}", size=free / _MB / 1024, folder=folder)
    if free < _FULL:
        return bad(name, what, next="make room, then try again")
    return Check(Level.WARN if free < _SCARCE else Level.OK, name, what)


def _scratch(state: Path, clock: Clock, options: Options, take_back: Undo) -> Iterator[Check]:
    """Write, edit, commit and undo in a temporary vault on the file system of the state folder."""
    with tempfile.TemporaryDirectory(prefix="probe-", dir=state) as name:
        folder = Path(name)
        yield from _calls(folder)
        if options.durable:
            yield ok("durable", "every write is forced to the disk")
        else:
            lost = "off: a power cut can lose the last changes"
            yield warn("durable", lost, next="vault-agent config unset git.durable")
        done = initialise(folder / "vault", {MARKER: b""}, folder / "state", clock, options)
        yield from _round_trip(done.vault, take_back)


def _calls(folder: Path) -> Iterator[Check]:
    """The file-system calls that the write protocol prefers."""
    (folder / "one").write_bytes(b"1")
    (folder / "two").write_bytes(b"2")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        swapped = platform().exchange(descriptor, "one", "two") and (folder / "one").read_bytes() == b"2"
    finally:
        os.close(descriptor)
    if swapped:
        yield ok("exchange", "two files can be exchanged in one step")
    else:
        yield warn("exchange", "not on this file system: a save in the same instant is found a moment later")
    with (folder / "one").open("rb") as file:
        seen = platform().has_writer(file.fileno())
    if seen is None:
        yield warn("leases", "not here: a program that is just saving a note is not seen, only what it saved")
    else:
        yield ok("leases", "a program that is just saving a note is seen")


def _round_trip(vault: Vault, take_back: Undo) -> Iterator[Check]:
    stamp = Stamp("agent", tool="doctor")
    first, second = b"---\ntype: probe\n---\nfirst\n", b"---\ntype: probe\n---\nsecond\n"
    with vault.transaction("doctor(probe): create", stamp) as writing:
        writing.create("probe.md", first)
    with vault.transaction("doctor(probe): edit", stamp) as editing:
        editing.edit("probe.md", first, second)
    edit = editing.outcome.commit
    if edit is None or vault.read("probe.md") != second or vault.read_at("HEAD", "probe.md") != second:
        yield bad("write", "a note that was written and committed is not there", next="vault-agent doctor")
        return
    yield ok("write", "a note was written, edited and committed")
    take_back(vault, edit)
    restored = vault.read("probe.md") == first and vault.read_at("HEAD", "probe.md") == first
    yield ok("undo", "the edit was taken back") if restored else bad("undo", "an edit was not taken back")
