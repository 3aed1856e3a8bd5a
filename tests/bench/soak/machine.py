"""A machine with a vault, its remote and a second clone, whose clock runs fast, and the daemon on it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from agent.background.leftovers import PAUSE
from agent.benches.speed import Site, site
from agent.benches.vaults import build_prose
from agent.clock import SetClock, SystemClock
from agent.config.directories import RATE, START
from agent.index.keyword import engine_for
from agent.workspace.workspace import load_daemon_state
from tests.bench.process import Process
from tests.remotes import git_as, make_remote
from tests.vaults import write

PROJECT = Path(__file__).parents[3]
REPLIES: tuple[object, ...] = (
    {"task": "keep a log", "calls": [{"tool": "vault_append", "arguments": {"path": "log.md", "text": "- a walk\n"}}]},
    {"task": "keep a log", "text": "It stands in [[log]] now."},
    {"task": "what is known", "calls": [{"tool": "search_vault", "arguments": {"query": "walk by the lake"}}]},
    {"task": "what is known", "calls": [{"tool": "vault_read", "arguments": {"path": "log.md"}}]},
    {"task": "what is known", "text": "You have walked by the lake. More is not in your notes."},
    {"task": "read all", "calls": [{"tool": "vault_list"}, {"tool": "memory_recall", "arguments": {"query": "lake"}}]},
    {"task": "read all", "text": "These are your notes."},
    {"task": "read what is missing", "calls": [{"tool": "vault_read", "arguments": {"path": "no/such.md"}}]},
    {"task": "read what is missing", "text": "There is no such note."},
)  # fmt: skip
"""What the model says to the requests that contain these words; else it has no more to say."""
LOG = "# Log\n\nFrom the laptop:\n\n## Walks\n\nBy the lake, most of them:\n\n"
"""The note that the laptop adds to in its middle and the agent at its end."""
_READY, _ENDING, _COMMAND = 300.0, 60.0, 300.0
_LOOK, _STILL = 0.05, 0.5


@dataclass(frozen=True)
class Machine:
    """A vault (`place`), the bare `remote` and the clone `laptop` in a folder; `clock` shows the person's time."""

    folder: Path
    place: Site
    clock: SetClock
    laptop: Path

    @property
    def root(self) -> Path:
        return self.place.root

    @property
    def log(self) -> Path:
        """What the daemon writes on standard error."""
        return self.folder / "daemon.log"

    @cached_property
    def environ(self) -> dict[str, str]:
        """The environment of the daemon, and of the commands that it answers itself."""
        return {**self.place.environ, START: self.clock.now().isoformat(), RATE: f"{self.clock.rate:g}"}

    def run(self, *words: str, is_answered_by_daemon: bool = False, said: str = "") -> subprocess.CompletedProcess[str]:
        """A command as a person types it, by the person's clock; with its exit code and output."""
        environ = dict(self.environ)
        if not is_answered_by_daemon:  # else it counts from the daemon's start
            environ[START] = self.clock.now().isoformat()
        return subprocess.run(
            self.place.command(*words), env=environ, capture_output=True, text=True, check=False, timeout=_COMMAND,
            input=said, cwd=self.root,
        )  # fmt: skip

    def status(self) -> Mapping[str, object]:
        """The document of `vault-agent status`."""
        done = self.run("--json", "status", is_answered_by_daemon=True)
        found = json.loads(done.stdout or "{}")
        return found if isinstance(found, dict) else {}

    def is_at_rest(self) -> bool:
        """True while the daemon has taken in all changes and no work goes on or waits."""
        said = load_daemon_state(self.place.workspace) or {}
        work = said.get("work")
        return isinstance(work, dict) and not (work["running"] or work["waiting"] or said.get("waiting"))

    def wait_for_rest(self, seconds: float, lives: Callable[[], bool] = lambda: True) -> bool:
        """Wait until it has been at rest for so long that it has given back what work leaves; False after so many
        seconds of the machine, or at its end."""
        still = max(_STILL, 1.5 * PAUSE / self.clock.rate)
        clock = self.place.workspace.clock
        end, since = clock.monotonic() + seconds, None
        while (now := clock.monotonic()) < end and lives():
            since = (since if since is not None else now) if self.is_at_rest() else None
            if since is not None and now - since >= still:
                return True
            clock.sleep(_LOOK)
        return False

    def git_of_laptop(self, *words: str) -> str:
        """git in the second clone, which its person uses under the same clock."""
        stamp = self.clock.now().isoformat(timespec="seconds")
        before = {name: os.environ.get(name) for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
        os.environ.update(dict.fromkeys(before, stamp))
        try:
            return git_as(self.laptop, "Bench", *words)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def make_machine(folder: Path, notes: int, rate: float) -> Machine:
    """A vault of so many notes with a remote and a second clone; its clock shows nine o'clock of a Monday."""
    paths = build_prose(folder / "vault", notes)
    for path in paths[:20]:
        with (folder / "vault" / path).open("a", encoding="utf-8") as file:
            file.write("\nA walk by the lake, and a kettle.\n")
    write(folder / "vault" / "log.md", LOG)
    git_as(folder / "vault", "Bench", "add", "-A")
    git_as(folder / "vault", "Bench", "commit", "-q", "-m", "a log")
    remote = folder / "remote.git"
    make_remote(remote)
    git_as(folder / "vault", "Bench", "remote", "add", "origin", str(remote))
    git_as(folder / "vault", "Bench", "push", "-q", "-u", "origin", "main")
    git_as(folder, "Bench", "clone", "-q", str(remote), str(folder / "laptop"))
    script = folder / "script.json"
    script.write_text(json.dumps({"replies": REPLIES}), "utf-8")
    place = site(folder / "vault", folder / "home", engine_for("auto"))
    environ = {name: value for name, value in place.environ.items() if name not in (START, RATE)}
    environ |= {"VAULT_AGENT_LLM__WIRE": "scripted", "VAULT_AGENT_LLM__SCRIPT": str(script)}
    place = replace(place, environ={**environ, "PYTHONPATH": str(PROJECT)})
    place.run("trust", "origin", "--only-me")
    return Machine(folder, place, SetClock.from_now(_next_monday(), rate), folder / "laptop")


def _next_monday() -> datetime:
    """Nine o'clock of the next Monday: nothing that the clock shows is before what has been made."""
    now = SystemClock().now()
    return (now + timedelta(days=7 - now.weekday())).replace(hour=9, minute=0, second=0, microsecond=0)


@contextmanager
def watched(machine: Machine) -> Iterator[Process]:
    """A daemon that has indexed everything; raises `RuntimeError` if it does not start, or does not end when asked."""
    words = machine.place.command("daemon")
    named = [sys.executable, "-m", "tests.bench.soak.named_daemon", *words[words.index("agent") + 1 :]]
    with machine.log.open("wb") as log:
        running = subprocess.Popen(named, env=machine.environ, stdout=subprocess.DEVNULL, stderr=log, cwd=PROJECT)
    try:
        if not machine.wait_for_rest(_READY, lambda: running.poll() is None):
            raise RuntimeError(f"the daemon is not ready: {machine.log.read_text('utf-8', 'replace')[-2000:]}")
        yield Process(running.pid)
        running.terminate()
        code = running.wait(_ENDING)
        if code:
            raise RuntimeError(f"the daemon ended with {code}")
    finally:
        if running.poll() is None:
            running.kill()
            running.wait()
