"""A skill that nobody has looked at, as a note with two boxes: after a yes it is trusted as the note shows it.

The note counts only together with the record of the question, which is kept on this machine beside the pins: a pulled
note that looks ticked trusts nothing. What is trusted is the content that was asked about, if it is still that. A note
whose question is settled, here or by command, says so; what stands in it is a stranger's text until a yes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.errors import BadNote
from agent.markdown.fence import fenced
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.markdown.verdict import BOXES, above, decision, ticked
from agent.skills.library import Library
from agent.skills.reviewed import Pin, Pins
from agent.skills.skill import FILE, Skill
from agent.skills.tree import BadFolder, digest
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

FOLDER = "approvals"
TYPE = "skill-review"
MOST_AT_ONCE = 5
"""Notes that wait for an answer at the same time: more would be noise."""
_STAMP = Stamp("agent", tool="skills_review")
_SAID = {
    "en": {
        "title": "May I use the skill {name}?",
        "new": "[[{link}]] is new on this machine: nobody has looked at it here. Until you say yes I do not follow it.",
        "changed": "You trusted [[{link}]] on {day:%Y-%m-%d}. It has changed since, and not by an edit that I saw you "
        "make here: {files}. Until you say yes I do not follow it. `vault-agent log {path}` lists the changes.",
        "holds": "A yes holds for exactly these files. Both ticked is a no.",
        "text": "What it says",
        "files": "Files beside it",
        "none": "none",
    },
    "zh": {
        "title": "可以使用技能 {name} 吗？",
        "new": "[[{link}]] 是这台机器上新出现的，还没有人在这里看过。你同意之前，我不会照它做。",
        "changed": "你在 {day:%Y-%m-%d} 信任过 [[{link}]]。此后它有改动，而且我没有看到是你在这里改的：{files}。"
        "你同意之前，我不会照它做。`vault-agent log {path}` 列出改动。",
        "holds": "勾选 `approve`（批准）或 `reject`（拒绝）。同意只对这些文件现在的内容有效；两个都勾选算拒绝。",
        "text": "它的内容",
        "files": "附带的文件",
        "none": "无",
    },
}

Status: TypeAlias = Literal["approved", "rejected", "outdated"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked about a skill (`key`) on this machine: in which note, about what content."""

    key: str
    path: str
    digest: str


def note_path(skill: Skill) -> str:
    """Where the question about a skill stands."""
    return f"{FOLDER}/skill-{skill.source}-{skill.name}.md"


def waiting(vault: Vault, pins: Pins) -> tuple[str, ...]:
    """The notes that this machine has asked in and that nobody has answered; no skill is loaded for it."""
    return tuple(asked.path for asked in _all_asked(pins) if _is_open(vault.read(asked.path)))


def ask(
    vault: Vault, library: Library, skills: Iterable[Skill], when: datetime, language: str = "en"
) -> tuple[str, ...]:
    """Ask the person about these skills, a note each, in one commit; returns the paths of the notes.

    What was asked about as it is now is not asked about again; and no more than `MOST_AT_ONCE` notes wait for an
    answer: the others are asked about later, and `skills review` lists them at any time.

    Raises `BadFolder` or `OSError` when a skill's files cannot be read.
    """
    notes: dict[str, bytes] = {}
    strange = [skill for skill in skills if not skill.reviewed]
    names: list[str] = []
    waits = {note_path(skill) for skill in strange if _is_open(vault.read(note_path(skill)))}
    for skill in strange:
        if len(waits | notes.keys() | {note_path(skill)}) > MOST_AT_ONCE:
            continue
        hashes = library.hashes(skill)
        known = _asked(library.pins, skill.key)
        if known is not None and known.digest == digest(hashes):
            continue
        data = _note(vault, skill, library.pins.get(skill.key), hashes, when, language)
        document = {"path": note_path(skill), "digest": digest(hashes), "size": skill.size}
        library.pins.asked(skill.key, json.dumps(document))
        notes[note_path(skill)] = data
        names.append(skill.name)
    if notes:
        with vault.transaction(f"skills(review): ask about {', '.join(names)}", _STAMP) as change:
            for path, data in notes.items():
                before = vault.read(path)
                if before is None:
                    change.create(path, data)
                else:
                    change.edit(path, before, data)
    return tuple(notes)


def decided(vault: Vault, library: Library, when: datetime) -> tuple[tuple[str, bool], ...]:
    """Carry out what the person has ticked in the notes: the names of the skills, and whether each is trusted now.

    A skill that is no longer what the note was written about stays as it is.
    """
    done = []
    skills: Mapping[str, Skill] | None = None
    for asked in _all_asked(library.pins):
        data = vault.read(asked.path)
        answer = _answer(data) if data is not None and _is_pending(data) else None
        if answer is None:
            continue
        skills = skills or {skill.key: skill for skill in library.shelf().skills}
        skill = skills.get(asked.key)
        if skill is None or skill.reviewed or digest(hashes := library.hashes(skill)) != asked.digest:
            continue
        if answer:
            library.pins.put(Pin(skill.key, hashes, skill.size, when, "ticked in a note"))
            library.refresh()
        done.append((skill.name, answer))
    if done:
        settle(vault, library)
    return tuple(done)


