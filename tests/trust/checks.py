"""What git and the disk really hold, compared with the ledger; each check raises `AssertionError`.

Only git's own commands and plain reads are used, nothing of the product. The same checks serve the real runs and the
planted bugs.
"""

import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.trust.ledger import Line
from tests.vaults import git

AGENT = "vault-agent"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the branch; `run` is the trailer that names the mutation."""

    id: str
    author: str
    actor: str
    run: str


def commits(root: Path) -> list[Commit]:
    """Every commit that HEAD reaches, newest first."""
    trailers = (
        "%(trailers:key=Vault-Actor,valueonly,separator=%x2C)%x1f%(trailers:key=Vault-Run,valueonly,separator=%x2C)"
    )
    out = git(root, "log", f"--format=%H%x1f%an%x1f{trailers}%x1e", "HEAD")
    return [Commit(*(part.strip() for part in record.split("\x1f"))) for record in out.split("\x1e") if record.strip()]


def blobs(root: Path, names: Sequence[str]) -> list[bytes | None]:
    """The bytes of each `REVISION:PATH`, None where there is none."""
    asked = "".join(f"{name}\n" for name in names).encode()
    out = subprocess.run(["git", "cat-file", "--batch"], cwd=root, input=asked, capture_output=True, check=True).stdout
    found: list[bytes | None] = []
    position = 0
    for _ in names:
        end = out.index(b"\n", position)
        head = out[position:end].split(b" ")
        position = end + 1
        if head[-1] == b"missing":
            found.append(None)
            continue
        size = int(head[2])
        found.append(out[position : position + size])
        position += size + 1
    return found


@dataclass(slots=True)
class Expected:
    """What the ledger says there must be: files by text, which of them a person changed last, and the agent's runs."""

    files: dict[str, str | None] = field(default_factory=dict)
    by_hand: set[str] = field(default_factory=set)
    acked: dict[str, Line] = field(default_factory=dict)
    undecided: dict[str, Line] = field(default_factory=dict)


def expected(lines: Iterable[Line], present: set[str]) -> Expected:
    """Replay the ledger; `present` are the runs found in history, which decide what became of mutations cut off."""
    state = Expected()
    pending: dict[str, Line] = {}
    for line in lines:
        if line.kind == "intent":
            pending[line.id] = line
        elif line.kind == "acked":
            state.acked[line.id] = pending.pop(line.id)
            _apply(state, state.acked[line.id])
        elif line.kind == "refused":
            pending.pop(line.id)
        elif line.kind == "held":
            _apply(state, line)
        elif line.kind == "saved":
            state.files.update(line.files)
            state.by_hand.update(line.files)
        elif line.kind == "swept":
            state.by_hand.clear()
        elif line.kind == "killed":
            _cut_off(state, pending, present)
    return state


def _cut_off(state: Expected, pending: dict[str, Line], present: set[str]) -> None:
    for cut in pending.values():
        state.undecided[cut.id] = cut
        if cut.id in present:
            _apply(state, cut)
    pending.clear()


def _apply(state: Expected, line: Line) -> None:
    state.files.update(line.files)
    state.by_hand.difference_update(line.files)


def check_history(root: Path, lines: Sequence[Line]) -> None:
    """Every acknowledged mutation is exactly one commit of the agent's; one cut off is wholly there or not at all."""
    made = commits(root)
    runs = Counter(commit.run for commit in made if commit.run)
    by_run = {commit.run: commit for commit in made if commit.run}
    state = expected(lines, set(by_run))
    for line in state.acked.values():
        assert runs[line.id] == 1, f"acknowledged {line.id} is in {runs[line.id]} commits"
    known = {**state.acked, **state.undecided}
    for run, count in runs.items():
        assert run in known, f"a commit claims {run}, which nobody asked for"
        assert count == 1, f"{run} was committed {count} times"
        assert by_run[run].author == AGENT, f"{run} is in the name of {by_run[run].author}"
    asked = [(run, path, text) for run in by_run for path, text in known[run].files.items()]
    for (run, path, text), found in zip(asked, blobs(root, [f"{by_run[r].id}:{p}" for r, p, _ in asked]), strict=True):
        assert _text(found) == text, f"{run}: {path} in its commit is {found!r}, not {text!r}"


def check_tree(root: Path, lines: Sequence[Line]) -> None:
    """The files and HEAD are what the ledger says, byte for byte; only what a person saved may differ from HEAD."""
    state = expected(lines, {commit.run for commit in commits(root)})
    for path, text in state.files.items():
        file = root / path
        found = file.read_bytes() if file.exists() else None
        assert _text(found) == text, f"{path} on disk is {found!r}, not {text!r}"
    committed = [path for path in state.files if path not in state.by_hand]
    for path, found in zip(committed, blobs(root, [f"HEAD:{path}" for path in committed]), strict=True):
        assert _text(found) == state.files[path], f"{path} in HEAD is {found!r}, not {state.files[path]!r}"
    dirty = git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames").split("\0")
    ours = [line for line in dirty if line and (line[3:] not in state.by_hand or line[0] not in " ?")]
    assert not ours, f"not clean: {ours}"


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def check_attribution(root: Path) -> None:
    """No commit in a person's name adds or removes a line that the agent wrote (they begin with `agent `)."""
    out = git(root, "log", "-p", "--format=", "--no-renames", "-U0", "--author=Anna", "HEAD")
    wrong = [line for line in out.splitlines() if line.startswith(("+agent ", "-agent "))]
    assert not wrong, f"in a person's name: {wrong[:5]}"


def check_sound(root: Path) -> None:
    """git finds nothing broken, and nothing temporary or locked is left."""
    fsck = subprocess.run(
        ["git", "fsck", "--full", "--no-dangling"], cwd=root, capture_output=True, text=True, check=False
    )
    assert fsck.returncode == 0 and not fsck.stderr.strip(), f"fsck: {fsck.stdout}{fsck.stderr}"
    left = [path for path in root.rglob(".vault-agent-*") if ".git" not in path.parts]
    assert not left, f"temporary files left: {left}"
    private = [path for pattern in ("vault-agent-*", "*.lock") for path in (root / ".git").rglob(pattern)]
    assert not private, f"locks and private files left: {private}"


def reachable_lines(root: Path) -> set[bytes]:
    """Every line of every file on disk and of every file in any commit."""
    listed = git(root, "rev-list", "--all", "--objects").split("\n")
    ids = [line.split(" ")[0] for line in listed if " " in line and line.split(" ", 1)[1].endswith(".md")]
    texts = [data for data in blobs(root, ids) if data is not None]
    texts += [path.read_bytes() for path in root.rglob("*.md") if ".git" not in path.parts]
    return {line.rstrip(b"\r") for text in texts for line in text.split(b"\n")}
