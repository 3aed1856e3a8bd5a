"""The records of a session's note: each has a line for the machine, a heading, and text for people.

A record begins with an Obsidian comment, invisible in reading view, and ends where the next one begins:

    %% vault-agent: user {"at": "2026-11-21T14:12:00+00:00", "sender": ""} %%
    ### 14:12 You

    The message of a person.

Messages of people and of the model are written unchanged, unless an editor showing the note would fetch or run
something, or they would hide the following text (HTML, a comment, an open code block): then they are in a code block,
as calls, results and texts of sources always are. A line that looks like a record's begins with a backslash; control
and invisible characters are escaped (`"escaped": true`). Parsing returns every character that was written, and a
person's later changes.

Memories are not copied into the note: it has links to their lines, and `"given"` in the mark. Parsing returns them
without text; who goes on with the session reads the lines again.

Loading and saving the note is left to `session`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias, assert_never

from agent.escape import decode, encode, escape_json, escape_line, is_inert
from agent.llm.messages import Assistant, Context, JsonObject, Message, System, ToolCall, ToolResult, Usage, User
from agent.markdown import blocks
from agent.texts import Language
from agent.texts import text as sentence
from agent.tools.taint import active


@dataclass(frozen=True, slots=True)
class Began:
    """The begin of a run with this task; `sender` asked through `channel`, possibly in a `group`, and is `owner` or
    `guest`; `job` is the job that the run belongs to."""

    run: str
    task: str
    channel: str
    sender: str = ""
    group: bool = False
    role: str = "owner"
    job: str = ""


@dataclass(frozen=True, slots=True)
class PinnedLines:
    """Lines of a note (inclusive, from 1). `pin` is the id of a commit that has the note as it was, or of its content
    if no commit had it; empty if neither is known."""

    path: str
    lines: tuple[int, int]
    pin: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message. `usage` is that of the model call that returned it; `remark` is for people: receipts, commits.

    `given` are the lines that the message consists of: the note has these instead of the message's text.
    """

    message: Message
    usage: Usage | None = None
    remark: str = ""
    given: tuple[PinnedLines, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolsChosen:
    """The tools that are described to the model from here on, in this order."""

    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tainted:
    """The run has read untrusted text from `source`."""

    source: str


@dataclass(frozen=True, slots=True)
class Summarised:
    """All messages before this record, except the system message and the last `kept`, are replaced by `text`."""

    text: str
    kept: int


@dataclass(frozen=True, slots=True)
class AtLimit:
    """A limit ended the run: only a conclusion and the end follow, also when the run is resumed."""

    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Closed:
    """The end or pause of a run; `remark` is for people."""

    run: str
    outcome: str
    reason: str = ""
    remark: str = ""


RecordedEvent: TypeAlias = Began | Spoken | ToolsChosen | Tainted | Summarised | AtLimit | Closed


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """An event with its time."""

    at: datetime
    event: RecordedEvent


_MARK = re.compile(r"^%% vault-agent: ([a-z]+) (\{.*\}) %%\r?$", re.MULTILINE)
_OURS = r"%% vault-agent: |#{1,6}[ \t]+[0-9]{2}:[0-9]{2}\b"
_LOOKS_LIKE_OURS = re.compile(rf"^( {{0,3}})(\\*(?:{_OURS}))", re.MULTILINE)
_ESCAPED = re.compile(rf"^( {{0,3}})\\(\\*(?:{_OURS}))", re.MULTILINE)
_HEADING = re.compile(r"\A[^\n]*\n\r?\n")
_ENDINGS = ("\n\n", "\r\n\r\n", "\n")
_FENCE = re.compile(r"^(`{3,})[^\n]*\n(.*?)\n?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_RUNS_OF_TICKS = re.compile(r"`{3,}")

_SPECIAL = re.compile(r"[%<]|(?<=!)\[")
_COMMENT = re.compile("%%|<!--")
_TAG = re.compile(
    r"<(?!/?(?:b|br|code|del|em|i|ins|kbd|mark|s|strong|sub|sup|u)\s{0,8}/?>)(?![a-z][a-z0-9+.-]{1,31}:)[a-z/!?]",
    re.IGNORECASE,
)
"""HTML, other than plain words inside it and addresses in angle brackets."""
_BELOW = "Below."
_SHOWING = re.compile(r"[<>`!\[\]]")

Meta: TypeAlias = dict[str, object]


def format_records(records: Sequence[SessionRecord], language: Language = "en") -> str:
    """The records as text for the end of a session's note, with headings in a language."""
    return "".join(_write(record.at, *part) for record in records for part in _parts(record.event, language))


def parse_records(text: str) -> list[SessionRecord]:
    """The records in a session's note, in order; a record that cannot be parsed is left out."""
    found: list[SessionRecord] = []
    for kind, said, block in _blocks(text):
        record = _read(kind, said, block)
        if record is None:
            continue
        call = record.event.message if isinstance(record.event, Spoken) else None
        if kind == "call" and found and isinstance(call, Assistant):
            found[-1] = _with_call(found[-1], call.calls[0])
        else:
            found.append(record)
    return found


def run_ends(text: str) -> Iterator[tuple[str, str]]:
    """The ended or paused runs in a session's note, each with the text for people in its last record."""
    for kind, said, block in _blocks(text):
        record = _read(kind, said, block) if kind == "end" else None
        if record is not None and isinstance(record.event, Closed):
            yield record.event.run, _body(block)


def _blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """The kind and data of each mark, with the text up to the next mark."""
    marks = list(_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    return ((mark[1], mark[2], text[mark.end() + 1 : end]) for mark, end in zip(marks, ends, strict=True))


Part: TypeAlias = tuple[str, Meta, str, str]
"""A record's kind, its data, its heading, its body."""


def _parts(event: RecordedEvent, language: Language) -> Iterator[Part]:
    match event:
        case Spoken():
            yield from _message_parts(event, language)
        case Began():
            yield "run", _of_run(event), sentence("session_note.run", language), f"`{event.run}`"
        case ToolsChosen(tools):
            named = ", ".join(f"`{name}`" for name in tools)
            yield "tools", {"tools": list(tools)}, sentence("session_note.tools", language), named
        case Tainted(source):
            yield "taint", {"source": source}, sentence("session_note.taint", language), _fenced(source)
        case Summarised(text, kept):
            yield "summary", {"kept": kept}, sentence("session_note.summary", language), _fenced(text)
        case AtLimit(reason, hint):
            yield "limit", {"reason": reason, "hint": hint}, sentence("session_note.limit", language), inert(reason)
        case Closed(run, outcome, reason, remark):
            body = "\n\n".join(filter(None, [inert(reason) or f"`{run}`", inert(remark)]))
            heading = sentence(
                "session_note.end", language, outcome=_translated(f"run_outcome.{outcome}", outcome, language)
            )
            yield "end", {"run": run, "outcome": outcome, "reason": reason}, heading, body
        case _:
            assert_never(event)


def _translated(key: str, word: str, language: Language) -> str:
    """The word's sentence; a word without one is returned unchanged."""
    try:
        return sentence(key, language)
    except KeyError:
        return word


def _of_run(began: Began) -> Meta:
    """The data of a run's first record; defaults are left out."""
    meta: Meta = {"run": began.run, "task": began.task, "channel": began.channel, "sender": began.sender}
    unusual = {"group": began.group, "job": began.job, "role": "" if began.role == "owner" else began.role}
    return {**meta, **{key: value for key, value in unusual.items() if value}}


def _message_parts(spoken: Spoken, language: Language) -> Iterator[Part]:
    remark = f"\n\n{inert(spoken.remark)}" if spoken.remark else ""
    match spoken.message:
        case System(text):
            yield "system", {}, sentence("session_note.system", language), _fenced(text)
        case User(text, sender):
            heading = sender or sentence("session_note.you", language)
            yield "user", {"sender": sender, **_if_quoted(text)}, heading, inert(text)
        case Context(text, source):
            name = _translated(f"context_source.{source}", source, language)
            heading = sentence("session_note.given", language, source=name)
            if spoken.given:
                given = [[each.path, *each.lines, each.pin] for each in spoken.given]
                yield "context", {"source": source, "given": given}, heading, remark.strip("\n")
            else:
                yield "context", {"source": source}, heading, _fenced(text) + remark
        case Assistant(text, calls):
            usage = spoken.usage
            meta: Meta = {"usage": [usage.input, usage.output, usage.cached, usage.written]} if usage else {}
            yield "agent", {**meta, **_if_quoted(text)}, sentence("session_note.agent", language), inert(text)
            for call in calls:
                asked = json.dumps(call.arguments, ensure_ascii=False, indent=1)
                named: Meta = {"id": call.id, "name": call.name, "problem": call.problem}
                heading = sentence("session_note.call", language, tool=call.name)
                yield "call", named, heading, _fenced(escape_json(asked), "json")
        case ToolResult(call, name, text, failed):
            heading = sentence(f"session_note.{'failed' if failed else 'done'}", language, tool=name)
            yield "result", {"id": call, "name": name, "failed": failed}, heading, _fenced(text) + remark
        case _:
            assert_never(spoken.message)


def _write(at: datetime, kind: str, meta: Meta, heading: str, body: str) -> str:
    if not is_inert(body):
        body, meta = encode(body), {**meta, "escaped": True}
    said = _SPECIAL.sub(_escape, escape_json(json.dumps({"at": at.isoformat(), **meta}, ensure_ascii=False)))
    title = inert_line(heading)
    body = _LOOKS_LIKE_OURS.sub(r"\1\\\2", body)
    return f"%% vault-agent: {kind} {said} %%\n### {at:%H:%M} {title}\n\n{body}\n\n"


def inert(text: str) -> str:
    """The text, in a code block if an editor showing it would fetch or run something, or hide the text below: an
    untrusted author may have put a secret into an address."""
    return _fenced(text) if _acts(text) else text


def inert_line(text: str) -> str:
    """The text on one line, escaped, without characters that make an editor fetch, run or hide something."""
    flat = " ".join(text.split())
    return escape_line(_SHOWING.sub(" ", flat).replace("%%", "% %") if _acts(flat) else flat)


def _acts(text: str) -> bool:
    """True if a note with the text would fetch or run something, or hide the text below it."""
    body = blocks.parse_body(f"{text}\n\n{_BELOW}")
    if body.kinds[-1] != "text" or _COMMENT.search(text) or _TAG.search(body.visible):
        return True
    return bool(active("", text.encode("utf-8", "replace")))


def _if_quoted(text: str) -> Meta:
    return {} if inert(text) == text else {"quoted": True}


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _fenced(text: str, language: str = "text") -> str:
    longest = max((len(ticks) for ticks in _RUNS_OF_TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _read(kind: str, said: str, block: str) -> SessionRecord | None:
    try:
        meta = json.loads(said)
        body = _body(block)
        event = _event(kind, meta, decode(body) if meta.get("escaped") is True else body)
        return SessionRecord(datetime.fromisoformat(str(meta["at"])), event) if event is not None else None
    except (ValueError, KeyError, TypeError):
        return None


def _body(block: str) -> str:
    body = _HEADING.sub("", block, count=1)
    ending = next((end for end in _ENDINGS if body.endswith(end)), "")
    body = body.removesuffix(ending)
    return _ESCAPED.sub(r"\1\2", body)


def _event(kind: str, meta: Mapping[str, object], body: str) -> RecordedEvent | None:
    match kind:
        case "run":
            run, task, channel, sender = (str(meta[key]) for key in ("run", "task", "channel", "sender"))
            role, job = str(meta.get("role", "owner")), str(meta.get("job", ""))
            return Began(run, task, channel, sender, meta.get("group") is True, role, job)
        case "tools":
            tools = meta["tools"]
            return ToolsChosen(tuple(map(str, tools))) if isinstance(tools, list) else None
        case "taint":
            return Tainted(str(meta["source"]))
        case "summary":
            return Summarised(_unfenced(body), int(str(meta["kept"])))
        case "limit":
            return AtLimit(str(meta["reason"]), str(meta["hint"]))
        case "end":
            return Closed(str(meta["run"]), str(meta["outcome"]), str(meta["reason"]))
        case _:
            return _message(kind, meta, body)


def _message(kind: str, meta: Mapping[str, object], body: str) -> Spoken | None:
    match kind:
        case "system":
            return Spoken(System(_unfenced(body)))
        case "user":
            return Spoken(User(_unquoted(meta, body), str(meta["sender"])))
        case "context":
            source, given = str(meta["source"]), meta.get("given")
            if isinstance(given, list):
                return Spoken(Context("", source), given=tuple(_pinned(given)))
            return Spoken(Context(_unfenced(body), source))
        case "agent":
            usage = meta.get("usage")
            return Spoken(
                Assistant(_unquoted(meta, body)), Usage(*map(int, usage)) if isinstance(usage, list) else None
            )
        case "call":
            arguments: JsonObject = json.loads(_unfenced(body))
            call = ToolCall(str(meta["id"]), str(meta["name"]), arguments, str(meta["problem"]))
            return Spoken(Assistant("", (call,)))
        case "result":
            text, failed = _unfenced(body), meta["failed"] is True
            return Spoken(ToolResult(str(meta["id"]), str(meta["name"]), text, failed))
        case _:
            return None


def _pinned(given: Iterable[object]) -> Iterator[PinnedLines]:
    """The lines in a mark; what has another form is left out."""
    for each in given:
        match each:
            case [str(path), int(first), int(last), str(pin)]:
                yield PinnedLines(path, (first, last), pin)


def _unquoted(meta: Mapping[str, object], body: str) -> str:
    return _unfenced(body) if meta.get("quoted") is True else body


def _unfenced(body: str) -> str:
    """The content of the code block at the start of a body."""
    match = _FENCE.match(body)
    return match[2] if match else body


def _with_call(record: SessionRecord, call: ToolCall) -> SessionRecord:
    spoken = record.event
    if not isinstance(spoken, Spoken) or not isinstance(spoken.message, Assistant):
        return record
    message = replace(spoken.message, calls=(*spoken.message.calls, call))
    return replace(record, event=replace(spoken, message=message))
