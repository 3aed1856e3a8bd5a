"""Requests to the agent in a note, and the note with the answer added; works on text only.

A request is a whole note (`agent: ask` in its header, or a note in `inbox/`) or a task: `- [ ] @agent …`, which asks
nothing in a quote, a callout, a comment or code. An answer is enclosed in two comment lines, which separate it from the
person's text; the person's text never changes, except for the character in the checkbox. A notice says why a request
has to wait: the request stays open, and the answer takes the notice's place. So does the next answer with a failure's,
unless a person has written into that. The caller checks permissions and gets the answers.
"""

import re
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.errors import BadNote
from agent.escape import escape
from agent.markdown import blocks, tasks
from agent.markdown.note import UTF16, Note, split

RequestStatus: TypeAlias = Literal["done", "needs_approval", "question", "failed", "stopped"]

PENDING, DRAFT, WAITING = "pending", "draft", "waiting"
_CLOSED = frozenset({"done", "needs_approval", "question", "failed", "stopped", DRAFT})
CAPTURE = "capture"
"""The type of a note that the person has kept for later: as long as it says so, it asks nothing."""
_NO_REQUESTS = frozenset({"about", "session", "approval", "question", "skill", CAPTURE})
_ASKS = re.compile(rb"^agent:[ \t]*['\"]?ask\b", re.IGNORECASE | re.MULTILINE)
"""The line of a header that makes a note a request, where the header as a whole cannot be parsed."""
_NAME = re.compile(r"@agent(?=[\s,:，：]|$)[\s,:，：]*", re.IGNORECASE)
_BEGIN, _END = "%% vault-agent: answer {}{} %%", "%% vault-agent: end of answer %%"
_BLOCK = re.compile(
    r"^[ \t>]*%% vault-agent: answer (\S{1,80})(?: (failed|waits) ([0-9a-f]{12}))? %%[ \t]*\r?\n"
    r"(?:.*\n)*?[ \t>]*%% vault-agent: end of answer %%[ \t]*\r?$",
    re.MULTILINE,
)
"""An answer: the id of its run, and of a failure, or of one that waits for the person, a hash of the text between the
marks: as long as nobody has written into it, the next answer takes its place."""
_NOTICE_BEGIN, _NOTICE_END = "%% vault-agent: waiting %%", "%% vault-agent: end of waiting %%"
_NOTICE = re.compile(
    r"^[ \t>]*%% vault-agent: waiting %%[ \t]*\r?\n"
    r"(?:.*\n)*?[ \t>]*%% vault-agent: end of waiting %%[ \t]*(?:\r?\n|$)",
    re.MULTILINE,
)
_SESSION = re.compile(r"\[\[((?:[^\]|#\n]{1,200}/)?sessions/[^\]|#\n]{1,300})")
_ITEM = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])[ \t]+\[")
_SEALED: dict[RequestStatus, str] = {"failed": "failed", "needs_approval": "waits", "question": "waits"}
"""The words in the marks of answers in whose place the next one comes."""
_STATES: dict[RequestStatus, str] = {"done": "x", "needs_approval": "?", "question": "?", "failed": "!", "stopped": "!"}


@dataclass(frozen=True, slots=True)
class NoteRequest:
    """A request. `line` is the task's line in the file, 0 for a whole note; `base` is the note's text below its header
    when the request was parsed; `key` is equal for requests with the same text in the same note."""

    text: str
    line: int
    base: str
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer for the note: Markdown `text` that ends with its links, and the id of its `run`."""

    run: str
    text: str
    status: RequestStatus = "done"
    reason: str = ""
    heading: str = "Answer"


def open_requests(data: bytes, *, whole: bool) -> tuple[NoteRequest, ...]:
    """The open requests in a note, in the order of their lines; `whole`: the note is a request because of its path."""
    note = _without_notice(data)
    if note.type in _NO_REQUESTS or note.problem is not None or "conflict_of" in note.header or not _is_text(data):
        return ()
    if whole or (note.string("agent") or "").lower() == "ask":
        return _of_note(note)
    return _of_lines(note)


def unreadable_reason(data: bytes) -> str:
    """The reason why a note cannot be parsed for requests, with the remedy; empty if it can."""
    if not _is_text(data):
        return "the note is not UTF-8 text; save it as UTF-8"
    problem = Note.parse(data).problem
    return "" if problem is None else f"{problem.message}; mend the lines between the two ---"


def unreadable_requests(data: bytes, *, whole: bool) -> tuple[NoteRequest, ...]:
    """The places for a notice in a note that seems to ask something, but whose header cannot be parsed; none in any
    other note."""
    note = _without_notice(data)
    if note.problem is None or not _is_text(data):
        return ()
    is_whole = whole or _ASKS.search(split(data).header) is not None
    return _of_note(note) if is_whole else _of_lines(note)


def may_ask(data: bytes) -> bool:
    """True if a note may hold a request: a fast check, so that most notes are not parsed."""
    return b"agent" in data.lower()


def last_session(data: bytes) -> str:
    """The path of the session linked from the last answer in a note; empty if there is none."""
    found = list(_BLOCK.finditer(Note.parse(data).body))
    link = _SESSION.findall(found[-1][0])[-1:] if found else []
    return f"{link[0]}.md" if link else ""


def is_answered(data: bytes, run: str) -> bool:
    """True if the note holds the answer of this run."""
    return any(found[1] == run for found in _BLOCK.finditer(Note.parse(data).body))


def has_answer(data: bytes) -> bool:
    """True if the note holds an answer of the agent."""
    return _BLOCK.search(Note.parse(data).body) is not None


def answer_rows(data: bytes) -> frozenset[int]:
    """The numbers (from 1) of the lines of a note that belong to the agent's answers, with their marks."""
    text = data.decode("utf-8", "surrogateescape")
    spans = ((text.count("\n", 0, found.start()), text.count("\n", 0, found.end())) for found in _BLOCK.finditer(text))
    return frozenset(number + 1 for first, last in spans for number in range(first, last + 1))


def is_pending(data: bytes) -> bool:
    """True if the header has `status: pending`, which asks again."""
    return (Note.parse(data).string("status") or "").lower() == PENDING


def own_words(data: bytes) -> str:
    """The text of a note below its header, without the agent's answers."""
    return _BLOCK.sub("", _without_notice(data).body)


def with_answer(data: bytes, request: NoteRequest, answer: Answer) -> bytes | None:
    """The note with the answer below the request; None when the task is no longer in the note.

    Text that the person added during the run stays below the answer and is a new request. If the request itself was
    changed, the answer goes to the end and the note stays `pending`. Raises `BadNote` for a note that is not text.
    """
    note = _without_notice(data)
    if request.line:
        return _below_task(note, request, answer)
    block = _block(note.body, answer)
    at, again = _place(note.body, request, answer.run)
    body, at = _without_waiting(note.body, answer.run, at)
    body, at = _without_failures_above(body, at)
    after = note.with_body(body[:at] + _gap(body[:at]) + block + body[at:])
    return _with_status(after, PENDING if again and answer.status == "done" else answer.status, answer.reason).data


def with_notice(data: bytes, request: NoteRequest, text: str) -> bytes | None:
    """The note with a notice below the request, in place of an earlier one; None when the task is no longer in the
    note."""
    note = _without_notice(data)
    block = "\n".join([_NOTICE_BEGIN, escape(text).replace("%%", "% %").strip(), _NOTICE_END])
    if request.line:
        found = _open_task(note, request.key, request.line)
        if found is None:
            return None
        lines, at, item = found
        end = sum(len(line) + 1 for line in lines[: at + 1]) - 1
        return note.with_body(_inserted("\n".join(lines), end, item, block)).data
    line = _end(note.body)
    at, _ = _place(note.body, request, "")
    block = block.replace("\n", line) + line
    after = note.with_body(note.body[:at] + _gap(note.body[:at]) + block + note.body[at:])
    return _with_status(after, WAITING, "").data


def waiting_line(data: bytes) -> int:
    """The line above a notice that something waits, which is its task's if it is about a task; 0 without a notice."""
    note = Note.parse(data)
    notice = _NOTICE.search(note.body)
    above = note.body.count("\n", 0, notice.start()) if notice else 0
    return note.body_line + above - 1 if above else 0


def _without_notice(data: bytes) -> Note:
    note = Note.parse(data)
    return note.with_body(_NOTICE.sub("", note.body)) if _NOTICE.search(note.body) else note


def _of_note(note: Note) -> tuple[NoteRequest, ...]:
    status = (note.string("status") or "").lower()
    parts = _BLOCK.split(note.body)[::4]  # the parts between are run ids, words and hashes
    last = parts[-1].strip()
    if status == DRAFT or (len(parts) == 1 and status in _CLOSED):
        return ()
    if not last and status == PENDING:
        last = next((part.strip() for part in reversed(parts) if part.strip()), "")
    return (NoteRequest(last, 0, note.body, task_key("".join(parts))),) if last else ()


def _of_lines(note: Note) -> tuple[NoteRequest, ...]:
    if "@agent" not in note.body.lower():
        return ()
    body = _BLOCK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), note.body)
    found = []
    for task in tasks.find_tasks(blocks.parse_body(body, note.body_line)):
        name = _NAME.match(task.text)
        if task.state == " " and not task.quoted and name and (text := task.text[name.end() :].strip()):
            found.append(NoteRequest(text, task.line, note.body, task_key(task.text)))
    return tuple(found)


