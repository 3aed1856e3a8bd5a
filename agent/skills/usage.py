"""Each use of a skill as one row of a table in `skills/history/<name>.md`: a note that is only ever added to.

A row says one thing that happened: a use, or later what somebody thought of it. `stats` puts them together. A row that
a person has broken is skipped; the others still count.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.markdown.note import Note
from agent.vault.folders import SKILL_HISTORY
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

Activated: TypeAlias = Literal["auto", "manual", "chain", "feedback", "put_aside"]
"""By a match, by the model or a person, as a step of a chain. Rows that are no uses: `feedback` is about an earlier
one, `put_aside` says that the skill was moved away then."""
Opinion: TypeAlias = Literal["", "helpful", "not_helpful", "corrected"]
"""`corrected`: the owner has edited what came of it within a day."""

_COLUMNS = ("time", "run", "activated", "score", "signals", "outcome", "tools", "feedback", "session")
_CELL = re.compile(r"(?<!\\)\|")
_LONGEST = 300
_TITLE = {"en": "How {} was used", "zh": "技能 {} 的使用记录"}
_WHAT = {"feedback": "feedback on", "put_aside": "of no use:"}


@dataclass(frozen=True, slots=True)
class Use:
    """One row. `signals` in words; `outcome` is a run's; `tools` is how many calls of tools the run had made."""

    name: str
    time: datetime
    run: str
    session: str = ""
    activated: Activated = "auto"
    score: float = 0.0
    signals: str = ""
    outcome: str = ""
    tools: int = 0
    feedback: Opinion = ""

    @property
    def row(self) -> str:
        """The use as a row of the table, without a line end."""
        session = f"[[{self.session.removesuffix('.md')}]]" if self.session else ""
        time = self.time.replace(microsecond=0).isoformat()
        cells = (time, self.run, self.activated, f"{self.score:.2f}", self.signals, self.outcome, str(self.tools),
                 self.feedback, session)  # fmt: skip
        return f"| {' | '.join(_escaped(cell) for cell in cells)} |"


def _escaped(cell: str) -> str:
    flat = " ".join(cell.split())
    flat = flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
    return flat.replace("\\", "/").replace("|", "\\|")


def history_path(name: str) -> str:
    """Where the uses of a skill are kept."""
    return f"{SKILL_HISTORY}{name}.md"


def _head(name: str, language: str) -> str:
    header = Note.compose({"type": "skill_history", "skill": name}, "").data.decode()
    dashes = "|".join(" --- " for _ in _COLUMNS)
    return f"{header}# {_TITLE[language].format(name)}\n\n| {' | '.join(_COLUMNS)} |\n|{dashes}|\n"


def record(vault: Vault, uses: Sequence[Use], stamp: Stamp, language: str = "en") -> str | None:
    """Add rows, in one commit; returns it (None: nothing to add, or waiting). A new note begins in `language`."""
    if not uses:
        return None
    names = list(dict.fromkeys(use.name for use in uses))
    what = _WHAT.get(uses[0].activated, "feedback on" if uses[0].feedback else "used")
    with vault.transaction(f"skills(history): {what} {', '.join(names)}", stamp) as transaction:
        for path, head, text in rows(uses, language):
            transaction.append(path, text if vault.read(path) is not None else head + text)
    return transaction.outcome.commit


def rows(uses: Sequence[Use], language: str = "en") -> Iterator[tuple[str, bytes, bytes]]:
    """For each skill's history: its path, how it begins where it is missing, and what these uses add to it."""
    for name in dict.fromkeys(use.name for use in uses):
        text = "".join(f"{use.row}\n" for use in uses if use.name == name)
        yield history_path(name), _head(name, language).encode(), text.encode("utf-8", "replace")


def uses(vault: Vault, name: str) -> tuple[Use, ...]:
    """The rows about a skill in the order of their times; empty where it was never used."""
    return tuple(parse(name, vault.read(history_path(name)) or b""))


def parse(name: str, data: bytes) -> list[Use]:
    """The rows of a history note; those that cannot be read are left out. Each is there once, also after a merge."""
    rows = dict.fromkeys(Note.parse(data).body.splitlines())
    found = [use for row in rows if (use := _parse_row(name, row)) is not None]
    return sorted(found, key=lambda use: use.time)


def _parse_row(name: str, row: str) -> Use | None:
    if not row.startswith("|"):
        return None
    cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(row.strip())[1:-1]]
    if len(cells) != len(_COLUMNS):
        return None
    time, run, activated, score, signals, outcome, tools, feedback, session = cells
    if activated not in get_args(Activated) or feedback not in get_args(Opinion):
        return None
    try:
        when = datetime.fromisoformat(time)
        numbers = float(score), int(tools)
    except ValueError:
        return None
    if when.tzinfo is None:
        return None
    path = session.removeprefix("[[").removesuffix("]]")
    return Use(name, when, run, f"{path}.md" if path else "", cast(Activated, activated), numbers[0], signals,
               outcome, numbers[1], cast(Opinion, feedback))  # fmt: skip


def folded(rows: Iterable[Use]) -> Iterator[Use]:
    """The uses with what was last said of each; what was said of a run that no row knows is a use of its own."""
    found: dict[str, Use] = {}
    for row in rows:
        if row.activated == "put_aside":
            continue
        before = found.get(row.run)
        if before is None or row.activated != "feedback":
            found[row.run] = row if before is None else _with(row, before.feedback)
        elif row.feedback:
            found[row.run] = _with(before, row.feedback)
    yield from found.values()


def _with(use: Use, feedback: Opinion) -> Use:
    return replace(use, feedback=feedback or use.feedback)
