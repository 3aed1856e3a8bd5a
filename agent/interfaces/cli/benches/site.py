"""A generated vault with its own settings, cache and state in a temporary folder, and a real daemon for it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.clock import SystemClock
from agent.config.directories import directories
from agent.config.load import load_settings
from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.index.keyword import Engine
from agent.interfaces.cli.benches.figures import as_installed
from agent.vault.store import open_vault
from agent.workspace.workspace import Workspace, load_daemon_state, options

_READY_SECONDS = 600.0
_STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Site:
    """A vault: opened in this process (`app`), and the environment for commands on it in other processes."""

    workspace: Workspace
    environ: dict[str, str]

    @property
    def root(self) -> Path:
        return self.workspace.vault.place.root

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "agent", "--vault", str(self.root), *arguments]

    def run(self, *arguments: str) -> None:
        """Run one command in a fresh process."""
        subprocess.run(self.command(*arguments), check=True, capture_output=True, env=self.environ)

    def wait_until(self, what: str, reached: Callable[[], bool], seconds: float, look: float = _LOOK_SECONDS) -> float:
        """Check every `look` seconds; returns the seconds it took, raises `Permanent` after `seconds`."""
        clock = self.workspace.clock
        started = clock.monotonic()
        while not reached():
            if clock.monotonic() - started > seconds:
                raise Permanent("gave up after {seconds:.0f} s waiting for {what}", seconds=seconds, what=what)
            clock.sleep(look)
        return clock.monotonic() - started


def site(root: Path, home: Path, engine: Engine) -> Site:
    """The existing vault at `root`, with its settings, cache and state in `home`."""
    environ = {**as_installed(), "VAULT_AGENT_HOME": str(home), "VAULT_AGENT_INDEX__KEYWORD": engine}
    loaded, places, clock = load_settings(root, environ=environ), directories(environ), SystemClock()
    vault = open_vault(root, places.state, clock, options(loaded.settings))
    return Site(Workspace(vault, loaded.settings, loaded, clock, places), environ)


@contextmanager
def daemon(place: Site) -> Iterator[int]:
    """Run a real daemon that has indexed everything; yields its process id, and ends that process."""
    command = place.command("daemon")
    running = subprocess.Popen(command, env=place.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        place.wait_until("the daemon to be ready", lambda: _is_ready(place.workspace, running), _READY_SECONDS)
        yield running.pid
    finally:
        running.terminate()
        try:
            running.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def _is_ready(workspace: Workspace, running: subprocess.Popen[bytes]) -> bool:
    if running.poll() is not None:
        raise Permanent("the daemon ended at its start, exit code {returncode}", returncode=running.returncode)
    said = load_daemon_state(workspace) or {}
    if said.get("problem"):
        raise Permanent("the daemon is in trouble: {problem}", problem=said["problem"])
    return "files" in said and not said.get("waiting")
