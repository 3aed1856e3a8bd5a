"""The records of a session as text for its note, which reads as a conversation.

Messages are shown, each below its mark. Everything between two of them is one folded callout: its title and a few lines
say what was recalled and which tools were called, and the records themselves are marks in one line, with whatever is
short; a longer text is named there by its hash (`session_names`). Without something to tell, there are marks only. A
person's message stands above what the model was given for it; `"after"` in its mark is the number of records below it
that belong before it. The mark of a run has its task only if that is not the message.

A message is written unchanged, unless an editor showing the note would fetch or run something, or it would hide the
text below: then it is in a code block. Control and invisible characters are escaped (`"escaped": true`). Notes are
named as code and never linked, since a link from here would count as one of the person's.

The form of the marks is left to `markdown.session_marks`, parsing to `record_parse`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from itertools import accumulate
from typing import TypeAlias, assert_never

from agent.context.anchor import ANCHOR
from agent.context.prompt import MOMENT
from agent.dataclass import dataclass
from agent.escape import encode, is_inert
from agent.llm.messages import Assistant, Context, System, ToolCall, ToolResult, Usage, User
from agent.loop.records import (
    ASKS_A_PERSON,
    AtLimit,
    Began,
    Closed,
    SessionRecord,
    Spoken,
    StoredArgument,
    Summarised,
    Tainted,
    ToolsChosen,
)
from agent.markdown.inertness.active import TEMPLATE, fenced, inert, inert_line
from agent.markdown.session_marks import MarkedText, folded_records, open_record
from agent.texts import Language, text
from agent.texts import text as sentence
from agent.tools.registry import Called
from agent.tools.tool_names import resolved

_LONGEST = 60


def call_line(call: ToolCall) -> str:
    """The tool with the first argument that is a short text."""
    meant = resolved(call)
    texts = (each for each in meant.arguments.values() if isinstance(each, str) and each.strip())
    short = next((each for each in texts if len(each) <= _LONGEST and "\n" not in each), None)
    return f"{meant.name} {json.dumps(short, ensure_ascii=False)}" if short else meant.name


def result_line(result: ToolResult, language: Language) -> str:
    """The tool, and if it failed."""
    return f"{result.name} → {text('session_note.failed' if result.failed else 'session_note.done', language)}"


def called_line(call: ToolCall, called: Called, language: Language) -> str:
    """The call, and what came of it: the number of the notes that it showed, or if it failed."""
    notes = len({each.path for each in called.output.sources}) if called.output else 0
    if called.result.failed or not notes or (called.output and called.output.is_changed):
        came = text("session_note.failed" if called.result.failed else "session_note.done", language)
    else:
        came = text("session_note.notes" if notes > 1 else "session_note.note", language, number=notes)
    return f"{call_line(call)} → {came}"


Meta: TypeAlias = dict[str, object]

BEFORE_A_TASK = frozenset(("system", "run", "context", "taint"))
"""The kinds of records that a person's message may stand above, though they belong before it."""
BESIDE_CALLS = frozenset(("result", "context", "taint", "tools", "summary", "limit"))
"""The kinds of records that may stand between an answer of the model and a call in it."""
TIMED = frozenset(("user", "agent"))
"""The kinds of records that always have their time; others have none if it is that of the record above."""
_IN_TITLE = 120
"""The most characters of a title, short of one long word."""
_SHOWN = 160
"""The most characters of an error, or of an answer of the person's, that are shown."""
_UNTOLD = frozenset((MOMENT, ANCHOR))
"""The sources of what the model is told of the run itself."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One record in the note. `is_open`: it is not folded, and has its `title` as heading and a `text`. `line` tells
    people of it where it is folded, `more` adds what has no room in a title."""

    at: datetime
    kind: str
    data: Meta = field(default_factory=dict)
    title: str = ""
    text: str = ""
    is_open: bool = False
    line: str = ""
    more: str = ""


