"""A skill that nobody has looked at, as a note with two boxes: after a yes it is trusted as the note shows it.

The note counts only together with the record of the question, which is kept on this machine beside the pins: a pulled
note that looks ticked trusts nothing. What is trusted is the content that was asked about, if it is still that. A note
whose question is settled, here or by command, says so; what stands in it is a stranger's text until a yes.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Literal, TypeAlias

from agent.errors import BadNote
from agent.inert import escape
from agent.markdown.fence import fenced
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.markdown.verdict import BOXES, ticked
from agent.skills.asked import Asked, all_asked, answer_in, asked_about, is_open, is_pending
from agent.skills.library import Library
from agent.skills.reviewed import Pin
from agent.skills.skill import FILE, Skill
from agent.skills.tree import BadFolder, digest
from agent.vault.folders import APPROVALS
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

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


def note_path(skill: Skill) -> str:
    """Where the question about a skill stands."""
    return f"{APPROVALS}skill-{skill.source}-{skill.name}.md"


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
    waits = {note_path(skill) for skill in strange if is_open(vault.read(note_path(skill)))}
    for skill in strange:
        if len(waits | notes.keys() | {note_path(skill)}) > MOST_AT_ONCE:
            continue
        hashes = library.hashes(skill)
        known = asked_about(library.pins, skill.key)
        if known is not None and known.digest == digest(hashes):
            continue
        data = _note(vault, skill, library.pins.get(skill.key), hashes, when, language)
        Asked(skill.key, note_path(skill), digest(hashes)).keep(library.pins)
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
    for asked in all_asked(library.pins):
        data = vault.own_version(asked.path)
        answer = answer_in(data) if data is not None and is_pending(data) else None
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
    Asked(skill.key, note_path(skill), digest(library.hashes(skill))).keep(library.pins)


def settle(vault: Vault, library: Library, stamp: Stamp = _STAMP) -> tuple[str, ...]:
    """Say in the notes what has become of their questions, in one commit; returns the paths of those notes."""
    found = tuple(all_asked(library.pins))
    skills = {skill.key: skill for skill in library.shelf().skills} if found else {}
    settled: dict[str, tuple[bytes, bytes]] = {}
    for asked in found:
        data = vault.read(asked.path)
        status = _status(library, asked, skills.get(asked.key), vault.own_version(asked.path))
        if status is not None and data is not None and is_pending(data):
            settled[asked.path] = data, _settled(data, status)
        if status == "approved" or status == "outdated":
            library.pins.answered(asked.key)
    if settled:
        names = ", ".join(Note.parse(data).string("skill") or path for path, (data, _) in settled.items())
        with vault.transaction(f"skills(review): answered about {names}", stamp) as change:
            for path, (before, after) in settled.items():
                change.edit(path, before, after)
    return tuple(settled)


def _status(library: Library, asked: Asked, skill: Skill | None, data: bytes | None) -> Status | None:
    """What has become of a question; None while it waits for an answer, or is to be asked anew."""
    if skill is None:
        return "outdated"
    if skill.reviewed or asked.is_answered_by(library.pins.get(asked.key)):
        return "approved"
    refused = data is not None and answer_in(data) is False and digest(library.hashes(skill)) == asked.digest
    return "rejected" if refused else None


def _settled(data: bytes, status: Status) -> bytes:
    """The note with what was decided; after a yes its text is nobody's but the owner's."""
    try:
        note = Note.parse(data if status == "outdated" else ticked(data, status == "approved"))
        note = note.with_key("status", status)
        return (note.without_key("untrusted") if status == "approved" else note).data
    except BadNote:
        return data


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
        fenced(escape(data.decode("utf-8", "replace").rstrip()), "markdown"),
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
