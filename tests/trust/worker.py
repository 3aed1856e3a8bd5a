"""A process that changes a vault until it is killed: creates, appends, edits, moves, deletes, several notes at once.

Beside them it keeps a record, which is committed later.

Its arguments are `ROOT STATE LEDGER SEED START COUNT [BUG]`. It plays a person too, who saves notes by hand between the
mutations.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from random import Random

from agent.clock import SystemClock
from agent.vault.change import Append, Create, Delete, Edit, Move, Request, Stamp
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault
from agent.vault.transaction import Transaction
from tests.trust.ledger import Ledger
from tests.trust.plants import plant

RECORD = "log/record.md"


@dataclass(slots=True)
class Draft:
    """One mutation: what to ask for, and what the files must be afterwards."""

    requests: list[Request]
    files: dict[str, str | None]


def draft(vault: Vault, rng: Random, run: str) -> Draft:
    """A mutation of a random kind, worked out against the notes as they are now."""
    root = vault.place.root
    notes = sorted(path.relative_to(root).as_posix() for path in (root / "notes").rglob("*.md"))
    kinds = ["create", "append", "edit", "several"] + (["move", "delete"] if len(notes) > 4 else [])
    return _draft(root, rng, run, rng.choice(kinds if notes else ["create"]), notes)


def _draft(root: Path, rng: Random, run: str, kind: str, notes: list[str]) -> Draft:
    path = rng.choice(notes) if notes else ""
    text = (root / path).read_text() if path else ""
    match kind:
        case "create":
            new, body = f"notes/{rng.choice('abc')}/{run}.md", f"# {run}\n\nagent {run} first\n"
            return Draft([Create(new, body.encode())], {new: body})
        case "append":
            line = f"agent {run} appended\n"
            return Draft([Append(path, line.encode())], {path: text + line})
        case "edit":
            lines = text.splitlines(keepends=True)
            lines.insert(rng.randrange(1, len(lines) + 1), f"agent {run} edited\n")
            return Draft([Edit(path, text.encode(), "".join(lines).encode())], {path: "".join(lines)})
        case "move":
            new = f"notes/moved/{run}.md"
            return Draft([Move(path, new)], {path: None, new: text})
        case "delete":
            return Draft([Delete(path, text.encode())], {path: None})
    parts = [_draft(root, rng, f"{run}-{n}", "create", notes) for n in range(3)]
    parts.append(_draft(root, rng, run, rng.choice(["append", "edit"]), notes))
    return Draft(
        [request for part in parts for request in part.requests],
        {name: body for part in parts for name, body in part.files.items()},
    )


def ask(transaction: Transaction, request: Request) -> None:
    """Put a request into a transaction through its public methods."""
    match request:
        case Create(path, data):
            transaction.create(path, data)
        case Append(path, text):
            transaction.append(path, text)
        case Edit(path, base, data):
            transaction.edit(path, base, data)
        case Move(path, to):
            transaction.move(path, to)
        case Delete(path, base):
            transaction.delete(path, base)


def mutate(vault: Vault, ledger: Ledger, rng: Random, run: str) -> None:
    """One mutation, with a line in the ledger before and after."""
    wanted = draft(vault, rng, run)
    ledger.add("intent", run, wanted.files)
    with vault.transaction(f"agent(notes): {run}", Stamp("agent", run)) as transaction:
        if rng.random() < 0.3:
            transaction.release(RECORD)
        for request in wanted.requests:
            ask(transaction, request)
    assert transaction.outcome.commit, f"{run}: {transaction.outcome}"
    ledger.add("acked", run, commit=transaction.outcome.commit)


def record(vault: Vault, ledger: Ledger, run: str) -> None:
    """Add a line to a record that is committed later, with the same lines in the ledger but no commit."""
    path = vault.place.root / RECORD
    text = (path.read_text() if path.exists() else "") + f"agent {run} recorded\n"
    ledger.add("holding", run, {RECORD: text})
    with vault.transaction(f"agent(record): {run}", Stamp("agent", session=RECORD), hold=True) as transaction:
        transaction.append(RECORD, f"agent {run} recorded\n".encode())
    ledger.add("held", run, {RECORD: text})


def save_by_hand(root: Path, ledger: Ledger, rng: Random, run: str) -> None:
    """A person adds a line to a note, or writes a new one, with an editor that replaces the file."""
    notes = sorted([*(root / "notes").rglob("*.md"), *(root / "log").rglob("*.md")])
    path = rng.choice(notes) if notes and rng.random() < 0.7 else root / "mine" / f"{run}.md"
    text = (path.read_text() if path.exists() else "# By hand\n") + f"human {run}\n"
    path.parent.mkdir(exist_ok=True)
    name = path.relative_to(root).as_posix()
    ledger.add("saving", run, {name: text})
    aside = ledger.path.with_name("editor.tmp")
    aside.write_text(text)
    aside.replace(path)
    ledger.add("saved", run, {name: text})


def main(arguments: list[str]) -> None:
    """Work through mutations START to START + COUNT."""
    root, state, ledger = Path(arguments[0]), Path(arguments[1]), Ledger(Path(arguments[2]))
    seed, start, count = arguments[3], int(arguments[4]), int(arguments[5])
    if len(arguments) > 6:
        plant(arguments[6], setattr)
    vault = open_vault(root, state, SystemClock(), Options())
    for number in range(start, start + count):
        rng = Random(f"{seed}-{number}")
        if rng.random() < 0.25:
            save_by_hand(root, ledger, rng, f"h{number:05d}")
        if rng.random() < 0.15:
            vault.commit_human()
            ledger.add("swept", f"h{number:05d}")
        while rng.random() < 0.4:
            record(vault, ledger, f"r{number:05d}")
        mutate(vault, ledger, rng, f"m{number:05d}")
    os.write(1, b"finished\n")
