"""One change under one failure, and what was said about it against what git and the disk hold afterwards."""

from collections import Counter
from pathlib import Path

from agent.clock import SystemClock
from agent.errors import AgentError
from agent.vault.change import Outcome, Stamp
from agent.vault.health.status import status
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from tests.trust import checks
from tests.trust.faults import Fault
from tests.vaults import git, head, make_vault, write

OPTIONS = Options(durable=False, lock_seconds=0.2, timeout_seconds=0.5)
BEFORE = {f"notes/{name}.md": f"# {name}\n\nold text\n" for name in ("edit", "append", "move", "delete", "mine")}
AFTER = {
    "notes/new.md": b"agent new\n",
    "notes/edit.md": b"# edit\n\nagent text\n",
    "notes/append.md": b"# append\n\nold text\nagent line\n",
    "elsewhere/moved.md": b"# move\n\nold text\n",
    "notes/move.md": None,
    "notes/delete.md": None,
}
DIRTY = "# mine\n\nnot committed yet\n"


def change(vault: Vault) -> Outcome:
    """One change of every kind, in one transaction."""
    with vault.transaction("agent(notes): all at once", Stamp("agent", "r1")) as transaction:
        transaction.create("notes/new.md", b"agent new\n")
        transaction.edit("notes/edit.md", BEFORE["notes/edit.md"].encode(), b"# edit\n\nagent text\n")
        transaction.append("notes/append.md", b"agent line\n")
        transaction.move("notes/move.md", "elsewhere/moved.md")
        transaction.delete("notes/delete.md")
    return transaction.outcome


def files(root: Path) -> dict[str, bytes]:
    """Every file of the vault with its bytes, temporary ones left out."""
    found = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in found if not p.name.startswith(".vault-agent-")}


def check(folder: Path, fault: Fault) -> str:
    """Returns what was said (`committed`, `queued` or `refused`); raises `AssertionError` where it was not true."""
    vault = make_vault(folder, BEFORE, options=OPTIONS)
    root, state = vault.place.root, folder / "state"
    write(root / "notes/mine.md", DIRTY)
    before, tip, shown = files(root), head(root), git(root, "status", "--porcelain", "--untracked-files=all")
    clock = SystemClock()
    outcome: Outcome | None = None
    said = ""
    with fault.there(root, state):
        try:
            faulty = fault.through(open_vault(root, state, clock, OPTIONS))
            outcome = change(faulty)
        except AgentError as error:
            assert len(error.message) > 10, error
            said = error.message
        held = files(root)
        _check_status(root, state, outcome, fault)
    fresh = open_vault(root, state, clock, OPTIONS)
    if outcome is None and "could not be taken back yet" in said:
        assert status(fresh).unfinished == 1, f"{fault.name}: half done, and status does not say so"
        assert fresh.settle() == 0
        held = files(root)
    if outcome is None:
        assert held == before, f"{fault.name}: refused, and yet {_differences(before, held)}"
        assert head(root) == tip, f"{fault.name}: refused, and yet HEAD has moved"
        assert git(root, "status", "--porcelain", "--untracked-files=all") == shown, (
            f"{fault.name}: refused, and yet staged"
        )
    _check_afterwards(root, fresh, outcome, fault)
    return "refused" if outcome is None else "queued" if outcome.queued else "committed"


def _check_afterwards(root: Path, fresh: Vault, outcome: Outcome | None, fault: Fault) -> None:
    """The next change goes through at once, takes with it what waited, and brings back nothing that was refused."""
    clock = fresh.clock
    began = clock.monotonic()
    with fresh.transaction("agent(notes): afterwards", Stamp("agent", "r2")) as transaction:
        transaction.create("notes/afterwards.md", b"agent afterwards\n")
    assert transaction.outcome.commit, f"{fault.name}: nothing can be written afterwards: {transaction.outcome}"
    assert clock.monotonic() - began < 5, f"{fault.name}: writable only after {clock.monotonic() - began:.1f} s"
    runs = Counter(commit.run for commit in checks.commits(root))
    assert runs["r2"] == 1
    assert runs["r1"] == (outcome is not None), f"{fault.name}: {runs['r1']} commits for {outcome}"
    if outcome is not None:
        _check_saved(root, fault)
    assert (root / "notes/mine.md").read_text() == DIRTY, f"{fault.name}: a person's text is not as it was"
    checks.check_sound(root)
    checks.check_attribution(root)
    dirty = git(root, "status", "--porcelain", "--untracked-files=all").split("\n")
    assert [line for line in dirty if line] == [" M notes/mine.md"], f"{fault.name}: {dirty}"


def _check_saved(root: Path, fault: Fault) -> None:
    names = [f"HEAD:{path}" for path in AFTER]
    for path, data in zip(AFTER, checks.blobs(root, names), strict=True):
        assert data == AFTER[path], f"{fault.name}: said to be saved, but HEAD has {data!r} for {path}"


def _check_status(root: Path, state: Path, outcome: Outcome | None, fault: Fault) -> None:
    """While the failure lasts: an answer that is true, or none."""
    try:
        told = status(open_vault(root, state, SystemClock(), OPTIONS))
    except AgentError:
        return
    assert "notes/mine.md" in {item.path for item in told.dirty}, f"{fault.name}: status calls a dirty note clean"
    if outcome is not None and outcome.queued:
        assert told.waiting == 1, f"{fault.name}: a queued change is not counted"


def _differences(before: dict[str, bytes], after: dict[str, bytes]) -> dict[str, tuple[bytes | None, bytes | None]]:
    paths = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    return {path: (before.get(path), after.get(path)) for path in sorted(paths)}
