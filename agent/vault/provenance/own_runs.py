"""The runs whose foreign lines are the person's after all: all that they had read were files which the person has since
named as their own. True for as long as the files are named, by an answer or in the setting."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Table


@dataclass(frozen=True, slots=True)
class OwnRun:
    """A run, and all that it had read of others: these files."""

    run: str
    files: tuple[str, ...]


def names_file(patterns: Sequence[str], path: str) -> bool:
    """True if one of these patterns of the setting `attachments.mine` names a file, or a folder that it is in."""
    return any(path.startswith(f"{each.rstrip('/')}/") or fnmatchcase(path, each) for each in patterns)


def add_own_run(records: Records, run: OwnRun) -> None:
    """Remember a run that has read these files, and nothing else of others."""
    _table(records).put(run, run.run)


def own_runs(records: Records, mine: Sequence[str]) -> frozenset[str]:
    """The ids of the runs whose files these patterns name."""
    if not mine:
        return frozenset()
    return frozenset(each.run for each in _table(records).all() if all(names_file(mine, file) for file in each.files))


def _table(records: Records) -> Table[OwnRun]:
    return Table(records, "own-runs", OwnRun)
