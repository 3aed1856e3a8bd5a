"""The daily note: a log of tasks, a summary of the day, and text that a person writes.

A person may own the note and its form: the agent appends at the end and changes only the lines between its own marks,
and stops changing these once a person has edited them. Shortening an old day keeps every line outside the agent's log.
The content of the summary is left to `day_summary`.
"""

import hashlib
import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from agent import texts
from agent.dataclass import dataclass
from agent.escape import escape
from agent.markdown.inertness.active import active_parts, without_marks
from agent.markdown.note import Note
from agent.memory.blame import AuthoredLine
from agent.memory.understanding.statements import is_small_talk, sentences_in
from agent.texts import Language
from agent.vault.day_section import before_end, is_mark
from agent.vault.folders import SESSION_LINK, AgentFolder
from agent.vault.secrets import masked
from agent.vault.worktree.paths import is_note

if TYPE_CHECKING:
    from agent.events.runs import TaskCompleted
    from agent.vault.store import Vault

DayPart: TypeAlias = Literal["conversations", "answers", "upkeep", "notices", "times"]
"""The parts of a day's log: what was asked at the terminal, and in notes, what the program did by itself, and what it
wanted to say by itself; earlier versions wrote when it was awake, too."""
_TITLE, _QUOTED = 60, 200
"""The most characters of a task in its heading, and of a sentence quoted below it."""

_WORD = 20
"""The most characters of a word that is left out rather than cut."""

_LOGGED = re.compile(r"^###? (\d\d:\d\d) - (.+?)\s*$", re.MULTILINE)
"""The heading of a task; older notes have it without sections, one level higher."""
_HEADING = re.compile(r"^#{1,3} ")
_PART = re.compile(r"^##? (?!\d\d:\d\d - )[^\n]*", re.MULTILINE)
_SESSION = re.compile(SESSION_LINK + r"[^\]\n]+\]\]")
_BEGIN = re.compile(r"^%% vault-agent: summary ([0-9a-f]{12})( of a model)? %%\r?\n", re.MULTILINE)
_END = re.compile(r"^%% vault-agent: end of summary %%[ \t]*(?:\r?\n|\Z)", re.MULTILINE)

_SECTIONS = frozenset(
    f"## {title}" for kind in get_args(DayPart) for title in texts.in_all_languages(f"memory_day.{kind}")
)
_NOTICES = frozenset(f"## {title}" for title in texts.in_all_languages("memory_day.notices"))
_OUTCOMES = frozenset(("limit", "needs_approval", "question_asked", "interrupted", "failed"))


@dataclass(frozen=True, slots=True)
class Logged:
    """One task in a day's log: its time and title, its session's link (may be empty)."""

    time: str
    title: str
    session: str


def new_note(day: date) -> str:
    """The initial text of a day's note of the agent's own."""
    return Note.compose({"type": "daily", "date": day}, f"# {day.isoformat()}\n").text


def beginning(vault: "Vault", day: date) -> bytes:
    """The initial text of the note of a day: where the person has daily notes of their own, what Obsidian would begin
    one with, which is their template or nothing."""
    days = vault.home.days
    if days is None:
        return new_note(day).encode()
    template = days.template.strip("/").removesuffix(".md") + ".md"
    data = (vault.read(template) if is_note(template) else None) or b""
    filled = days.filled(data.decode("utf-8", "surrogateescape"), vault.clock.now(), day)
    return (filled or "").encode("utf-8", "surrogateescape")


def section(kind: DayPart, language: Language) -> str:
    """The heading of the part of the log for one kind."""
    return f"## {texts.text(f'memory_day.{kind}', language)}"


def log_block(event: "TaskCompleted", when: datetime, language: Language, *, quote: bool = True) -> str:
    """The block that a finished task adds to the log; without the answer if `quote` is False."""
    task = inert(_flat(masked(event.task))) or "…"
    is_in_session = len(task) <= _TITLE or event.session  # the session's note begins with it
    bullets = [] if is_in_session else [texts.text("memory_day.asked", language) + cut(task, _QUOTED)]
    silent = next(filter(event.answer.startswith, texts.in_all_languages("llm.silent")), "")
    answer = inert(_first(masked(event.answer.removeprefix(silent)))) if quote else ""
    bullets += [texts.text("memory_day.answer", language) + answer] if answer else []
    bullets += [texts.text("memory_day.silent", language)] if silent else _course(event, language)
    bullets += (
        [texts.text("memory_day.where", language, link=f"[[{event.session.removesuffix('.md')}]]")]
        if event.session
        else []
    )
    return block(when, cut(task, _TITLE), bullets)


