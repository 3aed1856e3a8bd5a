"""The note of a new job, made of plain words or of a header's fields, and checked as any job's note is.

A job's note with another title, or with another text below it; all else stays as its person wrote it.

The jobs that the package has ready: none is in a vault before its person switches it on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent.config.resources import resource
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.lazy import later
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.markdown.yaml_write import Header, Value
from agent.schedule.channel_words import without_channel
from agent.schedule.header_fields import plain_id, readable_id, title_of
from agent.schedule.job import PROBLEM, TYPE, Job, JobProblem, JobSource
from agent.schedule.job_header import begins_as_wish, parse_job, task_text
from agent.schedule.trigger_lines import raise_unclear
from agent.schedule.triggers import At
from agent.texts import Language
from agent.times.reading import Unclear, Understood, remarks
from agent.vault.folders import JOBS, AgentFolder
from agent.vault.store import Vault
from agent.vault.template import read_template

if TYPE_CHECKING:
    from agent.times.when import parse_when
else:  # most jobs are made of fields
    parse_when = later("agent.times.when", "parse_when")


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


_EXAMPLES = "every weekday at 9 brief me; every 2 hours look at the inbox; 每个工作日九点给我简报"


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job that has no note yet, and the bytes of that note. `time` is what its words came to, if it was made of
    words."""

    job: Job
    data: bytes
    time: Understood | None = None

    def remarks(self, language: Language) -> tuple[str, ...]:
        """The remarks about the job's time that the person did not write themselves."""
        return remarks(self.time, language) if self.time is not None else ()


def job_of_words(vault: Vault, words: str, now: datetime) -> NewJob:
    """The job that a sentence asks for; raises `UserError` if it is empty or its time is not clear."""
    if not words.strip():
        raise UserError("the sentence is empty", hint=_EXAMPLES)
    asked, channel = without_channel(words)
    found = parse_when(asked, now)
    if isinstance(found, Unclear):
        raise_unclear(words, found, examples="" if begins_as_wish(words) else _EXAMPLES)
    task = found.rest.strip()
    header: dict[str, Value] = {"on": found.on, **({"timezone": found.zone} if found.zone else {})}
    header |= {"channel": channel} if channel else {}
    return replace(make_job(vault, short_title(task or asked), task, header, "static", now), time=found)


def _header(text: str, fields: Mapping[str, Value], source: JobSource, now: datetime) -> Header:
    on = fields.get("on")
    return {
        "type": "job",
        **({"catch_up": "once"} if isinstance(on, Mapping) and on.keys() == {"at"} else {}),
        **({"remind": True} if begins_as_wish(text) and "task" not in fields else {}),
        **fields,
        "status": "active",
        "source": source,
        "created": now.replace(microsecond=0),
    }


def make_job(
    vault: Vault, title: str, text: str, fields: Mapping[str, Value], source: JobSource, now: datetime
) -> NewJob:
    """A job with these fields of the header, in a note of a name that is free; raises `UserError` if it cannot run.

    What is to be done once is done late rather than never, and a text that begins with a wish to be reminded is a
    reminder, unless the fields say otherwise.
    """
    header = _header(text, fields, source, now)
    path = _free_path(vault, "-".join(short_title(title).casefold().split()) or "job")
    stem = PurePosixPath(path).stem
    if "id" not in header and plain_id(stem, TYPE) != stem:  # the id would be a number that says nothing
        header = {"id": readable_id(stem, TYPE), **header}
    data = Note.compose(header, f"# {' '.join(title.split())}\n" + (f"\n{text}\n" if text else "")).data
    job = parse_job(path, data)
    if isinstance(job, JobProblem) or job is None:
        raise UserError("{problem}", hint="{fix}", problem=job.message, fix=job.hint) if job else UserError("no job")
    if all(isinstance(each, At) for each in job.triggers) and not job.next_occurrences(now, 1):
        raise UserError("that time is over", hint="give one that is still to come")
    return NewJob(job, data)


def _free_path(vault: Vault, name: str) -> str:
    """A path in `jobs/` that no note has."""
    for number in range(1, 1_000):
        path = vault.home.at(f"{JOBS}{name}{f'-{number}' if number > 1 else ''}.md")
        if vault.read(path) is None:
            return path
    raise UserError("too many jobs are named {name}", hint="vault-agent jobs list shows them", name=name)


def job_templates(home: AgentFolder, language: Language) -> tuple[NewJob, ...]:
    """The jobs as they would be in a vault, active, sorted by id."""
    files = read_template(resource("vault_template"), language)
    found: list[NewJob] = []
    for path in (each for each in files if each.startswith(JOBS)):
        data = Note.parse(files[path]).with_key("status", "active").data
        job = parse_job(home.at(path), data)
        if isinstance(job, Job):
            found.append(NewJob(job, data))
    return tuple(sorted(found, key=lambda each: each.job.id))


def find_template(home: AgentFolder, language: Language, name: str) -> NewJob | None:
    """The ready job of this id, note or title."""
    wanted = PurePosixPath(name.removesuffix(".md")).name.casefold()
    ready = job_templates(home, language)
    return next((each for each in ready if wanted in {each.job.id.casefold(), each.job.title.casefold()}), None)
