"""The records of a session from the text of its note.

A text of which the note has only the hash is returned empty; `session` restores what is kept on the machine. The form
is described in `record_format`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from agent.escape import decode
from agent.events.runs import ChatOrigin
from agent.llm.messages import (
    Assistant,
    Context,
    JsonObject,
    System,
    ToolCall,
    ToolResult,
    Usage,
    User,
    mapping,
    parsed,
)
from agent.llm.presets import KINDS, ModelKind
from agent.loop.record_format import BEFORE_A_TASK, BESIDE_CALLS, TIMED
from agent.loop.records import (
    AtLimit,
    Began,
    Closed,
    PinnedLines,
    RecordedEvent,
    SessionRecord,
    Spoken,
    StoredArgument,
    Summarised,
    Tainted,
    ToolsChosen,
)
from agent.markdown.session_marks import MarkedText, find_records

_FENCE = re.compile(r"^(`{3,})[^\n]*\n(.*?)\n?^\1[ \t]*\r?$", re.MULTILINE | re.DOTALL)


def parse_records(text: str, first_line: int = 1) -> list[SessionRecord]:
    """The records in a session's note, in order; a record that cannot be parsed is left out.

    `first_line` is the line of the file on which `text` begins.
    """
    found: list[SessionRecord] = []
    answer: int | None = None  # the position of the answer to which the next call belongs
    run: int | None = None  # the position of the run whose task is the next message
    for marked in _task_last(_timed(find_records(text, first_line))):
        record = _record(marked)
        if record is None:
            continue
        match record.event:
            case Spoken(message=Assistant(calls=(call,)), arguments=stored) if answer is not None:
                found[answer] = _with_call(found[answer], call, stored)
                continue
            case Spoken(message=Assistant()):
                answer = len(found)
            case Began() if "task" not in marked.data:
                run = len(found)
            case Spoken(message=User(text=task)) if run is not None:
                found[run] = _with_task(found[run], task)
                run = answer = None
            case _ if marked.kind not in BESIDE_CALLS:
                answer = None
        found.append(record)
    return found


def run_ends(text: str) -> Iterator[tuple[str, str]]:
    """The ended or paused runs in a session's note, each with the text for people in its last record."""
    for marked in find_records(text):
        if marked.kind == "end" and "run" in marked.data:
            yield str(marked.data["run"]), marked.text


def _timed(records: Iterable[MarkedText]) -> Iterator[MarkedText]:
    """The records, each with its time: that of the record above, if it has none of its own."""
    last: object = None
    for marked in records:
        if "at" in marked.data:
            last = marked.data["at"]
        elif last is not None and marked.kind not in TIMED:
            marked = replace(marked, data={**marked.data, "at": last})
        yield marked


def _task_last(records: Iterable[MarkedText]) -> Iterator[MarkedText]:
    """The records in the order of the session: a person's message comes after what the model was given for it."""
    held, before = None, 0
    for marked in records:
        if held is not None and (before == 0 or marked.kind not in BEFORE_A_TASK):
            yield held
            held = None
        after = marked.data.get("after")
        if marked.kind == "user" and isinstance(after, int) and after > 0:
            held, before = marked, after
            continue
        yield marked
        before -= 1
    if held is not None:
        yield held


def _record(marked: MarkedText) -> SessionRecord | None:
    data = marked.data
    try:
        event = _event(marked.kind, data, decode(marked.text) if data.get("escaped") is True else marked.text)
        line = marked.line + (1 if data.get("quoted") is True else 0)  # the line below the fence
        return SessionRecord(datetime.fromisoformat(str(data["at"])), event, line) if event is not None else None
    except (ValueError, KeyError, TypeError):
        return None


def _event(kind: str, data: Mapping[str, object], text: str) -> RecordedEvent | None:
    match kind:
        case "run":
            run, channel = str(data["run"]), str(data["channel"])
            task, sender, job, purpose = (str(data.get(key, "")) for key in ("task", "sender", "job", "purpose"))
            group, role = data.get("group") is True, str(data.get("role", "owner"))
            origin = ChatOrigin(*(str(data.get(key, "")) for key in ("chat", "account", "thread")))
            model: ModelKind = next((each for each in KINDS if each == data.get("model")), "main")
            return Began(run, task, channel, sender, group, role, job, purpose, *_limits(data), origin, model)
        case "tools":
            tools = data["tools"]
            return ToolsChosen(tuple(map(str, tools))) if isinstance(tools, list) else None
        case "taint":
            return Tainted(str(data["source"]))
        case "summary":
            return Summarised(_written(data, text), int(str(data["kept"])))
        case "limit":
            return AtLimit(str(data["reason"]), str(data["hint"]))
        case "end":
            return Closed(str(data["run"]), str(data["outcome"]), str(data.get("reason", "")))
        case _:
            return _message(kind, data, text)


