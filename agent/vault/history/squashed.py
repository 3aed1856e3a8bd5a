"""What squashes have joined: for each joined commit, and each run that is no longer by itself, the commit with its
changes now.

The ids are in a file outside the vault, which an undo asks: it cannot take back a part of such a commit.
"""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.texts import Sentence, joined
from agent.vault.history.purged import load_rewritten
from agent.vault.history.undo_choice import Selection, UndoChoice
from agent.vault.history.undo_plan import Reason
from agent.vault.store import Vault

_COMMIT, _RUN = "commit", "run"
_SHORTEST = 4
"""Digits from which git takes the start of an id for a name."""


@dataclass(frozen=True, slots=True)
class Squashed:
    """`commits`: id of a joined commit to the commit that has its changes now. `runs`: run to such commits."""

    commits: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def load_squashed(vault: Vault) -> Squashed:
    """What the squashes of this vault on this machine have recorded, with present ids; empty if there was none."""
    try:
        rows = [line.split(" ") for line in _file(vault).read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return Squashed()
    now = load_rewritten(vault)
    rows = [[kind, name, now.get(commit, commit)] for kind, name, commit in (row for row in rows if len(row) == 3)]
    runs: dict[str, dict[str, None]] = {}
    for kind, name, commit in rows:
        if kind == _RUN:
            runs.setdefault(name, {})[commit] = None
    return Squashed(
        {name: commit for kind, name, commit in rows if kind == _COMMIT},
        {run: tuple(commits) for run, commits in runs.items()},
    )


def record_squashed(vault: Vault, new: Squashed) -> None:
    """Add what one squash joins; call this before the branch moves."""
    known = load_squashed(vault)
    commits = {old: new.commits.get(now, now) for old, now in known.commits.items()} | dict(new.commits)
    lines = [f"{_COMMIT} {old} {now}" for old, now in commits.items()]
    for run in dict.fromkeys((*known.runs, *new.runs)):
        before = (new.commits.get(each, each) for each in known.runs.get(run, ()))
        lines += [f"{_RUN} {run} {now}" for now in dict.fromkeys((*before, *new.runs.get(run, ())))]
    private.replace(_file(vault), "\n".join(lines) + "\n")


def refuse_squashed(vault: Vault, selection: Selection) -> None:
    """Raise `UserError` if a named commit was joined with others."""
    if not selection.commits or not (known := load_squashed(vault).commits):
        return
    for name in selection.commits:
        found = {now for old, now in known.items() if len(name) >= _SHORTEST and old.startswith(name.lower())}
        if len(found) == 1:
            now = found.pop()
            raise UserError(
                "{name} is no commit of its own any more: a squash has joined it with others in {commit}",
                hint="vault-agent undo {commit} takes all of them back",
                name=name,
                commit=now[:10],
            )


def with_squashed(vault: Vault, selection: Selection, chosen: UndoChoice) -> UndoChoice:
    """The choice for a run, with a reason for each commit that has some of its changes among others.

    Raises `UserError` if nothing of the run is by itself any more.
    """
    if not selection.run:
        return chosen
    runs = load_squashed(vault).runs
    mine = (run for run in runs if run == selection.run or run.startswith(f"{selection.run}."))
    now = tuple(dict.fromkeys(commit for run in mine for commit in runs[run]))
    if not now:
        return chosen
    if not chosen.commits:
        raise UserError(
            "the changes of run {run} were squashed: with others they are in {commits}, and cannot be taken back alone",
            hint="vault-agent undo {first} takes back all that the commit has",
            run=selection.run,
            commits=joined((commit[:10] for commit in now), ", "),
            first=now[0][:10],
        )
    why = Sentence("a squash has joined changes of this run with others in it; it stays")
    reasons = [Reason(commit, why) for commit in now]
    return UndoChoice(chosen.commits, (*chosen.skipped, *reasons), chosen.skipped_human, chosen.name)


def _file(vault: Vault) -> Path:
    return vault.private_folder / "squashed.txt"
