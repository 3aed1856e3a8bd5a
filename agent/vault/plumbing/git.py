"""Runs git with fixed options, so that nothing in the vault's own configuration is executed.

A repository can name commands in its configuration, attributes and hooks. Every call turns them off, makes objects
durable, respects the locks of other processes and has a time limit. `repository` finds the repository and checks its
state; `commit` chooses the content.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from agent.errors import GitFailed, Retryable, UserError
from agent.vault.plumbing.command import Git as Command
from agent.vault.plumbing.command import GitCommandNotFound
from agent.vault.plumbing.hazards import READERS, Hazard, hazards
from agent.vault.plumbing.link_check import common_folder
from agent.vault.plumbing.objects import blob_id

NEUTRAL = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", ""),
    ("core.quotePath", "false"),
    ("credential.helper", ""),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("commit.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("log.mailmap", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)
LOOK_SECONDS = 1.0
"""Seconds after which a running command causes a search for what it may be waiting for (`hazards`)."""
DURABLE = (("core.fsync", "all"), ("core.fsyncObjectFiles", "true"))

_SHA256 = re.compile(rb"^\s*(?:\[extensions\]\s*)?objectformat\s*=\s*\"?sha256\b", re.IGNORECASE | re.MULTILINE)

KEPT_VARIABLES = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"),
    *("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
)


class Obstructed(UserError):
    """git waits for something that never comes, or takes too long; `hazard` is the cause."""

    def __init__(self, hazard: Hazard) -> None:
        super().__init__(str(hazard), hint=hazard.hint)
        self.hazard = hazard


class TooSlow(Retryable):
    """A git command was ended after its time limit; it is unknown how far it has come."""


@dataclass(frozen=True, slots=True)
class GitObject:
    """An object from `cat-file`: hex id, type and bytes."""

    oid: str
    kind: str
    data: bytes


class Git:
    """The git command line for one repository, with all configured commands turned off.

    `gitdir` and `worktree` are absolute and passed to git, so that `core.worktree` and discovery have no effect.
    `settings` come after the fixed ones, and `variables` after those of this process.
    """

    def __init__(
        self,
        gitdir: Path,
        worktree: Path,
        *,
        durable: bool = True,
        timeout: float = 60.0,
        settings: tuple[tuple[str, str], ...] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        for name in [n for n in os.environ if n.startswith("GIT_") and n not in KEPT_VARIABLES]:
            del os.environ[name]  # the GIT_DIR or GIT_INDEX_FILE of a hook belongs to another command
        self.gitdir = gitdir
        self.worktree = worktree
        self.timeout = timeout
        self.durable = durable
        self.costly: Hazard | None = None
        """A pattern that git could not match in time; while it is set, git is not asked for new files."""
        self._settings = NEUTRAL + (DURABLE if durable else ()) + settings
        self._variables = dict(variables or {})
        self._drivers: tuple[tuple[int, int], tuple[tuple[str, str], ...]] | None = None
        self._width = 0
        self._command = Command(str(worktree))
        self._program = shutil.which("git") or "git"

    def run(
        self,
        *args: str,
        stdin: bytes | BinaryIO = b"",
        ok: Sequence[int] = (0,),
        index: Path | None = None,
        drivers_off: bool = False,
    ) -> bytes:
        """Run `git ARGS` and return its standard output; raises `GitFailed` for an exit status outside `ok`.

        `drivers_off` also disables filters, textconv and merge drivers by name: needed whenever git may read a file of
        the working tree (`status`, `diff`, `update-index --refresh`).
        """
        return self.start(*args, stdin=stdin, index=index, drivers_off=drivers_off).wait(ok)

    def fields(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,), drivers_off: bool = False) -> list[str]:
        """Run `git ARGS`, which include `-z`, and return its NUL-separated fields without the empty ones."""
        out = self.run(*args, stdin=stdin, ok=ok, drivers_off=drivers_off)
        return [field for field in out.decode("utf-8", "surrogateescape").split("\0") if field]

    def start(
        self, *args: str, stdin: bytes | BinaryIO = b"", index: Path | None = None, drivers_off: bool = False
    ) -> "Running":
        """Start `git ARGS` without waiting, so that two commands can overlap."""
        settings = self._settings + (self.silenced_drivers() if drivers_off else ())
        source = subprocess.PIPE if isinstance(stdin, bytes) else stdin
        try:
            process = self._command.execute(
                [self._program, *args],
                istream=source,
                as_process=True,
                env=self._environment(settings, index),
                start_new_session=True,  # Ctrl-C is for this program, which decides; git ends what it has begun
            )
            assert isinstance(process, Command.AutoInterrupt)
        except GitCommandNotFound as error:
            raise UserError("git is not installed, or not on the PATH", hint="install git 2.34 or newer") from error
        fed = stdin if isinstance(stdin, bytes) else None
        return Running(args[0], process, fed, self.timeout, self.gitdir, self.worktree)

    def _environment(self, settings: tuple[tuple[str, str], ...], index: Path | None) -> dict[str, str]:
        environment = {
            "GIT_DIR": str(self.gitdir),
            "GIT_WORK_TREE": str(self.worktree),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for number, (key, value) in enumerate(settings):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        if index is not None:
            environment["GIT_INDEX_FILE"] = str(index)
        return environment | self._variables

    def silenced_drivers(self) -> tuple[tuple[str, str], ...]:
        """Settings that disable every filter, diff and merge driver defined in any configuration file."""
        try:
            status = (self.gitdir / "config").stat()
            stamp = (status.st_mtime_ns, status.st_size)
        except OSError:
            stamp = (0, 0)
        if self._drivers is None or self._drivers[0] != stamp:
            self._drivers = (stamp, tuple(_silence(self.config_names())))
        return self._drivers[1]

    @property
    def width(self) -> int:
        """The number of hex digits in this repository's ids: 40 (SHA-1) or 64 (SHA-256).

        Read from the configuration file itself: git ignores an `include` for it, and it never changes.
        """
        if not self._width:
            try:
                content = (common_folder(self.gitdir) / "config").read_bytes()
            except OSError:
                content = b""
            self._width = 64 if _SHA256.search(content) else 40
        return self._width

    def blob_id(self, data: bytes) -> str:
        """The id that git gives to a file's content in this repository."""
        return blob_id(data, self.width)

    def config_names(self) -> list[str]:
        """All configured keys, in lower case except the middle part, which is a name."""
        listed = self.run("config", "--list", "--name-only", "-z")
        return [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]

    def objects(self, names: Sequence[str]) -> list[GitObject | None]:
        """The objects at revisions such as `HEAD`, `HEAD:daily` or `:0:note.md`, by one process; None if missing."""
        asked = "".join(f"{self._plain(name)}\n" for name in names).encode("utf-8", "surrogateescape")
        return list(_parse_batch(self.run("cat-file", "--batch", "--buffer", stdin=asked), len(names)))

    def small_blobs(self, ids: Iterable[str], most: int) -> dict[str, bytes]:
        """The contents, by id, of the blobs that have at most `most` bytes."""
        return self.small_objects(ids, most, "blob")

    def small_objects(self, ids: Iterable[str], most: int, kind: str) -> dict[str, bytes]:
        """The contents, by id, of the objects of this kind that have at most `most` bytes."""
        asked = "\n".join(dict.fromkeys(ids)).encode()
        if not asked:
            return {}
        out = self.run("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=asked).decode()
        rows = [row.split(" ") for row in out.splitlines()]
        small = [row[0] for row in rows if len(row) == 3 and row[1] == kind and int(row[2]) <= most]
        return {found.oid: found.data for found in (self.objects(small) if small else ()) if found is not None}

    def _plain(self, name: str) -> str:
        """The name, or its id if the name contains a line end, which would break the line-based protocol."""
        if "\n" not in name:
            return name
        found = self.run("rev-parse", "--verify", "-q", "--end-of-options", name, ok=(0, 1, 128)).decode().strip()
        return found or "0" * self.width


@dataclass(slots=True)
class Running:
    """A running git command. `process` is GitPython's wrapper, stored because its deletion ends the process."""

    name: str
    process: Command.AutoInterrupt
    stdin: bytes | None
    timeout: float
    gitdir: Path
    worktree: Path
    code: int = -1
    stderr: bytes = b""
    waited: bool = False

    def end(self) -> None:
        """Kill the process, with those that it has started, if it has not been waited for."""
        if not self.waited:
            self.kill()

    def kill(self) -> None:
        """Kill the process and those that it has started: a transfer's helper, an ssh."""
        process = self.process.proc
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        with suppress(subprocess.TimeoutExpired, ValueError):  # a child in a session of its own may hold the pipes
            process.communicate(timeout=LOOK_SECONDS)

    def wait(self, ok: Sequence[int] = (0,)) -> bytes:
        """Send the input, wait, and return standard output; raises `GitFailed`, or `TooSlow` after the time limit.

        Raises `Obstructed` early if the command waits for a pipe or for a costly pattern.
        """
        process = self.process.proc
        if process is None:
            raise GitFailed(self.name, -1, "it was waited for already")
        self.waited = True
        # After the last byte, `communicate` polls in steps of 1 ms, which is longer than some commands take.
        process.wait = lambda timeout=None: type(process).wait(process)  # type: ignore[method-assign]
        try:
            out, err = self._communicate(process)
        except subprocess.TimeoutExpired as error:
            self.kill()
            raise TooSlow(
                "git {name} did not finish in {timeout:.0f} s", name=self.name, timeout=self.timeout
            ) from error
        self.code, self.stderr = process.returncode, err
        if self.code not in ok:
            raise GitFailed(self.name, self.code, err.decode("utf-8", "replace"))
        return bytes(out)

    def _communicate(self, process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
        early = min(LOOK_SECONDS, self.timeout / 2)
        try:
            return process.communicate(self.stdin, timeout=early)
        except subprocess.TimeoutExpired:
            found = next(hazards(self.gitdir, self.worktree, folders=self.name in READERS), None)
            if found is not None:
                self.kill()
                raise Obstructed(found) from None
            return _outputs(process, self.timeout - early)


def _outputs(process: "subprocess.Popen[bytes]", seconds: float) -> tuple[bytes, bytes]:
    """The outputs of a process; what there is of them if it has ended and a child of it holds the pipes open."""
    ended = False
    while True:
        step = min(LOOK_SECONDS, seconds)
        try:
            return process.communicate(timeout=step)
        except subprocess.TimeoutExpired as error:
            seconds -= step
            if ended:
                return error.output or b"", error.stderr or b""
            ended = process.poll() is not None
            if ended:
                seconds = LOOK_SECONDS
            elif seconds <= 0:
                raise


def _silence(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        section, _, rest = name.partition(".")
        variable = rest.rpartition(".")[2].lower()
        if section == "filter" and variable in {"clean", "smudge", "process"}:
            yield name, ""
        elif section == "filter" and variable == "required":
            yield name, "false"
        elif (section == "diff" and variable in {"textconv", "command"}) or (
            section == "merge" and variable == "driver"
        ):
            yield name, ""


def _parse_batch(out: bytes, count: int) -> Iterator[GitObject | None]:
    position = 0
    for _ in range(count):
        end = out.index(b"\n", position)
        head = out[position:end].split(b" ")
        position = end + 1
        if head[-1] == b"missing":
            yield None
            continue
        if head[-1] == b"ambiguous" or len(head) != 3:
            raise GitFailed("cat-file", 0, out[:200].decode("utf-8", "replace"))
        size = int(head[2])
        yield GitObject(head[0].decode(), head[1].decode(), out[position : position + size])
        position += size + 1
