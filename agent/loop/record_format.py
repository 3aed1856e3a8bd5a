"""The records of a session as text for its note, which reads as a conversation.

Messages are shown. The rest is folded: one callout for each call of a tool with its result, one for what the model was
given. A person's message stands above what the model was given for it; `"after"` in its mark is the number of records
below it that belong before it. The mark of a run has its task only if that is not the message.

Text is written unchanged, unless an editor showing the note would fetch or run something, or it would hide the text
below: then it is in a code block, as calls, results and texts of sources always are. Control and invisible characters
are escaped (`"escaped": true`). Memories and the system message are not copied: the note has links and a hash.

The form of the marks is left to `markdown.session_marks`, parsing to `record_parse`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import datetime
from typing import TypeAlias, assert_never

from agent.dataclass import dataclass
from agent.escape import encode, escape_json, is_inert
from agent.llm.messages import Assistant, Context, System, ToolCall, ToolResult, Usage, User
from agent.loop.records import AtLimit, Began, Closed, SessionRecord, Spoken, Summarised, Tainted, ToolsChosen
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
    notes = len({each.path for each in called.given.sources}) if called.given else 0
    if called.result.failed or not notes or (called.given and called.given.commits):
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
_SHARED = frozenset(("system", "run", "context", "taint", "tools", "summary", "limit"))
_BARE = frozenset(("run", "end"))
"""The kinds of records that are only a mark, if they have no text and stand alone."""
_NAMED = frozenset(("taint", "summary", "limit"))
"""The kinds of folded records that are named in the title of a callout which they share."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One record in the note. `shown`: it is not folded; `source` is that of text which the model was given."""

    at: datetime
    kind: str
    data: Meta = field(default_factory=dict)
    title: str = ""
    text: str = ""
    shown: bool = False
    source: str = ""


def format_records(records: Sequence[SessionRecord], language: Language = "en") -> str:
    """The records as text for the end of a session's note, with headings in a language."""
    parts = (part for placed in _task_first(records) for part in _parts(placed, language))
    last: datetime | None = None
    written: list[str] = []
    for section in _joined(_sections(parts)):
        marked: list[MarkedText] = []
        for part in section:
            marked.append(_marked(part, last))
            last = part.at
        first = section[0]
        if first.shown:
            written.append(open_record(marked[0], f"{first.at:%H:%M} {inert_line(first.title)}"))
        elif len(section) == 1 and first.kind in _BARE and not first.text:
            written.append(open_record(marked[0]))
        else:
            written.append(folded_records(inert_line(_title(section, language)), marked))
    return "".join(written)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A record in its place in the note. `after`: the number of records below a message that belong before it. `said`:
    the task of a run is the message above. `job`: the message is the task of this job."""

    record: SessionRecord
    after: int = 0
    said: bool = False
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
                is_said = last is not None and last.task == text
                yield _Placed(record, len(held), job=last.job if last is not None else "")
                yield from (_Placed(each, said=is_said and each.event is last) for each in held)
            case _:
                yield from map(_Placed, (*held, record))
        held = []
    yield from map(_Placed, held)


def _sections(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """The parts that stand together, in the order of the note: a call waits for its result, if that is among them."""
    waiting: list[_Part] = []  # calls, behind the mark of their answer if that has no text
    for part in parts:
        if part.kind == "call" or (part.kind == "agent" and not part.shown):
            if part.kind == "agent":
                yield from _one_by_one(waiting)
                waiting = []
            waiting.append(part)
            continue
        at = next((at for at, each in enumerate(waiting) if _answers(part, each)), None)
        if at is not None:
            *before, pair = _one_by_one(waiting[: at + 1])
            yield from before
            yield [*pair, part]
            waiting = waiting[at + 1 :]
            continue
        if part.kind not in BESIDE_CALLS or (waiting and waiting[0].kind == "agent"):
            yield from _one_by_one(waiting)
            waiting = []
        yield [part]
    yield from _one_by_one(waiting)


def _answers(part: _Part, call: _Part) -> bool:
    return part.kind == "result" and call.kind == "call" and part.data["id"] == call.data["id"]


def _one_by_one(waiting: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Each call for itself; the mark of an answer stands with the first."""
    together: list[_Part] = []
    for part in waiting:
        together.append(part)
        if part.kind == "call":
            yield together
            together = []
    if together:
        yield together


def _joined(sections: Iterable[list[_Part]]) -> Iterator[list[_Part]]:
    """The sections, with neighbours that stand in one callout put together."""
    shared: list[_Part] = []
    for section in sections:
        if section[0].kind in _SHARED:
            shared += section
            continue
        if shared:
            yield shared
            shared = []
        yield section
    if shared:
        yield shared


