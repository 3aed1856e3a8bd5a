"""A hundred changes of ours while other programs use the same repository, and what must be true of it afterwards."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import AgentError
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.trust import checks
from tests.trust.ledger import Ledger
from tests.trust.neighbour import at_work
from tests.vaults import git, make_vault

FEW = 5
"""Up to so many commits of theirs show nothing: a neighbour may hardly get to work on a busy machine."""
_ROUNDS = 10


@dataclass(slots=True)
class Company:
    """How it went: all of ours, those that were committed at once, queued, refused, and why; theirs that were committed
    meanwhile."""

    made: int = 0
    committed: int = 0
    queued: int = 0
    refused: int = 0
    theirs: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def beside(folder: Path, changes: int, *roles: str) -> Company:
    """Make `changes` while the neighbours are at work, and again as many until these have shown that they are; raises
    `AssertionError` where one was lost or is not ours."""
    vault = make_vault(folder, {"notes/shared.md": "# Shared\n"})
    root, ledger, total = vault.place.root, Ledger(folder / "ledger.jsonl"), Company()
    with at_work(root, ledger, *roles):
        while not total.made or (_theirs(root) <= FEW and total.made < _ROUNDS * changes):
            for _ in range(changes):
                change(vault, ledger, f"m{total.made:04d}", total)
    _next_turn(root)
    vault.settle()
    vault.commit_human()
    total.theirs = _theirs(root)
    check(root, ledger)
    return total


def _theirs(root: Path) -> int:
    return sum(1 for commit in checks.commits(root) if not commit.actor)


def _next_turn(root: Path) -> None:
    """What the auto-committer staged in its last turns and could not commit for a lock, it commits in its next one."""
    staged = git(root, "diff", "--cached", "--name-only").split()
    if staged and all(path.startswith("auto/") for path in staged):
        git(root, "commit", "-q", "-m", "auto: what was left staged")


def change(vault: Vault, ledger: Ledger, run: str, total: Company) -> None:
    """A new note and a line at the end of the shared one."""
    total.made += 1
    ledger.add("intent", run)
    try:
        with vault.transaction(f"agent(notes): {run}", Stamp("agent", run)) as transaction:
            transaction.create(f"notes/{run}.md", f"agent {run}\n".encode())
            transaction.append("notes/shared.md", f"agent {run}\n".encode())
    except AgentError as error:
        total.refused += 1
        total.reasons[error.message] += 1
        ledger.add("refused", run)
        return
    total.committed += transaction.outcome.commit is not None
    total.queued += transaction.outcome.queued is not None
    ledger.add("acked", run, commit=transaction.outcome.commit or "")


def check(root: Path, ledger: Ledger) -> None:
    """Ours are each in exactly one commit of ours, theirs are all still there, and nothing is left behind."""
    lines = ledger.lines()
    made = checks.commits(root)
    acked = [line.id for line in lines if line.kind == "acked"]
    runs = Counter(commit.run for commit in made if commit.run)
    wrong = [run for run in acked if runs[run] != 1]
    assert not wrong, f"not in exactly one commit: {wrong[:5]}"
    assert all(commit.author == checks.AGENT for commit in made if commit.run), "ours in another's name"
    shared = (root / "notes" / "shared.md").read_text()
    for run in acked:
        assert (root / f"notes/{run}.md").read_text() == f"agent {run}\n", f"{run} is not there"
        assert shared.count(f"agent {run}\n") == 1, f"{run} is {shared.count(run)} times in the shared note"
    there = {commit.id for commit in made}
    lost = [line.id for line in lines if line.kind == "plumbed" and line.id not in there]
    assert not lost, f"{len(lost)} commits of the neighbour are gone from the branch"
    checks.check_sound(root)
    assert not git(root, "status", "--porcelain").strip(), f"not clean: {git(root, 'status', '--porcelain')}"
