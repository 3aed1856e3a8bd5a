"""The notes of reflections: one a day, `reflections/2026/11/2026-11-22-reflections.md`, to which each is added, so that
a month of use is thirty notes and not six hundred. What people read is also what is parsed, so that an edit of theirs
counts; the times, runs and sources are in a mark that reading view does not show.

    %% vault-agent: reflection {"at": "2026-11-22T14:03:00+01:00", "trigger": "task", "runs": ["01J…"]} %%
    ## 14:03 Sum up the report

    - **Result**: The report was summed up, without its second table.
    - **Went wrong** (strategy): The note was replaced as a whole.

    **Strategies**

    1. Read a note before it is changed.
        - When: a note is there already
        - Effect: nothing of it is lost
        - Confidence: high · Severity: low · only restricts

    Evidence: [[sessions/2026/11/2026-11-22 Sum up the report]]

    - [ ] helpful
    - [ ] not helpful

Each text is on one line and can contain neither a mark nor a box. What earlier versions counted or could not read has
marks of its own, and is left out when a note is parsed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import TypeVar, cast, get_args

from agent.dataclass import dataclass
from agent.growth.lessons.reflection import ErrorKind, Grade, Opinion, Reflection, Strategy, Trigger
from agent.markdown.blocks import Body, parse_body
from agent.markdown.inertness.active import inert_line
from agent.markdown.links import linked_names, note_link
from agent.markdown.note import Note
from agent.markdown.session_marks import MarkedText, find_records, open_record
from agent.markdown.title import clipped
from agent.runs.reactions import ReactionKind
from agent.runs.status import growth_account
from agent.texts import Language, in_all_languages, text
from agent.vault.change import Append, Stamp, actor_of
from agent.vault.folders import REFLECTIONS, SESSION_LINK, AgentFolder
from agent.vault.store import Vault

REFLECTION = "reflection"
"""The kind of a reflection's record."""
LONGEST, STRATEGY = 600, 300
"""The most characters of a text, and of a part of a strategy: who reads the note reads a few lines."""
MOST_STRATEGIES = 3
_OPINIONS: tuple[Opinion, ...] = ("helpful", "not_helpful")
_BOX_LIKE = re.compile(r"^(?:[-*+>\s]|\d{1,9}[.)]\s|\[.?\]\s*)+")
_NUMBERED = re.compile(r"^\d{1,2}[.)] (?P<value>\S[^\n]*)$")
_LABELLED = re.compile(
    r"^[ \t]*(?:[-*+] )?(?:\*\*)?(?P<label>[^*:：()（）\n]{1,30}?)(?:\*\*)?(?: ?[(（](?P<kind>[^)）\n]*)[)）])? ?[:：]"
    r"[ \t]*(?P<value>[^\n]*)$"
)
_GRADES = ("confidence", "severity")
_BOX = re.compile(r"^[-*+] \[(?P<state>.)\] (?P<words>.+)$")
_IS_SESSION = re.compile(SESSION_LINK)
T = TypeVar("T", bound=str)


def plain_text(words: str, most: int = LONGEST) -> str:
    """A text in the form in which a reflection has it: one line of at most so many characters, nothing in it that an
    editor would act on, and no beginning that would make a list item or a box of it."""
    flat = _BOX_LIKE.sub("", inert_line(words))
    return clipped(flat, most).strip()


def format_reflection(reflection: Reflection, language: Language) -> str:
    """The reflection as text for the end of a note, below its `heading`."""
    data: dict[str, object] = {
        "at": reflection.at.isoformat(),
        "trigger": reflection.trigger,
        "runs": list(reflection.runs),
    }
    data |= {"strangers": list(reflection.strangers)} if reflection.strangers else {}
    data |= {"reactions": list(reflection.reactions)} if reflection.reactions else {}
    parts = (
        "\n".join(_items(reflection, language)),
        _strategies(reflection.strategies, language),
        _remarks(reflection, language),
        "\n".join(f"- [{_tick(each, reflection)}] {text(f'skill_feedback.{each}', language)}" for each in _OPINIONS),
    )
    heading = inert_line(reflection.heading) or f"{reflection.at:%H:%M}"
    return open_record(MarkedText(REFLECTION, data, "\n\n".join(filter(None, parts))), heading, level=2)


def parse_reflections(path: str, data: bytes) -> tuple[Reflection, ...]:
    """The reflections in the note at `path`, in its order; a part that cannot be parsed is left out."""
    note = Note.parse(data)
    rows = data.decode("utf-8", "replace").splitlines()
    records = (each for each in find_records(note.body, note.body_line) if each.kind == REFLECTION)
    found = (_reflection(path, each, _heading(rows, each.line)) for each in records)
    return tuple(each for each in found if each is not None)


def _items(reflection: Reflection, language: Language) -> Iterator[str]:
    """The lines about the dimensions that say something."""
    found = (("result", reflection.result), ("efficiency", reflection.efficiency), ("error", reflection.error))
    reactions = text("reflection.comma", language).join(
        text(f"reflection.{each}", language) for each in reflection.reactions
    )
    for name, value in (*found, ("gap", reflection.gap), ("reaction", reactions)):
        kind = reflection.error_kind if name == "error" else None
        if value or kind is not None:
            label = text(f"reflection.{name}", language)
            about = text("reflection.about", language, kind=text(f"reflection.{kind}", language)) if kind else ""
            item = text("reflection.item", language, label=f"**{label}**{about}", value=plain_text(value))
            yield f"- {item}".rstrip()


