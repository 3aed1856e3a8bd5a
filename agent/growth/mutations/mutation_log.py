"""`skills/mutations/log.md`: what became of each variant, by whom and why, as rows that are only ever added.

It has the form of `rules/log.md`. It is the audit for people; the program reads of it only when a skill was last tried.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.timed_rows import format_head, format_row, timed_rows
from agent.markdown.title import clipped_between_links
from agent.texts import Language, text
from agent.vault.change import Append
from agent.vault.folders import MUTATION_LOG, AgentFolder
from agent.vault.store import Vault

MutationEvent: TypeAlias = Literal[
    "proposed", "refused", "trial", "kept", "settled", "discarded", "inconclusive", "stopped", "rolled_back",
    "nothing", "gate",
]  # fmt: skip
"""`proposed`: the person is asked about it, `refused`: they said no. `nothing`: the model had no proposal that can
be tried. `gate` stands in old logs only: not tried, as past tasks had gone worse with it. The others are the
statuses of a variant."""
ByWhom: TypeAlias = Literal["agent", "person"]
_COLUMNS = 5
"""Time, variant, event, by whom, why."""
_LONGEST = 320
_SKILL = re.compile(r"(?:\[\[[^\]]*\]\] )?([\w-]+)")


@dataclass(frozen=True, slots=True)
class MutationRow:
    """One row: what happened to a variant of `skill`, in the note at `path` (empty before it has one)."""

    at: datetime
    skill: str
    path: str
    event: MutationEvent
    by: ByWhom
    why: str

    @property
    def row(self) -> str:
        """The row of the table, without a line end."""
        link = f"[[{self.path.removesuffix('.md')}]] " if self.path else ""
        why = clipped_between_links(inert_line(" ".join(self.why.split())), _LONGEST)
        cells = (f"{link}{self.skill}", self.event, self.by, why)
        return format_row(self.at, (cell.replace("|", "/") for cell in cells))


def append_log(home: AgentFolder, rows: Sequence[MutationRow], language: Language) -> Append:
    """The request that adds rows to the log, which it begins if it is missing."""
    table = format_head(text("variant.log_columns", language), _COLUMNS)
    head = Note.compose({"type": "mutation_log"}, f"# {text('variant.log', language)}\n\n{table}").data
    said = "".join(f"{each.row}\n" for each in rows)
    return Append(home.at(MUTATION_LOG), said.encode("utf-8", "replace"), head)


def load_mutation_log(vault: Vault) -> tuple[MutationRow, ...]:
    """The rows that can be parsed, by time, without those that arrived from where others write."""
    data = vault.own_version_of(MUTATION_LOG) or b""
    rows = (_parse_row(at, cells) for at, cells in timed_rows(data))
    return tuple(sorted((row for row in rows if row is not None), key=lambda row: row.at))


def _parse_row(at: datetime, cells: Sequence[str]) -> MutationRow | None:
    if len(cells) != _COLUMNS - 1 or cells[1] not in get_args(MutationEvent) or cells[2] not in get_args(ByWhom):
        return None
    skill = _SKILL.fullmatch(cells[0])
    if skill is None:
        return None
    path = cells[0].partition("]]")[0].removeprefix("[[") if cells[0].startswith("[[") else ""
    named = f"{path}.md" if path else ""
    return MutationRow(at, skill[1], named, cast(MutationEvent, cells[1]), cast(ByWhom, cells[2]), cells[3])