def _title(section: Sequence[_Part], language: Language) -> str:
    """The title of a callout."""
    if section[0].kind not in _SHARED:
        return section[-1].title
    sources = list(dict.fromkeys(part.source for part in section if part.source))
    joined = sentence("session_note.comma", language).join(sources)
    titles = [sentence("session_note.given", language, source=joined)] if sources else []
    titles += dict.fromkeys(part.title for part in section if part.kind in _NAMED)
    return " · ".join(titles) or section[0].title


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

    def folded(kind: str, data: Meta, text: str = "", title: str = "") -> _Part:
        return _Part(at, kind, data, sentence(f"session_note.{title or kind}", language), text)

    match placed.record.event:
        case Spoken() as spoken:
            yield from _message_parts(at, spoken, placed, language)
        case Began() as began:
            yield folded("run", _of_run(began, said=placed.said))
        case ToolsChosen(tools):
            yield folded("tools", {"tools": list(tools)})
        case Tainted(source):
            yield folded("taint", {"source": source}, fenced(source))
        case Summarised(text, kept):
            yield folded("summary", {"kept": kept}, fenced(text))
        case AtLimit(reason, hint):
            yield folded("limit", {"reason": reason, "hint": hint}, inert(reason))
        case Closed() as closed:
            yield _end_part(at, closed, language)
        case _:
            assert_never(placed.record.event)


def _of_run(began: Began, *, said: bool) -> Meta:
    """The data of a run's first record; defaults are left out."""
    meta: Meta = {"run": began.run, **({} if said else {"task": began.task}), "channel": began.channel}
    role = "" if began.role == "owner" else began.role
    meta |= _given(sender=began.sender, group=began.group, job=began.job, purpose=began.purpose, role=role)
    meta |= {} if began.writes is None else {"writes": list(began.writes)}
    return meta if began.spend is None else {**meta, "spend": began.spend}


def _end_part(at: datetime, closed: Closed, language: Language) -> _Part:
    """The end of a run: only a mark, if there is nothing to tell."""
    data: Meta = {"run": closed.run, "outcome": closed.outcome, **_given(reason=closed.reason)}
    text = "\n\n".join(filter(None, (inert(closed.reason), inert(closed.remark))))
    is_told = bool(text) or closed.outcome != "finished"
    outcome = _translated(f"run_outcome.{closed.outcome}", closed.outcome, language)
    return _Part(at, "end", data, sentence("session_note.end", language, outcome=outcome), text, shown=is_told)


def _message_parts(at: datetime, spoken: Spoken, placed: _Placed, language: Language) -> Iterator[_Part]:
    match spoken.message:
        case System():
            data = _given(digest=spoken.digest, audience=spoken.audience)
            yield _Part(at, "system", data, sentence("session_note.system", language))
        case User(text, sender):
            data = _given(sender=sender, after=placed.after, quoted=_inert(text) != text)
            who = sentence("session_note.job", language, job=placed.job) if placed.job else sender
            yield _Part(at, "user", data, who or sentence("session_note.you", language), _inert(text), shown=True)
        case Context(text, source):
            name = _translated(f"context_source.{source}", source, language)
            title = sentence("session_note.given", language, source=name)
            given = [[each.path, *each.lines, each.pin] for each in spoken.given]
            data = {"source": source, **_given(given=given, digest=spoken.digest)}
            if spoken.digest or given:
                yield _Part(at, "context", data, title, inert(spoken.remark), source=name if given else "")
            else:
                yield _Part(at, "context", data, title, _with_remark(fenced(text), spoken), source=name)
        case Assistant(text, calls):
            data = _given(quoted=_inert(text) != text)
            if spoken.usage:
                data = {"usage": _of_usage(spoken.usage), **data}
            title = sentence("session_note.agent", language)
            yield _Part(at, "agent", data, title, _inert(text), shown=bool(text or not calls))
            yield from (_call_part(at, call, language) for call in calls)
        case ToolResult(call, name, text, failed) as result:
            data = {"id": call, "name": name, **_given(failed=failed)}
            data |= {} if spoken.seconds is None else {"seconds": round(spoken.seconds, 3)}
            title = spoken.line or result_line(result, language)
            yield _Part(at, "result", data, title, _with_remark(fenced(text), spoken))
        case _:
            assert_never(spoken.message)


def _call_part(at: datetime, call: ToolCall, language: Language) -> _Part:
    asked = json.dumps(call.arguments, ensure_ascii=False, indent=1)
    data: Meta = {"id": call.id, "name": call.name, **_given(problem=call.problem)}
    title = sentence("session_note.call", language, tool=call_line(call))
    return _Part(at, "call", data, title, fenced(escape_json(asked), "json"))


def _with_remark(text: str, spoken: Spoken) -> str:
    return f"{text}\n\n{inert(spoken.remark)}" if spoken.remark else text


def _of_usage(usage: Usage) -> list[int]:
    """The four counts, without zeros at the end."""
    counts = [usage.input, usage.output, usage.cached, usage.written]
    while counts and not counts[-1]:
        counts.pop()
    return counts


def _given(**data: object) -> Meta:
    """The data that has a value."""
    return {key: value for key, value in data.items() if value}


def _translated(key: str, word: str, language: Language) -> str:
    """The word's sentence; a word without one is returned unchanged."""
    try:
        return sentence(key, language)
    except KeyError:
        return word
