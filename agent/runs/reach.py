"""What the person has set up and the agent could not reach when it tried last: servers with tools, and calendars."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.records.table import Table
from agent.texts import Sentence
from agent.vault.glance import has_rows
from agent.workspace.workspace import Workspace

Outside: TypeAlias = Literal["server", "calendar"]


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """Something outside that cannot be reached `since` then; `english` and `values` are the sentence that says why."""

    kind: Outside
    name: str
    since: datetime
    english: str
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> Sentence:
        """Why, in one line."""
        return Sentence(self.english, **self.values)


def _table(workspace: Workspace) -> Table[OutOfReach]:
    return Table(workspace.vault.records, "out-of-reach", OutOfReach, is_flushed=False)


def note_reach(workspace: Workspace, kind: Outside, name: str, problem: str) -> None:
    """Record why something cannot be reached, or with an empty text that it can."""
    table, key = _table(workspace), f"{kind} {name}"
    if not problem:
        if table.has(key):
            table.drop(key)
        return
    before = table.get(key)
    sentence = problem if isinstance(problem, Sentence) else Sentence("{problem}", problem=problem)
    since = before.since if before is not None else workspace.clock.now()
    found = OutOfReach(
        kind, name, since, sentence.english, {each: str(value) for each, value in sentence.values.items()}
    )
    if found != before:
        table.put(found, key)


def keep_only(workspace: Workspace, kind: Outside, names: Collection[str]) -> None:
    """Forget what is not set up any more."""
    for key, each in _rows(workspace):
        if each.kind == kind and each.name not in names:
            _table(workspace).drop(key)


def out_of_reach(workspace: Workspace, *kinds: Outside) -> tuple[OutOfReach, ...]:
    """The places of these kinds that cannot be reached, as it was tried last, and is still set up; opens no
    connection."""
    settings = workspace.settings
    is_set = {"server": bool(settings.tools.servers), "calendar": bool(settings.calendars.sources.reference)}
    return tuple(each for _, each in _rows(workspace) if each.kind in kinds and is_set[each.kind])


def _rows(workspace: Workspace) -> Sequence[tuple[str, OutOfReach]]:
    return list(_table(workspace).items()) if has_rows(workspace.vault, "out-of-reach") else []
