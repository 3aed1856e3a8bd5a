"""The plan of the daily upkeep in a vault with many entries: the first one, and the next after one new day.

Processor time counts, with that of git's processes: a machine that does other work has other seconds.
"""

import random
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.benches.figures import Measure
from agent.benches.vaults import WORDS, git
from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.memory.entry import Entry, EntryType
from agent.memory.upkeep.lifecycle import plan
from agent.vault.change import Stamp
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from tests.bench.writes import processor

SECONDS = 1.0
"""At 10,000 entries, after one new day."""
_DAYS = 400
_OF_ONE_DAY = 25
_KINDS = (*[EntryType.FACT] * 5, *[EntryType.USER_EXPLICIT] * 3, EntryType.CHAT_TURN, EntryType.AUTO_CAPTURE)
_LIVES = {EntryType.CHAT_TURN: 25, EntryType.AUTO_CAPTURE: 80}
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_END = datetime(2026, 11, 25, 20, tzinfo=UTC)


def measure(folder: Path, entries: int, say: Callable[[str], None]) -> list[Measure]:
    """Seconds of processor time of the first plan, and of that after one new day."""
    say(f"writing {entries} entries")
    chance = random.Random(7)
    build(folder / "vault", entries, chance)
    vault = open_vault(folder / "vault", folder / "state", SystemClock(), Options(durable=False))
    say("plans")
    found = [_plan(vault, folder, "the first plan, of all", None)]
    _plan(vault, folder, "one more, as what was written just now is read again", None)
    with vault.transaction("bench(memory): a new day", Stamp("agent", tool="capture")) as change:
        for _ in range(_OF_ONE_DAY):
            made = _entry(chance, _END + timedelta(hours=chance.random() * 10))
            change.create(made.path, made.note())
    return [*found, _plan(vault, folder, "the plan after one new day", SECONDS)]


def build(root: Path, entries: int, chance: random.Random) -> None:
    """A committed vault with entries of 400 days, written by one git process."""
    root.mkdir(parents=True)
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@localhost"],
        ["config", "core.logAllRefUpdates", "false"],
    ):
        git(root, *command)
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE) as importing:
        assert importing.stdin is not None
        for piece in _stream(entries, chance):
            importing.stdin.write(piece)
    git(root, "config", "--unset", "core.logAllRefUpdates")
    git(root, "reset", "-q", "--hard")


def _stream(entries: int, chance: random.Random) -> Iterator[bytes]:
    yield b"commit refs/heads/main\ncommitter Bench <bench@localhost> 1764000000 +0000\ndata 5\nnotes\n"
    yield _file("vault-agent.yaml", b"vault:\n  language: en\n")
    for _ in range(entries):
        made = _entry(chance, None)
        yield _file(made.path, made.note())


def _file(path: str, data: bytes) -> bytes:
    return f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def _entry(chance: random.Random, when: datetime | None) -> Entry:
    kind, identity = chance.choice(_KINDS), "01" + "".join(chance.choices(_DIGITS, k=24))
    made = when or _END - timedelta(days=chance.random() * _LIVES.get(kind, _DAYS))
    text = f"My {' '.join(chance.choices(WORDS, k=chance.randint(6, 14)))} {chance.randrange(10**6)}."
    words = f"User: {text}\nAssistant: Noted." if kind is EntryType.CHAT_TURN else text
    session = f"sessions/{made:%Y/%m}/{made:%Y-%m-%d}-talk-{identity[-6:].lower()}"
    return Entry(identity, made, words, kind, session_id=f"{session}.md", evidence=(f"[[{session}]]",))


def _plan(vault: Vault, folder: Path, name: str, limit: float | None) -> Measure:
    settings = load_settings(environ={"VAULT_AGENT_HOME": str(folder / "home")}).settings.memory
    before = processor()
    plan(vault, settings, "en", _END + timedelta(hours=11))
    return Measure(f"upkeep: {name}, processor time", (processor() - before) / 1000, "s", limit)
