"""The runs of a job, in the append-only note `jobs/history/ID.md`: one list item each, newest last.

The fields are inline fields as Obsidian's Dataview reads them, and need no language. A person may write between the
rows; a line that is no row is skipped. Rows about which nobody needs to hear stay in `ledger` only.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeAlias, cast, get_args

from agent.dataclass import dataclass
from agent.escape import escape
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.schedule.job import Job
from agent.texts import Language, text, translated
from agent.vault.folders import JOB_HISTORY, AgentFolder

Outcome: TypeAlias = Literal[
    "done", "nothing", "failed", "interrupted", "missed", "skipped", "waits", "refused", "resumed"
]
"""What came of an occurrence. `nothing`: it ran, and there was nothing to do. `resumed` is no occurrence: a person has
let a stopped job run again."""
RAN: frozenset[Outcome] = frozenset({"done", "nothing", "failed", "interrupted"})
"""The outcomes of occurrences that ran."""
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_LONGEST = 300
_FIELD = re.compile(r"\[([a-z]+):: ((?:\[\[[^\[\]]*\]\]|[^\[\]])*)\]")
_LINK = re.compile(r"\[\[([^\[\]|]*)\]\]")


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One row. `planned` is the occurrence's time, `seconds` how long the run took, `money` in US dollars.

    `delivery` and `session` are paths of notes; a delivery that is no note is in words. `attempt` counts from 1.
    `missed` is the number of occurrences for which the row stands, 0 for one that stands for itself only. `is_changed`:
    the run has changed notes, in the commit with the row.
    """

    planned: datetime
    outcome: Outcome
    started: datetime | None = None
    seconds: float = 0
    reason: str = ""
    delivery: str = ""
    money: float = 0
    session: str = ""
    is_changed: bool = False
    machine: str = ""
    attempt: int = 1
    missed: int = 0

    def in_language(self, language: Language) -> "HistoryRow":
        """The row with its reason in this language, if that is a sentence of the program's."""
        return replace(self, reason=translated(self.reason, language))

    @property
    def line(self) -> str:
        """The row as a list item, without a line end."""
        fields = {
            "planned": _moment(self.planned),
            "outcome": self.outcome,
            "started": _moment(self.started) if self.started else "",
            "took": f"{_number(self.seconds, 1)} s" if self.started else "",
            "reason": _field_text(self.reason),
            "missed": str(self.missed) if self.missed else "",
            "attempt": str(self.attempt) if self.attempt > 1 else "",
            "delivery": _link(self.delivery) if self.delivery.endswith(".md") else _field_text(self.delivery),
            "cost": _number(self.money, 6) if self.money else "",
            "session": _link(self.session) if self.session else "",
            "changes": "yes" if self.is_changed else "",
            "machine": _field_text(self.machine),
        }
        return "- " + " ".join(f"[{name}:: {value}]" for name, value in fields.items() if value)


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The record of a job's rows: its last run, the failures in a row since then or since it was resumed, and whether
    it is stopped because of them (`status: error`)."""

    last_run_at: datetime | None = None
    last_run_status: Outcome | None = None
    consec_failures: int = 0
    is_stopped: bool = False


def history_path(home: AgentFolder, job: str) -> str:
    """The path of a job's history in the vault."""
    return home.at(f"{JOB_HISTORY}{job}.md")


def parse_history(data: bytes) -> tuple[HistoryRow, ...]:
    """The rows of a history note by time, each once; lines that are no row are skipped."""
    lines = dict.fromkeys(Note.parse(data).body.splitlines())
    return in_order(row for line in lines if (row := _parse_row(line)) is not None)


def in_order(rows: Iterable[HistoryRow]) -> tuple[HistoryRow, ...]:
    """Rows by the time of their occurrence, then by attempt."""
    return tuple(sorted(rows, key=lambda row: (row.planned.timestamp(), row.attempt)))


def with_rows(data: bytes | None, job: Job, rows: Sequence[HistoryRow], language: Language) -> bytes:
    """The note with these rows at its end, without those that it has already; `language` is that of a new note."""
    data = _head(job, language) if data is None else data
    there = set(Note.parse(data).body.splitlines())
    new = dict.fromkeys(row.line for row in rows)
    lines = [line for line in new if line not in there]
    if not lines:
        return data
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    gap = b"" if not data or data.endswith(b"\n") else newline
    return data + gap + b"".join(line.encode("utf-8", "replace") + newline for line in lines)


def record_of(rows: Iterable[HistoryRow], most_failures: int) -> JobRecord:
    """The record of a job whose rows are these, in any order. An occurrence that was tried several times fails once."""
    last: HistoryRow | None = None
    failed: set[float] = set()
    for row in in_order(rows):
        if row.outcome in ("done", "nothing", "resumed"):
            failed.clear()
        elif row.outcome == "failed":
            failed.add(row.planned.timestamp())
        if row.outcome in RAN:
            last = row
    if last is None:
        return JobRecord()
    return JobRecord(last.started or last.planned, last.outcome, len(failed), len(failed) >= most_failures)


def _head(job: Job, language: Language) -> bytes:
    title = text("job_history.title", language, title=_field_text(job.title) or job.id)
    link = text("job_history.job", language, link=_link(job.path))
    return Note.compose({"type": "job_history", "job": job.id}, f"# {title}\n\n{link}\n\n").data


def _parse_row(line: str) -> HistoryRow | None:
    if not line.startswith("- ["):
        return None
    fields = dict(_FIELD.findall(line))
    outcome = fields.get("outcome", "")
    if outcome not in _OUTCOMES:
        return None
    try:
        row = HistoryRow(
            datetime.fromisoformat(fields.get("planned", "")),
            cast(Outcome, outcome),
            datetime.fromisoformat(fields["started"]) if "started" in fields else None,
            float(fields.get("took", "0").removesuffix(" s")),
            fields.get("reason", ""),
            _path(fields.get("delivery", "")),
            float(fields.get("cost", "0")),
            _path(fields.get("session", "")),
            bool(fields.get("changes") or fields.get("commits")),  # an earlier version named the commits
            fields.get("machine", ""),
            int(fields.get("attempt", "1")),
            int(fields.get("missed", "0")),
        )
    except ValueError:
        return None
    if row.planned.tzinfo is None:
        return None
    return row if row.started is None or row.started.tzinfo is not None else replace(row, started=None)


def _moment(at: datetime) -> str:
    return at.replace(microsecond=0).isoformat()


def _number(value: float, places: int) -> str:
    return f"{value:.{places}f}".rstrip("0").rstrip(".") or "0"


def _field_text(words: str) -> str:
    """Words on one line that end no field and begin no link."""
    flat = " ".join(escape(words).replace("[", "(").replace("]", ")").replace("::", ":").split())
    return clipped(flat, _LONGEST)


def _link(path: str) -> str:
    return f"[[{_field_text(path.removesuffix('.md')).replace('|', '')}]]"


def _path(value: str) -> str:
    """The path in a link; other text as it is."""
    match = _LINK.fullmatch(value)
    return f"{match[1]}.md" if match else value
