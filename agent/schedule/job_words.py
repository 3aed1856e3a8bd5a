"""A job's note with another title, or with another text below it; all else stays as its person wrote it."""

from collections.abc import Sequence

from agent.markdown.note import Note
from agent.schedule.header_fields import title_of
from agent.schedule.job import PROBLEM
from agent.schedule.job_header import task_text


def with_title(note: Note, path: str, title: str) -> Note:
    """The note with this title, in its header if it has one there, else as its heading; as it is for an empty title."""
    title = " ".join(title.split())
    if title in {"", title_of(note, path.rpartition("/")[2].removesuffix(".md"))}:
        return note
    if note.string("title") is not None:
        return note.with_key("title", title)
    return note.with_body(_with_heading(note.body, title, _newline(note)))


def with_task_text(note: Note, text: str) -> Note:
    """The note with another text of what the job does."""
    text = text.replace("\r\n", "\n").strip()  # as a browser sends it
    return note if text == task_text(note.body) else note.with_body(_with_text(note.body, text, _newline(note)))


def _newline(note: Note) -> str:
    return "\r\n" if b"\r\n" in note.data else "\n"


def _with_heading(body: str, title: str, newline: str) -> str:
    lines = body.splitlines(keepends=True)
    at = _heading(lines)
    if at is None:
        return f"# {title}{newline}{newline}{body.lstrip()}"
    return "".join((*lines[:at], f"# {title}{newline}", *lines[at + 1 :]))


def _with_text(body: str, text: str, newline: str) -> str:
    """The body with another text below its title; the program's line about a problem goes."""
    lines = [line for line in body.splitlines() if not line.startswith(PROBLEM)]
    at = _heading(lines)
    head = lines[: at + 1] if at is not None else []
    return newline.join((*head, *([""] if head and text else []), *(text.split("\n") if text else []), ""))


def _heading(lines: Sequence[str]) -> int | None:
    """The number of the line with the title, None if the first line of the text is none."""
    at = next((number for number, line in enumerate(lines) if line.strip()), None)
    return at if at is not None and lines[at].lstrip().startswith("# ") else None
