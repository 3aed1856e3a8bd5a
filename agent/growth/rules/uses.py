"""The runs that were given rules, as rows of a table in `rules/history/2026-11.md`, an append-only note a month.

A row is one run with its rules, those whose case did not come up in brackets, or a later opinion of the person about
that run. So a run is one line, whatever the
number of its rules, and two machines rarely conflict. Counting is left to `verdict`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.markdown.timed_rows import format_head, format_row, timed_rows
from agent.texts import Language, text
from agent.vault.change import Append
from agent.vault.folders import RULE_HISTORY, AgentFolder
from agent.vault.store import Vault

RunOpinion: TypeAlias = Literal["", "helpful", "not_helpful", "corrected"]
"""What the person made of a run: a ticked box about one of its rules; or `corrected`: within a day they edited what it
wrote, took it back, or said that it is not what they wanted."""
FAILED = frozenset(("failed", "limit"))
_COLUMNS = 6
"""Time, run, outcome, rules, opinion, session."""
_OPINION = "opinion"
_RULE = re.compile(r"(\()?\[\[([^\]]+)\]\] ([0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class GivenRule:
    """A rule in a run: its note, and the mark of its words. `came_up`: the case that it is for was given in the run."""

    path: str
    words: str
    came_up: bool = True

    @property
    def cell(self) -> str:
        """The rule in a cell."""
        cell = f"[[{self.path.removesuffix('.md')}]] {self.words}"
        return cell if self.came_up else f"({cell})"


@dataclass(frozen=True, slots=True)
class RuleRun:
    """One run that was given rules, or an opinion about one: `outcome` is then `opinion`, and it is about all of its
    rules, or about those in `rules`."""

    at: datetime
    run: str
    outcome: str
    rules: tuple[GivenRule, ...]
    opinion: RunOpinion = ""
    session: str = ""

    @property
    def row(self) -> str:
        """The row of the table, without a line end."""
        session = f"[[{self.session.removesuffix('.md')}]]" if self.session else ""
        rules = ", ".join(each.cell for each in self.rules)
        cells = (self.run, self.outcome, rules, self.opinion, session)
        return format_row(self.at, (cell.replace("|", "/") for cell in cells))


@dataclass(frozen=True, slots=True)
class RuleUse:
    """A run that was given a rule; it is a use if the rule's case came up in it (`counts`). `beside` are the marks of
    the other rules whose cases came up in it."""

    at: datetime
    run: str
    outcome: str
    opinion: RunOpinion
    came_up: bool = True
    beside: frozenset[str] = frozenset()

    @property
    def is_success(self) -> bool:
        """True if the person called the rule helpful, or was content with the run."""
        return self.opinion == "helpful"

    @property
    def counts(self) -> bool:
        """True if it says something about the rule: its case came up, and the run failed, or the person reacted. A run
        that has only ended counts for neither."""
        return self.came_up and (self.opinion != "" or self.outcome in FAILED)


def opinion_row(at: datetime, run: str, rules: Sequence[GivenRule], opinion: RunOpinion, session: str) -> RuleRun:
    """The row with the person's opinion about a run's rules."""
    return RuleRun(at, run, _OPINION, tuple(rules), opinion, session)


def append_runs(home: AgentFolder, runs: Sequence[RuleRun], language: Language) -> tuple[Append, ...]:
    """The requests that add rows to the notes of their months."""
    months: dict[str, list[RuleRun]] = {}
    for each in runs:
        months.setdefault(f"{each.at:%Y-%m}", []).append(each)
    return tuple(
        Append(home.at(f"{RULE_HISTORY}{month}.md"), _rows(found), _head(month, language))
        for month, found in months.items()
    )


def load_runs(vault: Vault) -> tuple[RuleRun, ...]:
    """All rows, by time; without text that arrived from where others write."""
    folder = vault.home.at(RULE_HISTORY)
    place = Path(vault.place.root, folder)
    names = sorted(file.name for file in place.glob("*.md")) if place.is_dir() else []
    found = (row for name in names for row in parse_runs(vault.own_version(folder + name) or b""))
    return tuple(sorted(found, key=lambda row: row.at))


def parse_runs(data: bytes) -> tuple[RuleRun, ...]:
    """The rows of a note that can be parsed; rows that a merge has doubled count once."""
    found = (_parse_row(at, cells) for at, cells in timed_rows(data))
    return tuple(row for row in found if row is not None)


@dataclass(frozen=True, slots=True)
class RuleUses:
    """The uses of all rules, by the mark of their words: so a rule keeps its uses when its note gets another name, and
    begins anew when its words change. Each has the uses in the order of their times, with the last opinion about it."""

    by_words: Mapping[str, tuple[RuleUse, ...]] = field(default_factory=dict)

    def of(self, words: str) -> tuple[RuleUse, ...]:
        """The uses of the rule with this mark."""
        return self.by_words.get(words, ())


def uses_of(rows: Iterable[RuleRun]) -> RuleUses:
    """The uses of all rules in these rows, which are in the order of their times."""
    found: dict[str, dict[str, RuleUse]] = {}
    for row in rows:
        came_up = frozenset(each.words for each in row.rules if each.came_up)
        for given in row.rules:
            uses = found.setdefault(given.words, {})
            if row.outcome != _OPINION:
                opinion = uses[row.run].opinion if row.run in uses else ""
                beside = came_up - {given.words}
                uses[row.run] = RuleUse(row.at, row.run, row.outcome, opinion, given.came_up, beside)
            elif row.run in uses and row.opinion:
                came_up_too = uses[row.run].came_up or given.came_up
                uses[row.run] = replace(uses[row.run], opinion=row.opinion, came_up=came_up_too)
    return RuleUses({words: tuple(uses.values()) for words, uses in found.items()})


def _rows(runs: Iterable[RuleRun]) -> bytes:
    return "".join(f"{each.row}\n" for each in runs).encode("utf-8", "replace")


def _head(month: str, language: Language) -> bytes:
    title, about = text("rules.history", language, month=month), text("rules.history_about", language)
    table = format_head(text("rules.history_columns", language), _COLUMNS)
    return Note.compose({"type": "rule_history"}, f"# {title}\n\n{about}\n\n{table}").data


def _parse_row(at: datetime, cells: Sequence[str]) -> RuleRun | None:
    if len(cells) != _COLUMNS - 1 or cells[3] not in get_args(RunOpinion):
        return None
    run, outcome, given, opinion, session = cells
    rules, path = tuple(_given(given)), session.removeprefix("[[").removesuffix("]]")
    if not rules:
        return None
    return RuleRun(at, run, outcome, rules, cast(RunOpinion, opinion), f"{path}.md" if path else "")


def _given(cell: str) -> Iterator[GivenRule]:
    for found in _RULE.finditer(cell):
        yield GivenRule(f"{found[2]}.md", found[3], not found[1])