def _course(event: "TaskCompleted", language: Language) -> list[str]:
    """The line with the outcome; none for a task that is done."""
    if event.outcome == "finished":
        return []
    is_named = event.outcome in _OUTCOMES
    line = texts.text(f"memory_day.{event.outcome}", language) if is_named else event.outcome.replace("_", " ")
    return [line[0].upper() + line[1:]]


def asked_by_guest(language: Language) -> str:
    """The log title of a guest's task, which leaves out their words."""
    return texts.text("memory_day.guest", language)


def inert(text: str) -> str:
    """The text with everything escaped that an editor would load or run when it shows the note."""
    plain = escape(text).replace("`", "'").replace("<", "&lt;").replace("![", "!\\[").replace("%%", "% %")
    return without_marks(plain) if active_parts(plain) else plain


def block(when: datetime, title: str, bullets: Sequence[str]) -> str:
    """One block of a section of the log: a heading with the time, and a list."""
    rows = [f"### {when:%H:%M} - {title}", "", *(f"- {bullet}" for bullet in bullets)]
    return "\n" + "\n".join(rows) + "\n"


def log(text: str) -> tuple[Logged, ...]:
    """The tasks in a day's log, in order; a notice is none."""
    text = _replaced(text, "")
    heads = list(_LOGGED.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    notices = _notices(text)
    found = []
    for head, end in zip(heads, ends, strict=True):
        if head.start() in notices:
            continue
        part = text[head.end() : end]
        part = part[: following.start()] if (following := _PART.search(part)) else part
        session = _SESSION.search(part)
        found.append(Logged(head[1], head[2], session[0] if session else ""))
    return tuple(found)


def _notices(text: str) -> range:
    """The characters of the part of the notices: from its heading to the next one of its level or above."""
    heads = list(_PART.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    found = (range(head.start(), end) for head, end in zip(heads, ends, strict=True) if head[0].rstrip() in _NOTICES)
    return next(found, range(0))


def is_logged(note: bytes, session: str) -> bool:
    """True if the day's log has a link to this session."""
    return bool(session) and f"[[{session.removesuffix('.md')}]]".encode() in note


def _marks(text: str) -> tuple[re.Match[str], re.Match[str]] | None:
    """The matches of the two marks around the summary; None unless both are there."""
    begin = _BEGIN.search(text)
    end = _END.search(text, begin.end()) if begin else None
    return (begin, end) if begin and end else None


def _replaced(text: str, section: str) -> str:
    """The note with `section` in place of the summary and its marks."""
    marks = _marks(text)
    return text[: marks[0].start()] + section + text[marks[1].end() :] if marks else text


def summary_of(text: str) -> str | None:
    """The summary between the marks; None without marks."""
    marks = _marks(text)
    return text[marks[0].end() : marks[1].start()] if marks else None


def without_summary(text: str) -> str:
    """The note without the agent's summary and its marks."""
    return _replaced(text, "")


def with_summary(text: str, summary: str, *, of_model: bool = False) -> str:
    """The note with this summary between the marks; unchanged if a person has edited the text between them. Only a
    model's summary is marked as such."""
    if _BEGIN.search(text) is None:
        above, below = before_end(text)
        gap = "" if not above or above.endswith("\n\n") else "\n" if above.endswith("\n") else "\n\n"
        return above + gap + _section(summary, of_model=of_model) + below
    return _replaced(text, _section(summary, of_model=of_model)) if is_sealed(text) else text


def is_sealed(text: str) -> bool:
    """True if the summary is unchanged since the agent wrote it."""
    marks = _marks(text)
    return marks is not None and _seal(text[marks[0].end() : marks[1].start()]) == marks[0][1]


def is_of_model(text: str) -> bool:
    """True if a model wrote the summary: the program does not replace it by one that only quotes and counts."""
    marks = _marks(text)
    return marks is not None and bool(marks[0][2])


def resealed(text: str, summary: str) -> str:
    """The note with the existing summary replaced by this one."""
    return _replaced(text, _section(summary, of_model=is_of_model(text)))


def _section(summary: str, *, of_model: bool) -> str:
    seal = f"{_seal(summary)} of a model" if of_model else _seal(summary)
    return f"%% vault-agent: summary {seal} %%\n{summary}%% vault-agent: end of summary %%\n"


def is_section(line: str) -> bool:
    """True for a heading of a part of the log."""
    return line.rstrip() in _SECTIONS


def shortened(lines: Sequence[AuthoredLine]) -> str:
    """The note without the agent's log lines; its summary stays, and a person's lines stay below their headings."""
    remaining = [left for part in _parts(lines) if (left := _theirs(part))]
    following = [*(part[0].text for part in remaining[1:]), ""][: len(remaining)]
    parts = (part for part, after in zip(remaining, following, strict=True) if not _is_left_empty(part, after))
    return "".join(line.text for part in parts for line in part)


def _theirs(part: list[AuthoredLine]) -> list[AuthoredLine]:
    """What stays of a part: of a task in the log the person's lines, below its heading; of a section all but the
    program's items."""
    if part[0].own and is_section(part[0].text):
        return [line for line in part if not (line.own and line.text.startswith("- "))]
    if not (part[0].own and _LOGGED.match(part[0].text)):
        return part
    theirs = [line for line in part[1:] if not line.own]
    return [part[0], *theirs] if any(line.text.strip() for line in theirs) else []


def _is_left_empty(part: list[AuthoredLine], after: str) -> bool:
    """True for a heading of the log of which no task is left; `after` is the line after the part."""
    is_of_log = part[0].own and is_section(part[0].text)
    return is_of_log and not after.startswith("### ") and not any(line.text.strip() for line in part[1:])


def has_log(text: str) -> bool:
    """True if the note has a log."""
    return _LOGGED.search(text) is not None


def _parts(lines: Sequence[AuthoredLine]) -> list[list[AuthoredLine]]:
    """The lines by section; the agent's summary is one section, with any headings inside it."""
    parts: list[list[AuthoredLine]] = [[]]
    inside = False
    for line in lines:
        begins = _BEGIN.match(line.text) is not None
        is_end = is_mark(line.text)
        if begins or is_end or (_HEADING.match(line.text) and not inside):
            parts.append([])
        parts[-1].append(line)
        inside = (inside or begins) and _END.match(line.text) is None
        if not inside and (is_end or _END.match(line.text)):
            parts.append([])
    return [part for part in parts if part]


def _seal(summary: str) -> str:
    plain = "\n".join(line.rstrip() for line in summary.splitlines())
    return hashlib.sha256(plain.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _first(text: str) -> str:
    """The first sentence that says something: no greeting, no row of a table, nothing that only leads to a list."""
    lines = [line for line in text.strip().splitlines() if not line.lstrip().startswith("|")]
    begun = "\n".join(lines).strip().lstrip("#>*- ")
    found = [each for each in filter(None, map(_flat, sentences_in(begun))) if not is_small_talk(each)]
    if len(found) > 1 and not begun.startswith(found[0]) and len(found[0]) <= (_WORD if found[0].isascii() else 5):
        del found[0]  # "Hello Robin!": what is left of it is a name
    return cut(next((each for each in found if not each.endswith((":", "："))), ""), _QUOTED)


def _flat(text: str) -> str:
    """The text on one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def cut(text: str, most: int) -> str:
    """The beginning of a text; a link in it is whole or left out, and so is the last word if it is a short one."""
    if len(text) <= most:
        return text
    beginning = text[: most - 1]
    if beginning.rfind("[[") > beginning.rfind("]]"):
        beginning = beginning[: beginning.rfind("[[")]
    elif text[most - 1].isalnum() and most - 1 - beginning.rfind(" ") <= _WORD:
        beginning = beginning[: beginning.rfind(" ")]
    return beginning.rstrip() + "…"


def link_to(day: date, home: AgentFolder) -> str:
    """A link to a day's note."""
    return f"[[{PurePosixPath(home.day_note(day)).stem}]]"
