"""A made-up vault with a machine of its own: settings, cache and state in a temporary folder, and a real daemon.

What is known of a running process is read from `/proc`, so those figures are for Linux alone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.app.alone import last_word
from agent.app.build import App, options
from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.errors import Permanent, UserError
from agent.index.keyword import Engine
from agent.interfaces.cli.benches.figures import as_installed
from agent.vault.store import open_vault

_READY_SECONDS = 600.0
_STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Site:
    """A vault, the environment in which commands serve it, and the same as an application in this process."""

    app: App
    environ: dict[str, str]

    @property
    def root(self) -> Path:
        return self.app.vault.place.root

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "agent", "--vault", str(self.root), *arguments]

    def run(self, *arguments: str) -> str:
        """One command in a fresh process; returns what it printed."""
        done = subprocess.run(self.command(*arguments), check=True, capture_output=True, env=self.environ)
        return done.stdout.decode()

    def wait_until(self, what: str, reached: Callable[[], bool], seconds: float, look: float = _LOOK_SECONDS) -> float:
        """Look every `look` seconds; returns how long it took, raises `Permanent` when it never came."""
        clock = self.app.clock
        started = clock.monotonic()
        while not reached():
            if clock.monotonic() - started > seconds:
                raise Permanent(f"gave up after {seconds:.0f} s waiting for {what}")
            clock.sleep(look)
        return clock.monotonic() - started


def site(root: Path, home: Path, engine: Engine) -> Site:
    """The vault at `root`, which exists, served from `home`."""
    environ = {**as_installed(), "VAULT_AGENT_HOME": str(home), "VAULT_AGENT_INDEX__KEYWORD": engine}
    loaded, places, clock = load_settings(root, environ=environ), directories(environ), SystemClock()
    vault = open_vault(root, places.state, clock, options(loaded.settings))
    return Site(App(vault, loaded.settings, loaded, clock, places), environ)


@contextmanager
def daemon(place: Site) -> Iterator["Process"]:
    """A real daemon that has looked at everything; it is ended by its process id."""
    command = place.command("daemon")
    running = subprocess.Popen(command, env=place.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        place.wait_until("the daemon to be ready", lambda: _is_ready(place.app, running), _READY_SECONDS)
        yield Process(running.pid)
    finally:
        running.terminate()
        try:
            running.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _is_ready(app: App, running: subprocess.Popen[bytes]) -> bool:
    if running.poll() is not None:
        raise Permanent(f"the daemon ended at its start, exit code {running.returncode}")
    said = last_word(app) or {}
    if said.get("problem"):
        raise Permanent(f"the daemon is in trouble: {json.dumps(said['problem'])}")
    return "files" in said and not said.get("waiting")


@dataclass(frozen=True, slots=True)
class Process:
    """A running process, as the system sees it."""

    pid: int

    def memory(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
        text = Path(f"/proc/{self.pid}/statm").read_text("ascii")
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def processor(self) -> float:
        """Seconds of processor time so far, with those of the children that it has waited for."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return sum(int(each) for each in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def needs_proc() -> None:
    """Raise `UserError` where a process's memory and time cannot be read."""
    if not Path("/proc/self/statm").exists():
        raise UserError("this measurement reads /proc, which this system does not have", hint="run it on Linux")