def revoke(library: Library, skill: Skill) -> None:
    """Trust a skill no more, and do not ask about it as it is now; raises `BadFolder` or `OSError` as `ask` does."""
    library.pins.drop(skill.key)
    document = {"path": note_path(skill), "digest": digest(library.hashes(skill)), "size": skill.size}
    library.pins.asked(skill.key, json.dumps(document))


def settle(vault: Vault, library: Library, stamp: Stamp = _STAMP) -> tuple[str, ...]:
    """Say in the notes what has become of their questions, in one commit; returns the paths of those notes."""
    found = tuple(_all_asked(library.pins))
    skills = {skill.key: skill for skill in library.shelf().skills} if found else {}
    settled: dict[str, tuple[bytes, bytes]] = {}
    for asked in found:
        data = vault.read(asked.path)
        status = _status(library, asked, skills.get(asked.key), data)
        if status is not None and data is not None and _is_pending(data):
            settled[asked.path] = data, _settled(data, status)
        if status == "approved" or status == "outdated":
            library.pins.answered(asked.key)
    if settled:
        names = ", ".join(Note.parse(data).string("skill") or path for path, (data, _) in settled.items())
        with vault.transaction(f"skills(review): answered about {names}", stamp) as change:
            for path, (before, after) in settled.items():
                change.edit(path, before, after)
    return tuple(settled)


def _status(library: Library, asked: _Asked, skill: Skill | None, data: bytes | None) -> Status | None:
    """What has become of a question; None while it waits for an answer, or is to be asked anew."""
    if skill is None:
        return "outdated"
    if skill.reviewed:
        return "approved"
    refused = data is not None and _answer(data) is False and digest(library.hashes(skill)) == asked.digest
    return "rejected" if refused else None


def _settled(data: bytes, status: Status) -> bytes:
    """The note with what was decided; after a yes its text is nobody's but the owner's."""
    try:
        note = Note.parse(data if status == "outdated" else ticked(data, status == "approved"))
        note = note.with_key("status", status)
        return (note.without_key("untrusted") if status == "approved" else note).data
    except BadNote:
        return data


def _is_open(data: bytes | None) -> bool:
    """Whether there is a note in which nothing was decided yet."""
    return data is not None and _is_pending(data) and _answer(data) is None


def _is_pending(data: bytes) -> bool:
    return Note.parse(data).string("status") in {None, "pending"}


def _answer(data: bytes) -> bool | None:
    """True for a tick at approve, False for one at reject (also with both), None for neither."""
    return decision(above(Note.parse(data).body.replace("\r\n", "\n")))


def _all_asked(pins: Pins) -> Iterator[_Asked]:
    return (asked for key in pins.questions() if (asked := _asked(pins, key)) is not None)


def _asked(pins: Pins, key: str) -> _Asked | None:
    try:
        raw = json.loads(pins.was_asked(key) or "null")
        return _Asked(key, str(raw["path"]), str(raw["digest"]))
    except (ValueError, KeyError, TypeError):
        return None  # what cannot be read has asked nothing


def _note(
    vault: Vault, skill: Skill, pin: Pin | None, hashes: Mapping[str, str], when: datetime, language: str
) -> bytes:
    """The question: below the two boxes the skill in full, as it was hashed."""
    said = _SAID[language]
    data = vault.read(skill.path) or b""
    if sha256(data).hexdigest() != hashes.get(FILE):
        raise BadFolder(f"{skill.path} has just changed; look at it again")
    why = said["new"] if pin is None else said["changed"]
    changed = ", ".join(f"`{path}`" for path in pin.changed(hashes)) if pin is not None else ""
    day = pin.when if pin is not None else when
    link = skill.path.removesuffix(".md")
    parts = [
        f"# {said['title'].format(name=skill.name)}",
        why.format(link=link, path=skill.path, files=changed, day=day),
        BOXES,
        said["holds"],
        f"## {said['text']}",
        fenced(data.decode("utf-8", "replace").rstrip(), "markdown"),
        f"## {said['files']}",
        "\n".join(f"- `{path}`" for path in skill.files) or said["none"],
    ]
    header: dict[str, Value] = {
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "status": "pending",
        "skill": skill.name,
        "untrusted": [skill.path],
    }
    return Note.compose(header, "\n\n".join(parts) + "\n").data