def format_records(records: Sequence[SessionRecord], language: Language = "en") -> str:
    """The records as text for the end of a session's note, with headings in a language."""
    last: datetime | None = None
    written: list[str] = []
    for section in _sections(part for placed in _task_first(records) for part in _parts(placed, language)):
        marked: list[MarkedText] = []
        for part in section:
            marked.append(_marked(part, last))
            last = part.at
        first = section[0]
        if first.is_open:
            written.append(open_record(marked[0], f"{first.at:%H:%M} {inert_line(first.title)}"))
        else:
            written.append(folded_records(marked, *_callout(section)))
    return "".join(written)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A record in its place in the note. `after`: the number of records below a message that belong before it.
    `task_follows`: the task of a run is the message above. `job`: the message is the task of this job."""

    record: SessionRecord
    after: int = 0
    task_follows: bool = False
    job: str = ""


def _task_first(records: Iterable[SessionRecord]) -> Iterator[_Placed]:
    """The records, with each message of a person above what the model was given for it."""
    held: list[SessionRecord] = []
    for record in records:
        match record.event:
            case Began() | Tainted() | Spoken(message=System() | Context()):
                held.append(record)
                continue
            case Spoken(message=User(text=text)):
                last = next((each.event for each in reversed(held) if isinstance(each.event, Began)), None)
                task_follows = last is not None and last.task == text
                yield _Placed(record, len(held), job=last.job if last is not None else "")
                yield from (_Placed(each, task_follows=task_follows and each.event is last) for each in held)
            case _:
                yield from map(_Placed, (*held, record))
        held = []
    yield from map(_Placed, held)


def _sections(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Each part that is shown, and between them all that share a callout."""
    folded: list[_Part] = []
    for part in parts:
        if not part.is_open:
            folded.append(part)
            continue
        if folded:
            yield folded
            folded = []
        yield [part]
    if folded:
        yield folded


def _callout(section: Sequence[_Part]) -> tuple[str, tuple[str, ...]]:
    """The title of a callout, and its lines, if the title cannot say it all; empty if there is nothing to tell."""
    tellable = [part for part in section if part.line]
    rows = list(dict.fromkeys(_without_links(": ".join(filter(None, (part.line, part.more)))) for part in tellable))
    whole = " · ".join(rows)
    if len(whole) <= _IN_TITLE:
        return whole, ()
    lines = list(dict.fromkeys(_without_links(part.line) for part in tellable))
    fitting = accumulate(len(line) + len(" · ") for line in lines)
    title = lines[: max(1, sum(length <= _IN_TITLE for length in fitting))]
    return " · ".join((*title, "…") if title != lines else title), tuple(f"- {row}" for row in rows if rows != title)


def _without_links(text: str) -> str:
    """The text on one line, with no link in it."""
    return inert_line(text.replace("[[", "").replace("]]", ""))


def _marked(part: _Part, last: datetime | None) -> MarkedText:
    """The record with its time, unless that is the time of the record above."""
    at = part.at.isoformat().replace("+00:00", "Z")
    data: Meta = {"at": at} if part.kind in TIMED or part.at != last else {}
    data |= part.data
    text = _encoded(part.text)
    return MarkedText(part.kind, {**data, "escaped": True} if text != part.text else data, text)


def _encoded(text: str) -> str:
    """The text as a note can have it: encoded, if it has characters that act or hide, or a template."""
    is_plain = is_inert(text) and TEMPLATE not in text
    return text if is_plain else encode(text).replace(TEMPLATE, r"\x3c%")


def _inert(text: str) -> str:
    """The text, in a code block if it would do something in the note, as it is or encoded."""
    written = _encoded(text)
    return fenced(text) if inert(written) != written else inert(text)


def _parts(placed: _Placed, language: Language) -> Iterator[_Part]:
    """The parts of one record: an answer of the model has one for each call, too."""
    at = placed.record.at
    match placed.record.event:
        case Spoken() as spoken:
            yield from _message_parts(at, spoken, placed, language)
        case Began() as began:
            yield _Part(at, "run", _of_run(began, task_follows=placed.task_follows))
        case ToolsChosen(tools):
            yield _Part(at, "tools", {"tools": list(tools)})
        case Tainted(source):
            line = sentence("session_note.taint", language)
            yield _Part(at, "taint", {"source": source}, line=line, more=source)
        case Summarised(text, remaining):
            yield _Part(
                at, "summary", {"kept": remaining, "text": text}, line=sentence("session_note.summary", language)
            )
        case AtLimit(reason, hint):
            line = sentence("session_note.limit", language)
            yield _Part(at, "limit", {"reason": reason, "hint": hint}, line=line, more=reason)
        case Closed() as closed:
            yield _end_part(at, closed, language)
        case _:
            assert_never(placed.record.event)


