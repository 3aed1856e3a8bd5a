"""The uses of each skill, as rows of a table in `skills/history/<name>.md`, an append-only note.

A row is one use of the skill, or a later opinion about a use. Rows that cannot be parsed are skipped. Counting is left
to `stats`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.markdown.appending import format_head, format_row, timed_rows
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.skills.matching.skill_text import Signal
from agent.texts import Language, Sentence, text
from agent.vault.change import Stamp
from agent.vault.folders import SKILL_HISTORY
from agent.vault.store import Vault

Activated: TypeAlias = Literal["auto", "chain", "manual", "feedback", "put_aside", "rolled_back"]
"""`auto`: given to the model; `chain`: as a step of a skill that it had; `manual`: opened by it, or by a person. Three
kinds of rows are not uses: `feedback` is an opinion about an earlier use, `put_aside` records that the skill was moved
away, `rolled_back` that it got a former text again."""
Opinion: TypeAlias = Literal["", "helpful", "not_helpful", "corrected"]
"""`corrected`: the owner edited the result within a day."""

_COLUMNS = ("time", "run", "activated", "score", "signals", "outcome", "tools", "feedback", "session", "trial")
_REASONS = {
    "intent_pattern": "by_words",
    "except_pattern": "by_exception",
    "tool_signal": "by_tool",
    "context_keyword": "by_keywords",
    "context_slot": "by_value",
    "semantic": "by_meaning",
    "named": "by_name",
    "always": "by_header",
}
_LONGEST = 300
_OF_NO_USE = frozenset(("put_aside", "rolled_back"))
_BEFORE_TRIALS = 9
"""The columns of notes that were begun before there were trials."""
_SUBJECTS = {
    "feedback": "skills(history): feedback on {skills}",
    "put_aside": "skills(history): of no use: {skills}",
    "": "skills(history): used {skills}",
}


@dataclass(frozen=True, slots=True)
class Use:
    """One row. `signals` are in words; `outcome` is that of the run; `tools` is the number of its tool calls; `trial`
    says which version was taken, if a variant was on trial."""

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
    trial: str = ""

    @property
    def row(self) -> str:
        """The use as a row of the table, without a line end."""
        session = f"[[{self.session.removesuffix('.md')}]]" if self.session else ""
        cells = (self.run, self.activated, f"{self.score:.2f}", self.signals, self.outcome, str(self.tools),
                 self.feedback, session, *filter(None, [self.trial]))  # fmt: skip
        return format_row(self.time, map(_escaped, cells))


def _escaped(cell: str) -> str:
    flat = " ".join(cell.split())
    flat = clipped(flat, _LONGEST)
    return flat.replace("\\", "/").replace("|", "\\|")


def reasons(signals: Iterable[Signal], language: Language) -> str:
    """Why a skill was used, in words; its patterns are in the skill, and in `skills match --explain`."""
    words = (text(f"skill_history.{_REASONS[each.type]}", language, detail=each.detail) for each in signals)
    return "; ".join(dict.fromkeys(words))


def history_path(name: str) -> str:
    """The path of a skill's history note, in the agent's folder."""
    return f"{SKILL_HISTORY}{name}.md"


def _head(name: str, language: Language) -> str:
    header = Note.compose({"type": "skill_history", "skill": name}, "").data.decode()
    title = text("skill_history.title", language, name=name)
    return f"{header}# {title}\n\n{_columns(_COLUMNS)}"


def _columns(names: Sequence[str]) -> str:
    return format_head(f"| {' | '.join(names)} |", len(names))


def history_with_trials(data: bytes) -> bytes:
    """A history note with a column for trials, if it was begun without one."""
    return data.replace(_columns(_COLUMNS[:-1]).encode(), _columns(_COLUMNS).encode(), 1)


def record_uses(vault: Vault, uses: Sequence[Use], stamp: Stamp, language: Language = "en") -> str | None:
    """Append rows in one commit; returns the commit, or None without rows or for a queued write.

    `language` is that of a new note.
    """
    if not uses:
        return None
    names = list(dict.fromkeys(use.name for use in uses))
    known = uses[0].activated if uses[0].activated in _SUBJECTS else "feedback" if uses[0].feedback else ""
    with vault.transaction(Sentence(_SUBJECTS[known], skills=", ".join(names)), stamp) as transaction:
        for path, head, rows in history_rows(uses, language):
            there = vault.home.at(path)
            transaction.append(there, rows if vault.read(there) is not None else head + rows)
    return transaction.outcome.commit


def history_rows(uses: Sequence[Use], language: Language = "en") -> Iterator[tuple[str, bytes, bytes]]:
    """For each skill: the path of its history, the head for a new note, and the rows of these uses."""
    for name in dict.fromkeys(use.name for use in uses):
        rows = "".join(f"{use.row}\n" for use in uses if use.name == name)
        yield history_path(name), _head(name, language).encode(), rows.encode("utf-8", "replace")


def load_uses(vault: Vault, name: str) -> tuple[Use, ...]:
    """The rows of a skill's history by time; empty if it was never used."""
    return tuple(parse_uses(name, vault.read(vault.home.at(history_path(name))) or b""))


def load_own_uses(vault: Vault, name: str) -> tuple[Use, ...]:
    """The same without rows that arrived from where others write: nothing of theirs judges a skill."""
    return tuple(parse_uses(name, vault.own_version(vault.home.at(history_path(name))) or b""))


def parse_uses(name: str, data: bytes) -> list[Use]:
    """The rows of a history note that can be parsed, by time; rows duplicated by a merge count once."""
    found = [use for at, cells in timed_rows(data) if (use := _parse_row(name, at, cells)) is not None]
    return sorted(found, key=lambda use: use.time)


def _parse_row(name: str, at: datetime, cells: Sequence[str]) -> Use | None:
    texts = [cell.replace("\\|", "|") for cell in cells]
    if len(texts) == _BEFORE_TRIALS - 1:
        texts.append("")
    if len(texts) != len(_COLUMNS) - 1:
        return None
    run, activated, score, signals, outcome, tools, feedback, session, trial = texts
    if activated not in get_args(Activated) or feedback not in get_args(Opinion):
        return None
    try:
        numbers = float(score), int(tools)
    except ValueError:
        return None
    path = session.removeprefix("[[").removesuffix("]]")
    return Use(name, at, run, f"{path}.md" if path else "", cast(Activated, activated), numbers[0], signals,
               outcome, numbers[1], cast(Opinion, feedback), trial)  # fmt: skip


def merge_opinions(rows: Iterable[Use]) -> Iterator[Use]:
    """The uses, each with the last opinion about it; an opinion about an unknown run counts as a use."""
    found: dict[str, Use] = {}
    for row in rows:
        if row.activated in _OF_NO_USE:
            continue
        before = found.get(row.run)
        if before is None:
            found[row.run] = row
        elif row.activated != "feedback":
            found[row.run] = replace(row, feedback=before.feedback or row.feedback)
        elif row.feedback:
            found[row.run] = replace(before, feedback=row.feedback)
    yield from found.values()
