"""Runs git with fixed options, so that nothing in the vault's own configuration is executed.

A repository can name commands in its configuration, attributes and hooks. Every call turns them off, makes objects
durable, respects the locks of other processes and has a time limit. `repository` finds the repository and checks its
state; `commit` chooses the content.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from agent.dataclass import dataclass
from agent.errors import GitFailed
from agent.git.object_ids import blob_id
from agent.git.repository import common_folder
from agent.lazy import later

if TYPE_CHECKING:
    from agent.git.hazards import Hazard, check_index_head
    from agent.git.running import GitProgram, Running
else:
    check_index_head = later("agent.git.hazards", "check_index_head")

READERS = frozenset(("status", "ls-files", "update-index", "diff-index", "diff", "read-tree", "check-attr"))
"""The commands of git that read the index."""

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
DURABLE = (("core.fsync", "all"), ("core.fsyncObjectFiles", "true"))

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FEW = 50
"""The most objects that are looked for in files of their own before git is asked."""
_REMEMBERED, _SHORT = 4, 64 << 10
"""How many answers about what differs are remembered, and the most bytes of one."""
_LAX = frozenset({"core.trustctime", "core.checkstat"})
"""The settings with which git overlooks a changed inode or time of change."""
_SHA256 = re.compile(rb"^\s*(?:\[extensions\]\s*)?objectformat\s*=\s*\"?sha256\b", re.IGNORECASE | re.MULTILINE)

KEPT_VARIABLES = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"),
    *("GIT_SSH_COMMAND", "GIT_SSH", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
)


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
        self._names: tuple[tuple[int, int], tuple[str, ...]] | None = None
        self._width = 0
        self._differing: dict[tuple[str, str], bytes] = {}

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
        """Start `git ARGS` without waiting, so that two commands can overlap; `Permanent` for a damaged index."""
        if args[0] in READERS:
            check_index_head(index or self.gitdir / "index")
        environment = self._environment(self._settings + (self.silenced_drivers() if drivers_off else ()), index)
        return self._program.start(args, stdin, environment, self.timeout)

    @cached_property
    def _program(self) -> "GitProgram":
        module = import_module("agent.git.running")  # many commands start no process
        return cast("GitProgram", module.GitProgram(self.gitdir, self.worktree))

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
        return tuple(_silence(self._configured()))

    @property
    def compares_all_times(self) -> bool:
        """False if the configuration may have git take a file as unchanged whose inode or time of change differs."""
        return _LAX.isdisjoint(self._configured())

    @property
    def has_no_remote(self) -> bool:
        """True if that is known already: git was asked for all settings, and the repository's have not changed."""
        known = self._names if self._names is not None and self._names[0] == self._stamp() else None
        return known is not None and not any(name.startswith("remote.") for name in known[1])

    def _configured(self) -> tuple[str, ...]:
        """The `config_names`, asked again when the repository's configuration file has changed."""
        stamp = self._stamp()
        if self._names is None or self._names[0] != stamp:
            self._names = (stamp, tuple(self.config_names()))
        return self._names[1]

    def _stamp(self) -> tuple[int, int]:
        try:
            status = (common_folder(self.gitdir) / "config").stat()
            return status.st_mtime_ns, status.st_size
        except OSError:
            return 0, 0

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
        """The objects at revisions such as `HEAD`, `HEAD:daily` or `:0:note.md`; None if missing.

        One process is asked for all, or none: where all are named by their ids, and are not in packs.
        """
        if len(names) <= _FEW and all(map(_ID.fullmatch, names)) and (loose := self._loose(names)):
            return loose
        asked = "".join(f"{self._plain(name)}\n" for name in names).encode("utf-8", "surrogateescape")
        return list(_parse_batch(self.run("cat-file", "--batch", "--buffer", stdin=asked), len(names)))

    def _loose(self, ids: Sequence[str]) -> "list[GitObject | None]":
        """The loose objects; empty if one is missing."""
        module = import_module("agent.git.objects")  # with zlib: many commands read no object
        common, found = common_folder(self.gitdir), list[GitObject | None]()
        for oid in ids:
            read = module.load_object(common, oid) if len(oid) == self.width else None
            if read is None:
                return []
            found.append(GitObject(oid, *read))
        return found

    def differing(self, before: str, after: str) -> bytes:
        """The raw rows of `diff-tree` for the files that differ between two commits or trees, without renames.

        A sync asks for the same two commits again and again; between ids the answer never changes, and short ones are
        remembered.
        """
        pair = before, after
        if (known := self._differing.get(pair)) is not None:
            return known
        command = ["diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", "--ignore-submodules=none"]
        out = self.run(*command, "--end-of-options", before, after)
        if len(out) <= _SHORT and all(map(_ID.fullmatch, pair)):
            self._differing = dict([*self._differing.items()][1 - _REMEMBERED :]) | {pair: out}
        return out

    def sizes(self, ids: Iterable[str]) -> dict[str, int]:
        """The bytes of each of these objects, by id; one that is missing is left out."""
        asked = "\n".join(dict.fromkeys(ids)).encode()
        out = self.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked).decode() if asked else ""
        rows = (row.partition(" ") for row in out.splitlines())
        return {name: int(size) for name, _, size in rows if size.isdecimal()}

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


def _silence(names: Iterable[str]) -> Iterator[tuple[str, str]]:
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
