"""The daemon as a process of its own, and the commands beside it, as a person would start them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.workspace.workspace import load_daemon_state

PATIENCE = 120.0


def environment(home: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """This machine's environment with settings and state of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VAULT_AGENT_")}
    return {**kept, "VAULT_AGENT_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2]), **settings}


def spawn(root: Path, env: Mapping[str, str], *options: str) -> subprocess.Popen[bytes]:
    """Start a daemon on this vault."""
    command = [sys.executable, "-m", "agent", "daemon", str(root), *options]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run(root: Path, env: Mapping[str, str], *words: str, code: int = 0) -> dict[str, Any]:
    """Run a command on this vault; returns its document."""
    command = [sys.executable, "-m", "agent", "--vault", str(root), "--json", *words]
    done = subprocess.run(command, env=env, capture_output=True, check=False, text=True)
    assert done.returncode == code, f"{words}: {done.returncode} {done.stdout} {done.stderr}"
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def wait_for(daemon: subprocess.Popen[bytes], holds: Any, what: str, seconds: float = PATIENCE) -> None:
    """Wait until something is so while the daemon lives."""
    clock = SystemClock()
    deadline = clock.monotonic() + seconds
    while not holds():
        assert daemon.poll() is None, f"the daemon has ended: {daemon.communicate()[0]!r}"
        assert clock.monotonic() < deadline, f"after {seconds:g} s it is not so that {what}"
        clock.sleep(0.05)


def is_watching(root: Path, daemon: subprocess.Popen[bytes]) -> bool:
    """Whether this very daemon has started and waits for nothing; call it with the daemon's settings in force."""
    if not (root / "vault-agent.yaml").is_file():
        return False
    said = load_daemon_state(open_workspace(root))
    return bool(said) and said is not None and said["pid"] == daemon.pid and said.get("waiting") == 0


def end(daemon: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Ask it to stop; its exit code, and the seconds that it took."""
    clock = SystemClock()
    began = clock.monotonic()
    daemon.send_signal(signal.SIGTERM)
    daemon.communicate(timeout=PATIENCE)
    return daemon.returncode, clock.monotonic() - began


@contextmanager
def watching(root: Path, env: Mapping[str, str], *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon that watches; killed at the end of the block, if it still lives."""
    daemon = spawn(root, env, *options)
    try:
        wait_for(daemon, lambda: is_watching(root, daemon), "the daemon watches")
        yield daemon
    finally:
        kill(daemon)


def kill(daemon: subprocess.Popen[bytes]) -> None:
    """Kill it at once, and wait until it is gone."""
    if daemon.poll() is None:
        daemon.kill()
        daemon.communicate()
