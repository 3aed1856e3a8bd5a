"""Machines in network namespaces of their own, on one bridge with a server: each can be cut off alone.

Nothing is done to the network of this machine: the bridge is in a namespace, too.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

SERVER = "10.77.0.1"
REASON = "network namespaces need root and the program ip"


def can_be_made() -> bool:
    """True if this process may make namespaces."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    return subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode == 0


@dataclass(frozen=True)
class Network:
    """A server's namespace, with `SERVER` as its address, and so many machines around it."""

    name: str
    count: int

    def command(self, number: int | None, words: Sequence[str]) -> list[str]:
        """A command on a machine; None: on the server's."""
        return ["ip", "netns", "exec", self._namespace(number), *words]

    def cut(self, number: int) -> None:
        """Let nothing through to a machine, and nothing from it."""
        self._ip("-n", self._namespace(None), "link", "set", f"v{number}", "down")

    def mend(self, number: int) -> None:
        self._ip("-n", self._namespace(None), "link", "set", f"v{number}", "up")

    def make(self) -> None:
        """Create all namespaces, with their links."""
        center = self._namespace(None)
        self._ip("netns", "add", center)
        self._ip("-n", center, "link", "set", "lo", "up")
        self._ip("-n", center, "link", "add", "bridge", "type", "bridge")
        self._ip("-n", center, "addr", "add", f"{SERVER}/24", "dev", "bridge")
        self._ip("-n", center, "link", "set", "bridge", "up")
        for number in range(self.count):
            own = self._namespace(number)
            self._ip("netns", "add", own)
            self._ip("-n", own, "link", "add", "e", "type", "veth", "peer", "name", f"v{number}", "netns", center)
            self._ip("-n", center, "link", "set", f"v{number}", "master", "bridge", "up")
            self._ip("-n", own, "addr", "add", f"10.77.0.{number + 10}/24", "dev", "e")
            for link in ("lo", "e"):
                self._ip("-n", own, "link", "set", link, "up")

    def remove(self) -> None:
        for number in (None, *range(self.count)):
            subprocess.run(["ip", "netns", "del", self._namespace(number)], check=False, capture_output=True)

    def _namespace(self, number: int | None) -> str:
        return f"{self.name}-{'s' if number is None else number}"

    def _ip(self, *words: str) -> None:
        done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


@contextmanager
def network(count: int) -> Iterator[Network]:
    """Namespaces of so many machines, which are gone after the block."""
    made = Network(f"fleet{os.getpid()}", count)
    try:
        made.make()
        yield made
    finally:
        made.remove()
