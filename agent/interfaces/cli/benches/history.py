"""The times of commands that read the history, in fresh processes, and of writes while the history is packed."""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from agent.clock import SystemClock
from agent.interfaces.cli.benches.figures import Figure, Measure, as_installed, middle_and_tail, paired
from agent.interfaces.cli.benches.long_history import LongHistory, build
from agent.vault.change import Stamp
from agent.vault.folders import ENTRIES
from agent.vault.health.packing import LOOSE, pack
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault

LOG_MS, UNDO_MS = 300.0, 2_000.0
"""The limits at 100,000 commits for the medians: a busy machine makes outliers."""
_EACH_WRITE = 5
"""Loose objects that one write leaves, at least."""


def kept(commits: int, notes: int, say: Callable[[str], None]) -> tuple[Path, LongHistory]:
    """The folder of the generated vault in the temporary folder, made if it is missing, and what to ask about."""
    folder = Path(tempfile.gettempdir()) / f"vault-agent-bench-history-{commits}-{notes}"
    asked = folder / "asked.json"
    if not asked.is_file():
        say(f"writing {commits} commits to {folder}, which is kept")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        made = build(folder / "vault", commits, notes)
        asked.write_text(json.dumps(asdict(made)), "utf-8")
    found = json.loads(asked.read_text("utf-8"))
    runs = [(str(found[name][0]), str(found[name][1])) for name in ("recent", "middle", "old")]
    return folder, LongHistory(str(found["note"]), *runs)


def measure(commits: int, notes: int, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """All figures; the first command, which makes the record of the vault and the index, is measured by itself."""
    folder, asked = kept(commits, notes, say)
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "agent", "--vault", str(folder / "vault"), *arguments]
        subprocess.run(command, check=True, capture_output=True, env={**as_installed(), "VAULT_AGENT_HOME": str(home)})

    say("the first look at the history")
    found = [_first("status, first start", run, "status"), _first("log NOTE, without an index", run, "log", asked.note)]
    say("commands")
    undo = ("--dry-run", "--partial")
    logs = {
        "status": ("status",),
        "log": ("log",),
        "log NOTE": ("log", asked.note),
        "log --run, a recent one": ("log", "--run", asked.recent[0]),
        "log --run, an old one": ("log", "--run", asked.old[0]),
    }
    undos = {
        "undo --run, a recent one": ("undo", "--run", asked.recent[0], *undo),
        "undo --run, an old one": ("undo", "--run", asked.old[0], *undo),
        "undo COMMIT, a recent one": ("undo", asked.recent[1], *undo),
        "undo COMMIT, an old one": ("undo", asked.old[1], *undo),
    }
    tasks = [(name, _task(run, words)) for name, words in (logs | undos).items()]
    for figure in paired(rounds, tasks, warm=1):
        limit = LOG_MS if figure.name in logs else UNDO_MS
        found.append(Measure(f"{figure.name}, median of {len(figure.runs)}", figure.median, "ms", limit))
    say("writes, and writes while the history is packed")
    return found + _writes(folder / "vault", LOOSE // _EACH_WRITE)


def _first(name: str, run: Callable[..., None], *words: str) -> Measure:
    started = time.perf_counter()
    run(*words)
    return Measure(name, time.perf_counter() - started, "s")


def _task(run: Callable[..., None], words: tuple[str, ...]) -> Callable[[int], None]:
    return lambda _: run(*words)


def _writes(root: Path, count: int) -> list[Measure]:
    """The times of small changes in a copy of the vault: by themselves, and while a packing goes on."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        copied = Path(folder) / "vault"
        shutil.copytree(root, copied, symlinks=True)
        vault = open_vault(copied, Path(folder) / "state", SystemClock(), Options(durable=True))
        alone = [_write(vault, number) for number in range(count)]
        packing = threading.Thread(target=pack, args=(vault,))
        started = time.perf_counter()
        packing.start()
        beside = list[float]()
        while packing.is_alive() or len(beside) < 2:
            beside.append(_write(vault, count + len(beside)))
        taken = time.perf_counter() - started
    return [
        *middle_and_tail(Figure("one small change", tuple(alone)), None),
        *middle_and_tail(Figure("one small change while the history is packed", tuple(beside)), None),
        Measure("packing beside the writes", taken, "s"),
    ]


def _write(vault: Vault, number: int) -> float:
    started = time.perf_counter()
    with vault.transaction("bench(history): one small note", Stamp("agent", tool="bench")) as transaction:
        transaction.create(f"{ENTRIES}2026/11/bench-{number}.md", b"---\nid: b\n---\nA small note.\n")
    return (time.perf_counter() - started) * 1000
