"""`rules/log.md`: what became of each rule, by whom and why, as rows that are only ever added.

It is the audit for people, and the program's memory of what a note alone does not say: that the person decided a
status, and which rules they refused or deleted, so that these never come back.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.growth.rules.rule import LearnedRule
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.timed_rows import format_head, format_row, timed_rows
from agent.markdown.title import clipped, clipped_between_links
from agent.texts import Language, text
from agent.vault.change import Append
from agent.vault.folders import RULE_LOG, AgentFolder
from agent.vault.store import Vault

RuleEvent: TypeAlias = Literal[
    "proposed", "refused", "probation", "urgent", "active", "deprecated", "deleted", "supported", "changed",
    "contradicted", "withheld", "merged", "gate",
]  # fmt: skip
"""`refused`: the person said no to it. `probation`, `active`, `deprecated`: the status that it has from now on;
`urgent`: the same as `probation`, at once, because it only restricts. `supported`: more evidence, `changed`: other
words. `contradicted`: a reflection says the opposite. `withheld`: not proposed, as it would take away a
safeguard. `merged`: its note is gone, as another one has the same rule. `gate` stands in old logs only: not proposed,
as past tasks had gone worse with it."""
By: TypeAlias = Literal["agent", "person"]
_COLUMNS = 5
"""Time, rule, event, by whom, why."""
_LINK = re.compile(r"\[\[([^\]]+)\]\]")
_COLON = re.compile(r"\s*：\s*")
_LONGEST = 320
_STATES = frozenset(("probation", "urgent", "active", "deprecated"))


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One row: what happened to the rule at `path` (empty before it has a note) with these `words`, its sentence."""

    at: datetime
    path: str
    words: str
    event: RuleEvent
    by: By
    why: str

    @property
    def row(self) -> str:
        """The row of the table, without a line end."""
        link = f"[[{self.path.removesuffix('.md')}]] " if self.path else ""
        why = clipped_between_links(" ".join(self.why.split()), _LONGEST).replace("|", "/")
        words = f"{link}{logged_words(self.words)}".strip()
        return format_row(self.at, (words, self.event, self.by, why))


@dataclass(frozen=True, slots=True)
class RuleLog:
    """All rows, in the order of their times."""

    rows: tuple[RuleRow, ...] = ()

    def last_status(self, path: str) -> RuleRow | None:
        """The row that gave a rule its present status; None before it has one."""
        found = [each for each in self.rows if each.path == path and each.event in _STATES]
        return found[-1] if found else None

    def of(self, path: str, *events: RuleEvent) -> tuple[RuleRow, ...]:
        """The rows of a rule, all or those with one of these events."""
        return tuple(each for each in self.rows if each.path == path and (not events or each.event in events))

    @property
    def unwanted(self) -> tuple[str, ...]:
        """The sentences of the rules that the person has refused or deleted."""
        return tuple(dict.fromkeys(each.words for each in self.rows if each.event in ("refused", "deleted")))

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the rules that have or had a note."""
        return tuple(dict.fromkeys(each.path for each in self.rows if each.path))


def logged_words(sentence: str) -> str:
    """The words of a rule as they stand in the log: on one line, inert, not too long, and with one kind of colon."""
    return clipped(_COLON.sub(": ", inert_line(sentence)).replace("|", "/"), _LONGEST).strip()


def log_row(rule: LearnedRule, at: datetime, event: RuleEvent, by: By, why: str) -> RuleRow:
    """The row about a rule with its present words."""
    return RuleRow(at, rule.path, logged_words(rule.sentence), event, by, why)


def append_rows(home: AgentFolder, rows: Sequence[RuleRow], language: Language) -> Append:
    """The request that adds rows to the log, which it begins if it is missing."""
    table = format_head(text("rules.log_columns", language), _COLUMNS)
    head = Note.compose({"type": "rule_log"}, f"# {text('rules.log', language)}\n\n{table}").data
    said = "".join(f"{each.row}\n" for each in rows)
    return Append(home.at(RULE_LOG), said.encode("utf-8", "replace"), head)


def load_log(vault: Vault) -> RuleLog:
    """The log, without rows that arrived from where others write."""
    data = vault.own_version_of(RULE_LOG)
    return RuleLog(parse_rows(data)) if data is not None else RuleLog()


def parse_rows(data: bytes) -> tuple[RuleRow, ...]:
    """The rows that can be parsed, by time; rows that a merge has doubled count once."""
    found = (_parse_row(at, cells) for at, cells in timed_rows(data))
    return tuple(sorted((row for row in found if row is not None), key=lambda row: row.at))


def _parse_row(at: datetime, cells: Sequence[str]) -> RuleRow | None:
    if len(cells) != _COLUMNS - 1 or cells[1] not in get_args(RuleEvent) or cells[2] not in get_args(By):
        return None
    link = _LINK.match(cells[0])
    path = f"{link[1].partition('|')[0]}.md" if link else ""
    words = cells[0][link.end() :].strip() if link else cells[0]
    return RuleRow(at, path, _COLON.sub(": ", words), cast(RuleEvent, cells[1]), cast(By, cells[2]), cells[3])
