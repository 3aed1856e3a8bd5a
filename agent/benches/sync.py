"""The times of syncs with a remote on this disk, and of `git pull && git push` for the same changes."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from agent.benches.figures import Measure
from agent.benches.vaults import build, git
from agent.clock import SystemClock
from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.vault.folders import ENTRIES
from agent.vault.layout import SYNC_STATE
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from agent.vault.sync.joining import relate
from agent.vault.sync.round import RoundEnd, sync_once
from agent.vault.sync.state import StateFile, SyncedRemote
from agent.vault.sync.trees import merge_trees

NOTHING_SECONDS, ONE_SECONDS, RECEIVED_SECONDS, MERGE_SECONDS = 0.3, 1.0, 8.0, 3.0
MANY = 1_000
"""The notes that are received at once, or edited on both sides."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two clones of one remote. `sync` brings a clone and the remote to one state; `save` comes before, untimed."""

    first: Path
    second: Path
    sync: Callable[[Path], None]
    save: Callable[[Path], None]

    def edit(self, root: Path, count: int, number: int, *, at_end: bool) -> None:
        """Add a paragraph to the first notes, below the header or at the end."""
        line = f"Line {number} of {root.name}.\n"
        for path in sorted((root / ENTRIES).rglob("*.md"))[:count]:
            text = path.read_text("utf-8")
            header, fence, body = text.partition("\n---\n")
            path.write_text(f"{text}\n{line}" if at_end else f"{header}{fence}{line}\n{body}", "utf-8")
        self.save(root)

    def seconds(self, root: Path) -> float:
        """The time of one sync."""
        started = time.perf_counter()
        self.sync(root)
        return time.perf_counter() - started


def measure(folder: Path, notes: int, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """All figures; each of this program's is followed by that of git."""
    say(f"writing {notes} notes")
    build(folder / "vault", notes)
    ours, vault = _ours(folder / "ours", folder / "vault")
    pairs, many = (ours, _gits(folder / "git", folder / "vault")), min(MANY, notes)
    say("nothing to do, and one note")
    small = [[_small(pair, number) for pair in pairs] for number in range(rounds)]
    found = []
    limits = (("nothing to do", NOTHING_SECONDS), ("one note sent", ONE_SECONDS), ("one note received", ONE_SECONDS))
    for at, (name, limit) in enumerate(limits):
        found += _both(name, [median(each[of][at] for each in small) for of in range(len(pairs))], limit)
    say(f"{many} notes")
    for pair in pairs:
        pair.edit(pair.first, many, rounds, at_end=True)
        pair.sync(pair.first)
    found += _both(f"{many} notes received", [pair.seconds(pair.second) for pair in pairs], RECEIVED_SECONDS)
    for pair in pairs:
        pair.edit(pair.first, many, rounds + 1, at_end=True)
        pair.sync(pair.first)
        pair.edit(pair.second, many, rounds + 2, at_end=False)
    merged = f"{many} notes edited on both sides"
    found.append(Measure(f"{merged}, the merge alone", _merge(vault), "s", MERGE_SECONDS))
    return found + _both(merged, [pair.seconds(pair.second) for pair in pairs], None)


def _both(name: str, seconds: list[float], limit: float | None) -> list[Measure]:
    return [Measure(name, seconds[0], "s", limit), Measure(f"{name}, git pull && git push", seconds[1], "s")]


def _small(pair: _Pair, number: int) -> tuple[float, float, float]:
    """The seconds of a sync with nothing to do, of one that sends a note, and of one that receives it."""
    nothing = pair.seconds(pair.first)
    pair.edit(pair.first, 1, number, at_end=True)
    return nothing, pair.seconds(pair.first), pair.seconds(pair.second)


def _clones(folder: Path, vault: Path) -> tuple[Path, Path, Path]:
    """A bare remote with the notes of the vault, and two clones of it."""
    folder.mkdir()
    remote, first, second = folder / "remote.git", folder / "first", folder / "second"
    git(folder, "clone", "-q", "--bare", str(vault), str(remote))
    for root in (first, second):
        git(folder, "clone", "-q", str(remote), str(root))
        git(root, "config", "user.name", "Bench")
        git(root, "config", "user.email", "bench@localhost")
    return remote, first, second


def _ours(folder: Path, vault: Path) -> tuple[_Pair, Vault]:
    """Two clones with this program, and the second one's vault."""
    remote, first, second = _clones(folder, vault)
    vaults = {
        root: open_vault(root, folder / f"state of {root.name}", SystemClock(), Options(durable=True))
        for root in (first, second)
    }

    def sync(root: Path) -> None:
        vault = vaults[root]
        known = StateFile(vault.private_folder / SYNC_STATE).load().remotes.get("origin")
        report = sync_once(vault, known or SyncedRemote("origin", str(remote), "main"))
        if report.end is not RoundEnd.SYNCED:
            raise Permanent("a sync did not end, so no figure is worth anything: {reason}", reason=report.trouble)

    for root in vaults:
        sync(root)
    return _Pair(first, second, sync, lambda root: None), vaults[second]


def _gits(folder: Path, vault: Path) -> _Pair:
    """Two clones with git alone."""
    _, first, second = _clones(folder, vault)

    def save(root: Path) -> None:
        git(root, "commit", "-q", "-a", "-m", "notes")

    def sync(root: Path) -> None:
        git(root, "pull", "-q", "--no-rebase", "--no-edit")
        git(root, "push", "-q")

    return _Pair(first, second, sync, save)


def _merge(vault: Vault) -> float:
    """The seconds to merge what is here and what the remote has, without anything around it."""
    vault.commit_human()
    head = vault.head or ""
    git(vault.place.root, "fetch", "-q", "origin")
    command = ["git", "rev-parse", "origin/main"]
    theirs = subprocess.run(command, cwd=vault.place.root, check=True, capture_output=True, text=True).stdout.strip()
    base = relate(vault.git, head, theirs).base
    started = time.perf_counter()
    merge_trees(vault.git, base, head, theirs, vault.home, vault.clock.now())
    return time.perf_counter() - started
