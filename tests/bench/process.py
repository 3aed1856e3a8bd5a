"""What Linux tells of a running process in `/proc`: memory, processor time, open files, threads and children."""

import os
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.errors import UserError

_KINDS = (("socket:", "sockets"), ("pipe:", "pipes"), ("anon_inode:", ""), ("/dev/shm/", "files"), ("/dev/", "devices"))
_NUMBERED = re.compile(r"[-_ ]?\d+$")


@dataclass(frozen=True, slots=True)
class Process:
    """A running process, as the system sees it."""

    pid: int

    @property
    def folder(self) -> Path:
        return Path(f"/proc/{self.pid}")

    def memory(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
        return int((self.folder / "statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def private_memory(self) -> float:
        """Resident memory that is no file's, in MB (10^6 bytes): what the process has made itself, whoever else has its
        libraries loaded."""
        return self._told("RssAnon:")

    def most_memory(self) -> float:
        """The most resident memory that its program has had, in MB (10^6 bytes); 0 for a process that has ended.

        What the system tells of an ended process counts what its parent had when it was started.
        """
        return self._told("VmHWM:")

    def _told(self, name: str) -> float:
        rows = (row.split() for row in (self.folder / "status").read_text("ascii", "replace").splitlines())
        return next((int(row[1]) for row in rows if row[0] == name), 0) * 1024 / 1e6

    def processor(self) -> float:
        """Seconds of processor time so far, with those of the children that it has waited for."""
        fields = (self.folder / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return sum(int(each) for each in fields[11:15]) / os.sysconf("SC_CLK_TCK")

    def handles(self) -> Mapping[str, int]:
        """The number of open file handles of each kind: `sockets`, `pipes`, `inotify`, `files`, `deleted files` …"""
        found = Counter[str]()
        for link in (self.folder / "fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                found[_kind(str(link.readlink()))] += 1
        return found

    def threads(self) -> Mapping[str, int]:
        """The number of threads of each name, without the numbers at the names' ends."""
        found = Counter[str]()
        for place in (self.folder / "task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                found[_NUMBERED.sub("", (place / "comm").read_text("utf-8", "replace").strip())] += 1
        return found

    def children(self) -> tuple[str, ...]:
        """The programs of its child processes, those of all its threads."""
        found = list[str]()
        for place in (self.folder / "task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in (place / "children").read_text("ascii").split():
                    found.append(Path(f"/proc/{child}/comm").read_text("utf-8", "replace").strip())
        return tuple(sorted(found))


def needs_proc() -> None:
    """Raise `UserError` where a process's memory and time cannot be read."""
    if not Path("/proc/self/statm").exists():
        raise UserError("this measurement reads /proc, which this system does not have", hint="run it on Linux")


def _kind(target: str) -> str:
    if target.endswith(" (deleted)"):
        return "deleted files"
    begin, kind = next((each for each in _KINDS if target.startswith(each[0])), ("", "files"))
    return kind or target.removeprefix(begin).strip("[]")