def _place(body: str, request: NoteRequest, run: str) -> tuple[int, bool]:
    """The offset for the answer, and True if the person has changed the request."""
    ours = [found for found in _BLOCK.finditer(body) if found[1] == run]
    if ours:
        return _next_line(body, ours[-1].end()), False
    before = request.base.rstrip()
    rest = body[len(before) :]
    if body.startswith(before) and not rest.strip():
        return len(body), False
    if body.startswith(before) and not (rest.split("\n", 1)[0]).strip():
        return _next_line(body, len(before)), False
    return len(body), True


def _next_line(body: str, at: int) -> int:
    end = body.find("\n", at)
    return len(body) if end < 0 else end + 1


def _end(text: str) -> str:
    """The line ending of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def _gap(above: str) -> str:
    line = _end(above)
    if not above or above.endswith(("\n\n", "\n\r\n")):
        return ""
    return line if above.endswith("\n") else line * 2


def _block(body: str, answer: Answer, heading: str = "## {}\n\n") -> str:
    has_failed, sealed = answer.status == "failed", _SEALED.get(answer.status)
    reason = escape(f"*{answer.reason}*") if answer.reason else ""
    text = escape(answer.text).replace("%%", "% %").strip()
    paragraphs = "\n\n".join(filter(None, (reason, text) if has_failed else (text, reason)))
    inner = f"{heading.format(answer.heading)}{paragraphs}\n"
    begin = _BEGIN.format(answer.run, f" {sealed} {_seal(inner)}" if sealed else "")
    text = "\n".join([begin, inner, _END, ""])
    text = "\n".join(line.rstrip("\r") for line in text.split("\n"))
    return text.replace("\n", "\r\n") if "\r\n" in body else text


def _seal(inner: str) -> str:
    """The hash of the text between two marks, wherever a list or a quote indents it."""
    return sha256("\n".join(line.strip("> \t") for line in inner.splitlines()).strip().encode()).hexdigest()[:12]


def _is_left(found: re.Match[str], word: str) -> bool:
    """True for an answer of this kind, `failed` or `waits`, that nobody has written into."""
    inner = found[0].partition("\n")[2].rpartition("\n")[0]
    return found[2] == word and _seal(inner) == found[3]


def _without_waiting(body: str, run: str, at: int) -> tuple[str, int]:
    """The body without what the run has said while it waited, and the offset where that stood; else `at`."""
    for found in _BLOCK.finditer(body):
        if found[1] == run and _is_left(found, "waits"):
            return body[: found.start()] + body[_next_line(body, found.end()) :], found.start()
    return body, at


def _without_failures_above(body: str, at: int) -> tuple[str, int]:
    """The body without the failures right above an offset, and the offset there."""
    for found in reversed(list(_BLOCK.finditer(body, 0, at))):
        if body[found.end() : at].strip() or not _is_left(found, "failed"):
            break
        body, at = body[: found.start()] + body[at:], found.start()
    return body, at


def _without_failures_below(body: str, at: int) -> str:
    """The body without the failures right below an offset."""
    while (found := _BLOCK.search(body, at)) and not body[at : found.start()].strip() and _is_left(found, "failed"):
        body = body[:at] + body[_next_line(body, found.end()) :]
    return body


def _below_task(note: Note, request: NoteRequest, answer: Answer) -> bytes | None:
    found = _open_task(note, request.key, request.line)
    if found is None:
        return None
    lines, at, item = found
    lines[at] = lines[at][: item.end()] + _STATES[answer.status] + lines[at][item.end() + 1 :]
    text, _ = _without_waiting("\n".join(lines), answer.run, 0)
    ours = [found for found in _BLOCK.finditer(text) if found[1] == answer.run]
    end = ours[-1].end() if ours else sum(len(line) + 1 for line in lines[: at + 1]) - 1
    block = _block("", answer, "**{}**\n\n").rstrip("\n")
    text = _without_failures_below(text, _next_line(text, end))
    return note.with_body(_inserted(text, end, item, block)).data


def _inserted(text: str, at: int, item: re.Match[str], block: str) -> str:
    """The text with a block put in at an offset, indented so that it belongs to a list's item."""
    at = _next_line(text, at)
    before = item[1] + " " * (len(item[2]) + 1)
    rows = [(before + row).rstrip(" ") for row in block.split("\n")]
    line = _end(text)
    gap = "" if text[:at].endswith("\n") else line
    return text[:at] + gap + line.join(rows) + line + text[at:]


