"""The marks in a session's note. Each begins a record: a line for the program, which reading view does not show.

    %% vault-agent: user {"at": "2026-11-21T14:12:00Z"} %%
    ### 14:12 You

    The message of a person.

A record ends where the next one begins. What people seldom want to read is folded: the marks of several records stand
in one line, in a collapsed callout where each line begins with `> `:

    > [!quote]- search_vault "garden plan" → 4 notes
    > %% vault-agent: call {"id": "1", "name": "search_vault"} %% %% vault-agent: result {"id": "1"} %%
    >
    > - Lines for people.

In older notes each mark has a line, with its text below it. Text of others can neither make a record nor end a callout:
each line that looks like a part of the form gets a backslash, and each line of a callout gets its `> `. What the
records mean is left to `loop.records`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import takewhile

from agent.dataclass import dataclass
from agent.escape import escape_json
from agent.json_value import parse_json

SESSION = "session"
"""The type of a session's note."""
FOLDED = "> [!quote]- "
"""The beginning of a collapsed callout."""
_MARK = r"%% vault-agent: ([a-z]+) (\{.*\}) %%"
_TITLE = r"> \[!quote\]- [^\n]*(?=\n> %% vault-agent: )"
_MARK_IN_ROW = re.compile(r"%% vault-agent: ([a-z]+) (\{.*?\}) %%(?= %% vault-agent: |\r?$)")
_BEGIN = re.compile(rf"^(?:(> )?{_MARK}|{_TITLE})\r?$", re.MULTILINE)
_LIKE = r"(?:>[> ]*)?%% vault-agent: |#{1,6}[ \t]+[0-9]{2}:[0-9]{2}\b|>[> ]*\[!quote[^\]\n]*\][-+]"
_PROTECT = re.compile(rf"^( {{0,3}})(\\*(?:{_LIKE}))", re.MULTILINE | re.IGNORECASE)
_PROTECTED = re.compile(rf"^( {{0,3}})\\(\\*(?:{_LIKE}))", re.MULTILINE | re.IGNORECASE)
_MARKED_ROW = re.compile(r"\s*(?:> ?)?%% vault-agent: ")
_HEADING = re.compile(r"\A#[^\n]*\n\r?\n")
_ENDINGS = ("\n\n", "\r\n\r\n", "\n")
_ACTIVE = re.compile(r"[%<[]")
"""Characters that would end a mark, or that an editor would act on: it follows links in comments, too."""
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?=\[)')


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A record: the kind and the data of its mark, and its text. The data is empty if it is no JSON object.

    `line` is the line of the note on which the text begins, 0 if the record was not read from one.
    """

    kind: str
    data: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    line: int = field(default=0, compare=False)


def find_records(note: str, first_line: int = 1) -> Iterator[MarkedText]:
    """The records in a session's note, in their order; also in notes of earlier versions.

    `first_line` is the line of the file on which `note` begins.
    """
    begins = list(_BEGIN.finditer(note))
    line, counted = first_line, 0
    for begin, after in zip(begins, [*begins[1:], None], strict=False):
        line, counted = line + note.count("\n", counted, begin.start()), begin.start()
        if begin[2] is None:
            continue
        whole = note[begin.end() + 1 : after.start() if after else len(note)]
        text = _folded_text(whole, is_last=not (after and after[1])) if begin[1] else _open_text(whole)
        above = 0 if begin[1] else _lines_above(whole)
        *beside, last = _MARK_IN_ROW.finditer(begin[0])
        for each in beside:
            yield MarkedText(each[1], _data(each[2]), "", line + 1)
        yield MarkedText(last[1], _data(last[2]), _PROTECTED.sub(r"\1\2", text), line + 1 + above)


def open_record(record: MarkedText, heading: str = "", level: int = 3) -> str:
    """A record that is shown, under its heading of this level; without heading and text it is a mark only."""
    title = f"{'#' * level} {heading}\n\n{_protected(record.text)}\n" if heading else ""
    return f"{_mark(record)}\n{title}\n"


def folded_records(records: Iterable[MarkedText], title: str = "", rows: Sequence[str] = ()) -> str:
    """The marks of these records in one line, without their texts; with a title (one line) in a collapsed callout, with
    these rows for people."""
    marks = " ".join(map(_mark, records))
    if not title:
        return f"{marks}\n\n"
    rows_of_quote = (f"[!quote]- {title}", marks, *(("", *map(_protected, rows)) if rows else ()))
    return "\n".join(f"> {row}" if row else ">" for row in rows_of_quote) + "\n\n"


def untrusted_sources(note: str) -> tuple[str, ...]:
    """The sources of the strangers' text that was read in a session, from its note."""
    found = (each.data.get("source") for each in find_records(note) if each.kind == "taint")
    return tuple(dict.fromkeys(str(source or "a stranger") for source in found))


def guests(note: str) -> tuple[str, ...]:
    """The names of those who asked in a session and are not the owner, from its note."""
    asked = (each.data for each in find_records(note) if each.kind == "run")
    return tuple(dict.fromkeys(str(data.get("sender")) for data in asked if data.get("role", "owner") != "owner"))


def person_rows(note: str) -> list[bool]:
    """For each line of a session's note: True if it is part of a message of the vault's owner; none in a session in
    which a guest or a job has asked, too."""
    records, found = list(find_records(note)), [False] * (note.count("\n") + 1)
    runs = [each.data for each in records if each.kind == "run"]
    if all(data.get("role", "owner") == "owner" and not data.get("job") for data in runs):
        for each in records:
            if each.kind == "user" and not each.data.get("sender"):
                last = each.line + each.text.count("\n")
                found[each.line - 1 : last] = [True] * (last - each.line + 1)
    return found


def is_mark(row: str) -> bool:
    """True for a line that is a mark."""
    return _MARKED_ROW.match(row) is not None


def _mark(record: MarkedText) -> str:
    data = escape_json(json.dumps(dict(record.data), ensure_ascii=False))
    return f"%% vault-agent: {record.kind} {_STRING_OR_BRACKET.sub(_inert, data)} %%"


def _protected(text: str) -> str:
    return _PROTECT.sub(r"\1\\\2", text)


def _data(text: str) -> Mapping[str, object]:
    try:
        data = parse_json(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _lines_above(text: str) -> int:
    """The lines of the heading of an open record."""
    heading = _HEADING.match(text)
    return heading[0].count("\n") if heading else 0


def _open_text(text: str) -> str:
    """The text of an open record without its heading and the blank lines around it."""
    text = _HEADING.sub("", text, count=1)
    return text.removesuffix(next((end for end in _ENDINGS if text.endswith(end)), ""))


def _folded_text(text: str, *, is_last: bool) -> str:
    """The text of a folded record without `> ` and the blank lines around it; `is_last`: no other follows in the
    callout."""
    rows = [row[2:] if row.startswith("> ") else row[1:] for row in takewhile(_is_quoted, text.split("\n"))]
    if rows and not rows[0].rstrip("\r"):
        rows = rows[1:]
        if not is_last and rows and not rows[-1].rstrip("\r"):
            rows = rows[:-1]
    return "\n".join(rows)


def _is_quoted(row: str) -> bool:
    return row.startswith(">")


def _inert(found: re.Match[str]) -> str:
    """A string of JSON without active characters; of two brackets the first with a space, so that they are no link."""
    return "[ " if found[0] == "[" else _ACTIVE.sub(_escape, found[0])


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