def _limits(data: Mapping[str, object]) -> tuple[tuple[str, ...] | None, float | None]:
    """The paths that a run may change, and the dollars that its job may cost on a day; of a value in another form
    nothing is left."""
    writes, spend = data.get("writes"), data.get("spend")
    paths: tuple[str, ...] | None = () if writes is not None else None
    if isinstance(writes, list):
        paths = tuple(map(str, writes))
    dollars = 0.0 if spend is not None else None
    return paths, float(spend) if isinstance(spend, int | float) else dollars


def _message(kind: str, data: Mapping[str, object], text: str) -> Spoken | None:
    match kind:
        case "system":
            return Spoken(System(""), digest=str(data.get("digest", "")), audience=str(data.get("audience", "")))
        case "user":
            return Spoken(User(_unquoted(data, text), str(data.get("sender", ""))))
        case "context":
            return _context(data, text)
        case "agent":
            usage = data.get("usage")
            counts = Usage(*map(int, usage)) if isinstance(usage, list) else None
            return Spoken(Assistant(_unquoted(data, text)), counts)
        case "call":
            return _call(data, text)
        case "result":
            failed, text_digest = data.get("failed") is True, str(data.get("digest", ""))
            content = "" if text_digest else _written(data, text)
            result = ToolResult(str(data["id"]), str(data["name"]), content, failed)
            return Spoken(result, digest=text_digest, seconds=_seconds(data.get("seconds")))
        case _:
            return None


def _seconds(value: object) -> float | None:
    """A duration; None for a note without it, or a value that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def _call(data: Mapping[str, object], text: str) -> Spoken:
    arguments = _object(data["arguments"]) if "arguments" in data else mapping(parsed(_unfenced(text)))
    call = ToolCall(str(data["id"]), str(data["name"]), arguments, str(data.get("problem", "")))
    longer = (StoredArgument(call.id, name, str(digest)) for name, digest in _object(data.get("kept")).items())
    return Spoken(Assistant("", (call,)), arguments=tuple(longer))


def _context(data: Mapping[str, object], text: str) -> Spoken:
    source, rows, text_digest = str(data["source"]), data.get("given"), str(data.get("digest", ""))
    lines = tuple(_pinned(rows)) if isinstance(rows, list) else ()
    is_elsewhere = text_digest or (lines and "text" not in data)
    return Spoken(Context("" if is_elsewhere else _written(data, text), source), pinned=lines, digest=text_digest)


def _pinned(rows: Iterable[object]) -> Iterator[PinnedLines]:
    """The lines in a mark; what has another form is left out."""
    for each in rows:
        match each:
            case [str(path), int(first), int(last), str(pin)]:
                yield PinnedLines(path, (first, last), pin)


def _unquoted(data: Mapping[str, object], text: str) -> str:
    return _unfenced(text) if data.get("quoted") is True else text


def _object(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _written(data: Mapping[str, object], text: str) -> str:
    """The text of a folded record: in its mark, or in older notes below it in a code block."""
    return str(data["text"]) if "text" in data else _unfenced(text)


def _unfenced(text: str) -> str:
    """The content of the code block at the start of a text."""
    match = _FENCE.match(text)
    return match[2] if match else text


def _with_task(record: SessionRecord, task: str) -> SessionRecord:
    return replace(record, event=replace(record.event, task=task)) if isinstance(record.event, Began) else record


def _with_call(record: SessionRecord, call: ToolCall, stored: tuple[StoredArgument, ...]) -> SessionRecord:
    spoken = record.event
    if not isinstance(spoken, Spoken) or not isinstance(spoken.message, Assistant):
        return record
    message = replace(spoken.message, calls=(*spoken.message.calls, call))
    return replace(record, event=replace(spoken, message=message, arguments=(*spoken.arguments, *stored)))
