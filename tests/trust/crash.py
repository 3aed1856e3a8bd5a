"""`kill -9` at random moments of a run, then one more write, then the ledger against git and the disk."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from agent.clock import SystemClock
from agent.vault.change import Stamp
from agent.vault.options import Options
from agent.vault.store import open_vault
from tests.trust import checks
from tests.trust.forks import Fork, Forks, forking
from tests.trust.ledger import Ledger
from tests.vaults import git, make_vault

RUN = 50
CLOCK = SystemClock()


@dataclass(slots=True)
class Crashes:
    """What a series of kills came to; `cut` counts those that came in the middle of a mutation, seconds the slowest."""

    kills: int = 0
    cut: int = 0
    finished_later: int = 0
    slowest: float = 0.0
    runs: int = 0


def crash(folder: Path, kills: int, seed: str, bug: str = "") -> Crashes:
    """Kill a worker `kills` times, several times in each run of 50 mutations; raises `AssertionError` on any loss."""
    total = Crashes()
    rng = Random(seed)
    with forking("tests.trust.worker") as forks:
        while total.kills < kills:
            total.runs += 1
            home = folder / f"run-{total.runs}"
            vault = make_vault(home, {f"notes/a/{n}.md": f"# {n}\n\nold text\n" for n in range(3)}, options=Options())
            if total.runs % 2:  # as earlier versions did in very large vaults
                git(vault.place.root, "update-index", "--split-index")
            ledger = Ledger(home / "ledger.jsonl")
            number = 0
            while number < RUN and total.kills < kills:
                number = _kill_once(forks, vault.place.root, home / "state", ledger, rng, number, total, bug)
    return total


def _kill_once(
    forks: Forks, root: Path, state: Path, ledger: Ledger, rng: Random, start: int, total: Crashes, bug: str
) -> int:
    before = len(ledger.lines())
    arguments = [str(root), str(state), str(ledger.path), f"{total.runs}", str(start), str(RUN - start), bug]
    complaints = root.parent / "worker.err"
    complaints.write_bytes(b"")
    worker = forks.start(*filter(None, arguments), errors=complaints)
    try:
        _wait_for_the_moment(ledger, before, rng, worker)
    finally:
        whole_group = rng.random() < 2 / 3  # else the git commands that it has started live on
        with suppress(ProcessLookupError):  # its run was over first
            (os.killpg if whole_group else os.kill)(worker.pid, signal.SIGKILL)
        worker.wait(60)
    assert "Traceback" not in complaints.read_text(), complaints.read_text()
    lines = ledger.lines()
    _settle_by_hand(root, ledger)
    ledger.add("killed", f"kill {total.kills}")
    total.kills += 1
    cut = lines[-1].id if lines and lines[-1].kind == "intent" else ""
    total.cut += bool(cut)

    began = CLOCK.monotonic()
    _write_one(root, state, ledger, f"after-kill-{total.kills}")
    took = CLOCK.monotonic() - began
    total.slowest = max(total.slowest, took)
    assert took <= 5.0, f"writable again only after {took:.1f} s"

    total.finished_later += bool(cut) and any(commit.run == cut for commit in checks.commits(root))
    check(root, ledger)
    begun = [int(line.id[1:]) for line in lines if line.kind == "intent" and line.id.startswith("m")]
    return max(begun, default=start - 1) + 1


def _write_one(root: Path, state: Path, ledger: Ledger, run: str) -> None:
    """One new note by a fresh vault object: no other step brings the vault back to order."""
    path, text = f"notes/after/{run}.md", f"# {run}\n\nagent {run}\n"
    ledger.add("intent", run, {path: text})
    with open_vault(root, state, CLOCK, Options()).transaction(f"agent(notes): {run}", Stamp("agent", run)) as change:
        change.create(path, text.encode())
    assert change.outcome.commit, f"not writable again: {change.outcome}"
    ledger.add("acked", run, commit=change.outcome.commit)


def check(root: Path, ledger: Ledger) -> None:
    """All that must hold after a crash and one more write."""
    lines = ledger.lines()
    checks.check_sound(root)
    checks.check_history(root, lines)
    checks.check_tree(root, lines)
    checks.check_attribution(root)


def _wait_for_the_moment(ledger: Ledger, before: int, rng: Random, worker: Fork) -> None:
    """Return at a random moment: around the n-th step of the worker, or somewhere in it."""
    steps = rng.randint(1, 14)
    delay = rng.choice([0.0, rng.uniform(0, 0.004), rng.uniform(0, 0.03), rng.uniform(0, 0.06)])
    deadline = CLOCK.monotonic() + 60
    while len(ledger.lines()) - before < steps and worker.poll() is None:
        assert CLOCK.monotonic() < deadline, "the worker does not get on"
        CLOCK.sleep(0.0005)
    CLOCK.sleep(delay)


def _settle_by_hand(root: Path, ledger: Ledger) -> None:
    """A person's save, or a line of the record, that was cut off reached the disk or did not: the disk says which."""
    lines = ledger.lines()
    done = {"saving": "saved", "holding": "held"}.get(lines[-1].kind) if lines else None
    for name, text in lines[-1].files.items() if done else ():
        if (root / name).exists() and (root / name).read_text() == text:
            ledger.add(done or "", lines[-1].id, lines[-1].files)
