"""Questions about the profile, as notes: where the person's line and their words disagree, and whether health and
other people may be noted. What they tick is done at the next change of the profile."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.memory.daily import inert
from agent.memory.profile.evidence import Evidence, parse_evidence
from agent.memory.profile.profile_file import said_in
from agent.texts import Language, text
from agent.vault.change import Create
from agent.vault.folders import ARCHIVE, PROFILE, QUESTIONS
from agent.vault.store import Vault

CONSENT = "sensitive"
_DAYS = 60
ConflictChoice = Literal["old", "new", "both"]
_CHOICES: tuple[ConflictChoice, ...] = ("old", "new", "both")


@dataclass(frozen=True, slots=True)
class ProfileConflict:
    """A line of the person in a note (`old`, as it stands there), and newer words of theirs that say otherwise."""

    note: str
    old: str
    new: str
    field: str
    evidence: tuple[Evidence, ...]

    @property
    def key(self) -> str:
        """The same for the same conflict, whenever it is found."""
        return sha256(f"{self.note}\n{said_in(self.old)}\n{self.new}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class DecidedConflict:
    """What the person has ticked in the note at `path`, whose bytes are `data`."""

    path: str
    data: bytes
    conflict: ProfileConflict
    choice: ConflictChoice


def ask(vault: Vault, language: Language, now: datetime, conflicts: Iterable[ProfileConflict]) -> Iterator[Create]:
    """The notes with the questions that were not asked before."""
    asked = {key for _, note in _notes(vault) if (key := note.string("profile"))}
    for each in {conflict.key: conflict for conflict in conflicts}.values():
        if each.key in asked:
            continue
        link = f"[[{vault.home.at(PROFILE + each.note).removesuffix('.md')}]]"
        title = text("profile.which", language, note=PurePosixPath(each.note).stem)
        because = "\n".join(f"> {inert(evidence.written)}" for evidence in each.evidence)
        options = [
            text("profile.choice_old", language, line=inert(said_in(each.old))),
            text("profile.choice_new", language, line=inert(each.new)),
            text("profile.choice_both", language),
        ]
        about = text("profile.which_about", language, link=link)
        more: dict[str, Value] = {
            "profile": each.key,
            "note": each.note,
            "old": each.old,
            "new": each.new,
            "field": each.field,
            "evidence": [evidence.written for evidence in each.evidence],
        }
        yield _question(vault, language, now, title, f"{about}\n\n{because}", options, more)


def ask_for_consent(vault: Vault, language: Language, now: datetime) -> Iterator[Create]:
    """The note that asks once whether health and other people may be noted."""
    if any(note.string("profile") == CONSENT for _, note in _notes(vault)):
        return
    options = [text("profile.consent_yes", language), text("profile.consent_no", language)]
    about = text("profile.consent_about", language)
    yield _question(vault, language, now, text("profile.consent", language), about, options, {"profile": CONSENT})


def has_consented(vault: Vault) -> bool:
    """True if the person has ticked the yes, and it alone."""
    asked = (note for _, note in _notes(vault) if note.string("profile") == CONSENT)
    return any(_ticked(note) == [0] for note in asked)


def decided(vault: Vault) -> tuple[DecidedConflict, ...]:
    """The open questions in which the person has ticked exactly one answer."""
    found: list[DecidedConflict] = []
    for path, note in _notes(vault):
        if note.string("profile") in (None, CONSENT) or note.string("status") != "open":
            continue
        items = note.header.get("evidence")
        cited = map(parse_evidence, items if isinstance(items, list | tuple) else ())
        evidence = tuple(each for each in cited if each is not None)
        said = tuple(note.string(key) or "" for key in ("note", "old", "new", "field"))
        conflict = ProfileConflict(said[0], said[1], said[2], said[3], evidence)
        ticked = _ticked(note)
        if len(ticked) == 1 and ticked[0] < len(_CHOICES) and conflict.key == note.string("profile"):
            found.append(DecidedConflict(path, note.data, conflict, _CHOICES[ticked[0]]))
    return tuple(found)


def open_questions(vault: Vault) -> tuple[str, ...]:
    """The notes with questions about the profile in which nothing is ticked yet."""
    asked = ((path, note) for path, note in _notes(vault) if note.string("profile"))
    return tuple(path for path, note in asked if note.string("status") == "open" and not _ticked(note))


def _question(
    vault: Vault, language: Language, now: datetime, title: str, about: str, options: list[str], more: dict[str, Value]
) -> Create:
    at = now.replace(microsecond=0)
    header: dict[str, Value] = {"id": vault.clock.new_id(), "type": "question", "created": at, "status": "open"}
    header |= {"expires": at + timedelta(days=_DAYS), **more}
    boxes = "\n".join(f"- [ ] {' '.join(option.split())}" for option in options)
    body = f"# {title}\n\n{about}\n\n{boxes}\n\n## {text('question.answer', language)}\n\n"
    name = f"{QUESTIONS}{at:%Y-%m-%d}-profile-{str(more['profile'])}.md"
    return Create(vault.home.at(name), Note.compose(header, body).data)


def _notes(vault: Vault) -> Iterator[tuple[str, Note]]:
    """The notes with questions, also those that were put away; as they count as the person's."""
    for folder in (QUESTIONS, ARCHIVE + QUESTIONS):
        place = Path(vault.place.root, vault.home.at(folder))
        for file in sorted(place.glob("*.md")) if place.is_dir() else ():
            path = file.relative_to(vault.place.root).as_posix()
            if (data := vault.own_version(path)) is not None and b"profile:" in data:
                yield path, Note.parse(data)


def _ticked(note: Note) -> list[int]:
    """The numbers of the ticked options, from 0."""
    found = tasks.find_tasks(blocks.parse_body(note.body.replace("\r\n", "\n")))
    return [at for at, each in enumerate(found) if each.done]