def _open_task(note: Note, key: str, line: int) -> tuple[list[str], int, re.Match[str]] | None:
    """The body's lines, the index of the open task with this key nearest to a line, and its match; None for no task."""
    body = _BLOCK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), note.body)
    same = [
        task
        for task in tasks.find_tasks(blocks.parse_body(body, note.body_line))
        if task.state in " ?" and not task.quoted and task_key(task.text) == key
    ]
    if not same:
        return None
    lines = note.body.split("\n")
    at = min(same, key=lambda each: abs(each.line - line)).line - note.body_line
    item = _ITEM.match(lines[at])
    return None if item is None else (lines, at, item)


def _with_status(note: Note, status: str, reason: str) -> Note:
    """The note with the status in its header; unchanged when the header cannot be edited (the answer shows it)."""
    try:
        after = note.with_key("status", status)
        if reason:
            return after.with_key("status_reason", " ".join(reason.split())[:200])
        return after.without_key("status_reason") if "status_reason" in after.header else after
    except BadNote:
        return note


def task_key(text: str) -> str:
    """The key of a request with this text; differences in whitespace do not count."""
    return sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:16]


def _is_text(data: bytes) -> bool:
    if data.startswith(UTF16):
        return False
    try:
        split(data).body.decode("utf-8")
    except UnicodeError:
        return False
    return True