def _of_run(began: Began, *, task_follows: bool) -> Meta:
    """The data of a run's first record; defaults are left out."""
    meta: Meta = {"run": began.run, **({} if task_follows else {"task": began.task}), "channel": began.channel}
    role = "" if began.role == "owner" else began.role
    meta |= _without_empty(sender=began.sender, group=began.group, job=began.job, purpose=began.purpose, role=role)
    meta |= _without_empty(chat=began.origin.chat, account=began.origin.account, thread=began.origin.thread)
    meta |= {} if began.writes is None else {"writes": list(began.writes)}
    meta |= {} if began.model == "main" else {"model": began.model}
    return meta if began.spend is None else {**meta, "spend": began.spend}


def _end_part(at: datetime, closed: Closed, language: Language) -> _Part:
    """The end of a run: only a mark, if there is nothing to tell."""
    data: Meta = {"run": closed.run, "outcome": closed.outcome, **_without_empty(reason=closed.reason)}
    text = "\n\n".join(filter(None, (inert(closed.reason), inert(closed.remark))))
    has_text = bool(text) or closed.outcome != "finished"
    outcome = _translated(f"run_outcome.{closed.outcome}", closed.outcome, language)
    return _Part(at, "end", data, sentence("session_note.end", language, outcome=outcome), text, is_open=has_text)


def _message_parts(at: datetime, spoken: Spoken, placed: _Placed, language: Language) -> Iterator[_Part]:
    match spoken.message:
        case System():
            yield _Part(at, "system", _without_empty(digest=spoken.digest, audience=spoken.audience))
        case User(text, sender):
            data = _without_empty(sender=sender, after=placed.after, quoted=_inert(text) != text)
            who = sentence("session_note.job", language, job=placed.job) if placed.job else sender
            yield _Part(at, "user", data, who or sentence("session_note.you", language), _inert(text), is_open=True)
        case Context(text, source):
            yield _context_part(at, spoken, text, source, language)
        case Assistant(text, calls):
            usage = {"usage": _of_usage(spoken.usage)} if spoken.usage else {}
            data = {**usage, **_without_empty(quoted=_inert(text) != text)}
            is_open = text != "" or not calls
            yield _Part(at, "agent", data, sentence("session_note.agent", language), _inert(text), is_open=is_open)
            yield from (_call_part(at, call, spoken.arguments) for call in calls)
        case ToolResult() as result:
            yield _result_part(at, spoken, result, language)
        case _:
            assert_never(spoken.message)


def _context_part(at: datetime, spoken: Spoken, text: str, source: str, language: Language) -> _Part:
    pinned = [[each.path, *each.lines, each.pin] for each in spoken.pinned]
    data: Meta = {"source": source, **_without_empty(given=pinned, digest=spoken.digest)}
    data |= {} if spoken.digest or (pinned and not text) else {"text": text}
    line = "" if source in _UNTOLD else _translated(f"context_source.{source}", source, language)
    return _Part(at, "context", data, line=line, more=spoken.remark)


def _result_part(at: datetime, spoken: Spoken, result: ToolResult, language: Language) -> _Part:
    data: Meta = {"id": result.call, "name": result.name, **_without_empty(failed=result.failed)}
    data |= {} if spoken.seconds is None else {"seconds": round(spoken.seconds, 3)}
    data |= {"digest": spoken.digest} if spoken.digest else {"text": result.text}
    is_quoted = result.name == ASKS_A_PERSON or (result.failed and language == "en")  # errors of tools are English
    more = " ".join(filter(None, (_if_short(result.text) if is_quoted else "", spoken.remark)))
    return _Part(at, "result", data, line=spoken.line or result_line(result, language), more=more)


def _call_part(at: datetime, call: ToolCall, stored: Sequence[StoredArgument]) -> _Part:
    digests = {each.name: each.digest for each in stored if each.call == call.id}
    short = {name: "" if name in digests else value for name, value in call.arguments.items()}
    data: Meta = {"id": call.id, "name": call.name, **_without_empty(problem=call.problem), "arguments": short}
    return _Part(at, "call", data | _without_empty(kept=digests))


def _if_short(text: str) -> str:
    """The text on one line; nothing of a long one, as its beginning would not be recognised where it is forgotten."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else ""


def _of_usage(usage: Usage) -> list[int]:
    """The four counts, without zeros at the end."""
    counts = [usage.input, usage.output, usage.cached, usage.written]
    while counts and not counts[-1]:
        counts.pop()
    return counts


def _without_empty(**data: object) -> Meta:
    """The data that has a value."""
    return {key: value for key, value in data.items() if value}


def _translated(key: str, word: str, language: Language) -> str:
    """The word's sentence; a word without one is returned unchanged."""
    try:
        return sentence(key, language)
    except KeyError:
        return word
