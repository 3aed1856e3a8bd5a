"""A process that syncs a vault and is killed while it does.

Run as `python -m tests.trust.syncer`. It reads one JSON object a line and answers with the end of a child process that
has made one round. `at`: the child kills itself before that many steps (files opened for writing, renamed or removed,
programs started); None: never. `within`: steps count from the first file of the vault on that is written. `family`: its
git processes die with it.
"""

import json
import os
import signal
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.git.network import Network
from agent.vault.options import Options
from agent.vault.store import open_vault
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import SyncRound
from agent.vault.worktree.paths import TEMPORARY
from tests.fakes import FakeClock
from tests.trust.clones import known

_STEPS = frozenset(("os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.utime", "subprocess.Popen"))
_FUNCTIONS = frozenset(("ctypes.call_function",))


@dataclass(slots=True)
class Fuse:
    """Counts the steps of this process, and ends it at one of them."""

    at: int
    within: bool
    family: bool
    steps: int = 0

    def step(self, event: str, args: tuple[Any, ...]) -> None:
        """Called by Python before each step."""
        if event == "open":
            mode, flags = args[1], args[2]
            writes = "w" in mode or "a" in mode or "x" in mode if mode else bool(flags & (os.O_WRONLY | os.O_RDWR))
            if not writes:
                return
        elif event not in _STEPS and event not in _FUNCTIONS:
            return
        if self.within:
            if event != "open" or TEMPORARY not in os.fsdecode(args[0] if not isinstance(args[0], int) else ""):
                return
            self.within = False
        self.steps += 1
        if self.steps == self.at:
            self.end()

    def end(self) -> None:
        """Die as by a power cut."""
        if self.family:
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def sync(order: dict[str, Any]) -> int:
    """Make one round; 0 if it came to an end of any kind."""
    clock = FakeClock(datetime.fromisoformat(order["now"]), ids=order["ids"])
    vault = open_vault(Path(order["root"]), Path(order["state"]), clock, Options(durable=False))
    remote = known(vault, Path(order["remote"]))
    fuse = Fuse(order["at"] or 0, order["within"], order["family"])
    sys.addaudithook(fuse.step)
    SyncRound(vault, Network(vault.git), remote, RemotePermission()).run()
    return 0


def main() -> None:
    """Answer each line with the child's exit status: negative for the signal that ended it."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                code = sync(json.loads(line))
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()