def _strategies(strategies: Sequence[Strategy], language: Language) -> str:
    if not strategies:
        return ""
    rows = [f"**{text('reflection.strategies', language)}**\n"]
    for number, each in enumerate(strategies, 1):
        rows.append(f"{number}. {plain_text(each.text, STRATEGY)}")
        parts = (("when", each.when), ("effect", each.effect))
        lines = [_labelled(name, plain_text(value, STRATEGY), language) for name, value in parts if value]
        grades = [_labelled("confidence", text(f"reflection.{each.confidence}", language), language)]
        grades.append(_labelled("severity", text(f"reflection.{each.severity}", language), language))
        grades += [text("reflection.restricts", language)] if each.restricts else []
        rows += [f"    - {row}" for row in (*lines, " · ".join(grades))]
    return "\n".join(rows)


def _remarks(reflection: Reflection, language: Language) -> str:
    """The evidence of a reflection, and the strangers' text for which it counts for less."""
    links = ", ".join(note_link(path) for path in (*reflection.sessions, *reflection.notes))
    sources = text("reflection.comma", language).join(map(plain_text, reflection.strangers))
    remarks = [_labelled("evidence", links, language)] if links else []
    remarks += [text("reflection.strangers", language, sources=sources)] if sources else []
    return "\n\n".join(remarks)


def _labelled(name: str, value: str, language: Language) -> str:
    return text("reflection.item", language, label=text(f"reflection.{name}", language), value=value)


def _tick(opinion: Opinion, reflection: Reflection) -> str:
    return "x" if reflection.opinion == opinion else " "


def _heading(rows: Sequence[str], line: int) -> str:
    """The heading above a record's text, which begins on this line (from 1)."""
    above = rows[line - 3] if 3 <= line <= len(rows) + 2 else ""
    return above.lstrip("#").strip() if above.startswith("#") else ""


def _reflection(path: str, record: MarkedText, heading: str) -> Reflection | None:
    data, body = record.data, parse_body(record.text)
    try:
        at = datetime.fromisoformat(str(data["at"]))
    except (ValueError, KeyError):
        return None
    trigger = data.get("trigger")
    is_empty = data.get("plain") is True or data.get("unread") is True
    if trigger not in get_args(Trigger) or at.tzinfo is None or is_empty:
        return None
    values, strategies = _parsed_fields(body)
    sessions, notes = _parsed_evidence(values.get("evidence", ""))
    return Reflection(
        path,
        at,
        cast(Trigger, trigger),
        _names(data, "runs"),
        sessions,
        values.get("result", ""),
        values.get("efficiency", ""),
        values.get("error", ""),
        _word(values.get("kind of error", ""), get_args(ErrorKind)),
        tuple(map(_parsed_strategy, strategies)),
        values.get("gap", ""),
        heading,
        _names(data, "strangers"),
        _opinion(body),
        notes,
        tuple(each for each in get_args(ReactionKind) if each in _names(data, "reactions")),
    )


def _names(data: Mapping[str, object], key: str) -> tuple[str, ...]:
    found = data.get(key)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _rows(body: Body) -> Iterator[str]:
    """The lines outside of code."""
    return (row for row, kind in zip(body.lines, body.kinds, strict=True) if kind not in ("fence", "code", "comment"))


def _parsed_fields(body: Body) -> tuple[dict[str, str], list[dict[str, str]]]:
    """The values by their names, and those of each strategy: a numbered line, and what is indented below it."""
    values, strategies = dict[str, str](), list[dict[str, str]]()
    for row in _rows(body):
        if (numbered := _NUMBERED.match(row)) is not None:
            strategies.append({"text": numbered["value"].strip()})
            continue
        named = strategies[-1] if strategies and row[:1] in (" ", "\t") else values
        for name, value in _labelled_in(row):
            named.setdefault(name, value)
    return values, strategies


def _labelled_in(row: str) -> Iterator[tuple[str, str]]:
    """The names and values in a line, which has one; but the grades of a strategy are several in one."""
    found = _LABELLED.match(row)
    name = _label(found["label"]) if found else ""
    if found and name not in ("", *_GRADES):
        yield name, found["value"].strip()
        yield f"kind of {name}", found["kind"] or ""
        return
    for part in row.strip(" \t-*+").split("·"):
        if part.strip() in in_all_languages("reflection.restricts"):
            yield "restricts", part
        elif (found := _LABELLED.match(part.strip())) is not None:
            yield _label(found["label"]), found["value"].strip()


