"""The channels of this machine: the daily note of a real vault, and a real terminal (a pty)."""

import os
import re
import select
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.attention.channels.channel import Channel
from agent.attention.channels.daily_note import DailyNote
from agent.attention.channels.terminal import Terminal
from agent.memory import daily
from agent.vault.store import Vault
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Fault
from tests.fakes import FakeClock
from tests.vaults import make_vault


@dataclass
class LocalRig:
    """A channel without a service: no key, and none of the faults of a network."""

    channel: Channel
    limit: int = 0
    secrets: tuple[str, ...] = ()
    asks_to_wait: bool = False
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = frozenset()

    def shown(self) -> Sequence[Shown]:
        raise NotImplementedError

    def misbehave(self, *faults: Fault) -> None:
        raise AssertionError("it has no faults")

    def change_key(self) -> None:
        raise AssertionError("it has no key")

    def calls(self) -> int:
        return len(self.shown())

    def sent_on(self) -> int:
        return 0


@dataclass
class DailyRig(LocalRig):
    vault: Vault | None = None

    def shown(self) -> Sequence[Shown]:
        assert self.vault is not None
        note = (self.vault.read("daily/2026-11-21.md") or b"").decode()
        blocks = re.split(r"(?m)^### \d\d:\d\d - ", note)[1:]
        return [Shown(re.sub(r"\n  %% .*", "", block), (), block.split("%%")[1]) for block in blocks]


@contextmanager
def daily_rig() -> Iterator[Rig]:
    with tempfile.TemporaryDirectory() as folder:
        vault, clock = make_vault(Path(folder) / "vault"), FakeClock()
        yield DailyRig(DailyNote(vault, clock.now, daily, "en"), 5_000, vault=vault)


@dataclass
class TerminalRig(LocalRig):
    master: int = -1
    written: bytes = b""

    def shown(self) -> Sequence[Shown]:
        while select.select([self.master], [], [], 0.05)[0]:
            self.written += os.read(self.master, 65536)
        text = self.written.decode().replace("\r\n", "\n")
        return [Shown(each) for each in re.split(r"(?m)^\d\d:\d\d ", text)[1:]]


@contextmanager
def terminal_rig() -> Iterator[Rig]:
    master, slave = os.openpty()
    try:
        yield TerminalRig(Terminal(Path(os.ttyname(slave)), FakeClock().now, "en"), 3_000, master=master)
    finally:
        os.close(slave)
        os.close(master)
