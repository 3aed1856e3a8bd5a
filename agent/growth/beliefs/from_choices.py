"""What the person has chosen in notes in `questions/`: an option of a question, or which of two values of a belief
holds. Only answers to questions of their own runs in which no text by others was read."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import get_args

from agent.errors import AgentError
from agent.growth.beliefs.from_talk import choice_of, is_alone, option_words
from agent.growth.beliefs.sign import Dimension, DimensionKind, Sign
from agent.loop.session import load_session
from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.memory.profile.evidence import Evidence
from agent.vault.folders import ARCHIVE, QUESTIONS
from agent.vault.store import Vault

BELIEF, VALUES = "belief", "values"
"""The keys of a question's header which belief it is about (kind and topic of the dimension), and the values in the
order of the options."""
ANSWERED_AT = "answered"
"""The key of a question's header with the time at which its answer was taken."""


def signals_of_questions(vault: Vault) -> Iterator[Sign]:
    """The signals of all answered questions, also of those that were put away."""
    for path, note in _questions(vault):
        found = _ticked(note)
        if found is None or note.header.get("untrusted") or note.header.get("profile"):
            continue
        options, at = found
        day = _day(note)
        evidence = Evidence(path.removesuffix(".md"), day=day.isoformat())
        if (dimension := dimension_in(note)) is not None:
            values = note.strings(VALUES)
            if at < len(values):
                yield Sign("answered", dimension, values[at], day, evidence)
        elif len(options) > 1 and note.string("run") and _is_of_owner(vault, note):
            plain = tuple(map(option_words, options))
            title = note.title(path)
            yield Sign("chosen", choice_of(plain, option_words(title)), plain[at], day, evidence)


def belief_header(dimension: Dimension, values: Iterable[str]) -> Mapping[str, list[str]]:
    """The part of a question's header by which the answer counts for a belief."""
    return {BELIEF: [dimension.kind, dimension.topic], VALUES: list(values)}


def dimension_in(note: Note) -> Dimension | None:
    """The belief that a question is about; None for any other question."""
    found = note.strings(BELIEF)
    kinds: tuple[DimensionKind, ...] = get_args(DimensionKind)
    kind = next((each for each in kinds if found[:1] == (each,)), None)
    return Dimension(kind, found[1]) if kind is not None and len(found) > 1 else None


def _questions(vault: Vault) -> Iterator[tuple[str, Note]]:
    for folder in (QUESTIONS, ARCHIVE + QUESTIONS):
        place = Path(vault.place.root, vault.home.at(folder))
        for file in sorted(place.glob("*.md")) if place.is_dir() else ():
            path = file.relative_to(vault.place.root).as_posix()
            data = vault.own_version(path)
            note = Note.parse(data) if data is not None and b"[x]" in data.lower() else None
            if note is not None and note.type == "question":
                yield path, note


def _ticked(note: Note) -> tuple[tuple[str, ...], int] | None:
    """The options, and the number of the ticked one, from 0; None if none or several are."""
    found = tasks.find_tasks(blocks.parse_body(note.body.replace("\r\n", "\n")))
    done = [at for at, each in enumerate(found) if each.done]
    return (tuple(each.text for each in found), done[0]) if len(done) == 1 else None


def _day(note: Note) -> date:
    """The day of the answer, where the note says it, else that of the question."""
    known = (note.header.get(key) for key in (ANSWERED_AT, "created"))
    return next((each.date() for each in known if isinstance(each, datetime)), date.min)


def _is_of_owner(vault: Vault, note: Note) -> bool:
    """True if the run that asked is the owner's own."""
    link = (note.string("session") or "").strip("[]")
    if not link or not PurePosixPath(link).name:
        return False
    try:
        return is_alone(load_session(vault, f"{link}.md"))
    except (AgentError, OSError, ValueError):
        return False