def _parsed_evidence(links: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths of the sessions, and of the other notes, in the line of the evidence."""
    paths = dict.fromkeys(f"{each}.md" for each in linked_names(links))
    sessions = tuple(path for path in paths if _IS_SESSION.match(f"[[{path}"))
    return sessions, tuple(path for path in paths if path not in sessions)


def _parsed_strategy(parts: Mapping[str, str]) -> Strategy:
    grades: tuple[Grade, ...] = get_args(Grade)
    confidence, severity = (_word(parts.get(each, ""), grades) or "low" for each in _GRADES)
    return Strategy(
        parts["text"], parts.get("when", ""), parts.get("effect", ""), confidence, severity, "restricts" in parts
    )


def _opinion(body: Body) -> Opinion:
    """The ticked box; of two, none."""
    words: dict[str, Opinion] = {
        word: each for each in _OPINIONS for word in in_all_languages(f"skill_feedback.{each}")
    }
    boxes = (_BOX.match(row) for row in _rows(body))
    ticked = {words.get(each["words"].strip(), "") for each in boxes if each is not None and each["state"] in "xX"}
    ticked.discard("")
    return ticked.pop() if len(ticked) == 1 else ""


@cache
def _labels() -> Mapping[str, str]:
    """The names of the labels, by their words in every language."""
    names = ("result", "efficiency", "error", "gap", "when", "effect", "confidence", "severity", "evidence")
    return {word: name for name in names for word in in_all_languages(f"reflection.{name}")}


def _label(words: str) -> str:
    return _labels().get(words.strip(), "")


def _word(words: str, values: Iterable[T]) -> T | None:
    """The value of which these are the words in some language."""
    plain = words.strip().casefold()
    found = (each for each in values if plain in (each, *map(str.casefold, in_all_languages(f"reflection.{each}"))))
    return next(found, None)


TYPE = "reflections"
ACCOUNT = growth_account("reflections")
"""The account under which reflections ask models, and the job of their commits."""
TOOL = "reflection"
LOOK_BACK = "lookback"
"""The kind of the record of a look back, which plans and judges no run."""
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)-reflections")


def reflections_name(day: date) -> str:
    """The note with the reflections of a day, as the table of folders names it."""
    return f"{REFLECTIONS}{day:%Y/%m}/{day.isoformat()}-reflections.md"


def write_reflection(vault: Vault, reflection: Reflection, language: Language) -> str | None:
    """Add a reflection to its note, in a commit; returns that, None if the write waits. Raises what a transaction
    raises."""
    subject = f"reflection({reflection.trigger}): {reflection.heading.partition(' ')[2] or reflection.at.date()}"
    with vault.transaction(subject, Stamp(actor_of(ACCOUNT), tool=TOOL), masked=True) as change:
        formatted = format_reflection(reflection, language)
        change.requests.append(append_record(reflection.path, reflection.at.date(), formatted, language))
    return change.outcome.commit


def append_look_back(home: AgentFolder, at: datetime, heading: str, words: str, language: Language) -> Append:
    """The request that adds what a look back on the last hours has found to the day's note, below this heading."""
    record = MarkedText(LOOK_BACK, {"at": at.replace(microsecond=0).isoformat()}, words)
    formatted = open_record(record, f"{at:%H:%M} {heading}", level=2)
    return append_record(home.at(reflections_name(at.date())), at.date(), formatted, language)


def append_record(path: str, day: date, record: str, language: Language) -> Append:
    """The request that adds a record to the note of a day. Two machines begin the note with the same bytes."""
    head = Note.compose({"type": TYPE, "date": day}, f"# {text('reflection.title', language, day=day)}\n\n")
    return Append(path, record.encode("utf-8", "replace"), head.data)


@dataclass(frozen=True, slots=True)
class LookBack:
    """A look back on the last hours: when, and what it found."""

    at: datetime
    text: str


def last_look_back(vault: Vault, days: Iterable[date]) -> LookBack | None:
    """The last look back on these days; None without one."""
    found: list[LookBack] = []
    for day in days:
        note = Note.parse(vault.own_version_of(reflections_name(day)) or b"")
        records = (each for each in find_records(note.body) if each.kind == LOOK_BACK)
        for each in records:
            with suppress(ValueError):
                found.append(LookBack(datetime.fromisoformat(str(each.data.get("at", ""))), each.text))
    return max((each for each in found if each.at.tzinfo is not None), key=lambda each: each.at, default=None)


def load_reflections(vault: Vault, since: date | None = None) -> tuple[Reflection, ...]:
    """The reflections of the days from `since` on (None: all), the oldest first, each with the person's opinion of it.

    Text that arrived from elsewhere and that the person has not looked at is left out.
    """
    found: list[Reflection] = []
    for path in _paths(vault, since):
        data = vault.own_version(path)
        found += parse_reflections(path, data) if data is not None else ()
    return tuple(sorted(found, key=lambda each: each.at))


def _paths(vault: Vault, since: date | None) -> Iterator[str]:
    """The paths of the days' notes; of two machines one day may have two, the second with a number in its name."""
    folder = vault.home.at(REFLECTIONS)
    place = Path(vault.place.root, folder)
    for file in sorted(place.glob("[0-9][0-9][0-9][0-9]/[0-9][0-9]/*.md")):
        named = _NAME.match(file.name)
        if named is not None and (since is None or named[1] >= since.isoformat()):
            yield folder + file.relative_to(place).as_posix()
