"""A skill that nobody has looked at, as a note with a checkbox: tick it, and the skill is trusted as the note shows it.

The note counts only together with the record of the question, which is kept on this machine beside the pins: a pulled
note that looks ticked trusts nothing. What is trusted is the content that was asked about, if it is still that.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from agent.errors import BadNote
from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.skills.library import Library
from agent.skills.reviewed import Pin
from agent.skills.skill import Skill
from agent.skills.tree import digest
from agent.vault.store import Vault
from agent.vault.write.change import Stamp

FOLDER = "approvals"
TYPE = "skill_review"
PENDING, TRUSTED, REFUSED = "pending", "trusted", "refused"
"""What the `status` of such a note says."""
MOST_AT_ONCE = 5
"""Notes that wait for an answer at the same time: more would be noise."""
TRUST, REFUSE = "trust this skill", "do not trust it"
_RUN = re.compile(r"`{3,}")


def note_path(skill: Skill) -> str:
    """Where the question about a skill stands."""
    return f"{FOLDER}/skill-{skill.source}-{skill.name}.md"


def ask(vault: Vault, library: Library, skills: Iterable[Skill], when: datetime) -> tuple[str, ...]:
    """Ask the person about these skills, a note each, in one commit; returns the paths of the notes.

    What was asked about as it is now is not asked about again; and no more than `MOST_AT_ONCE` notes wait for an
    answer: the others are asked about later, and `skills review` lists them at any time.

    Raises `BadFolder` or `OSError` when a skill's files cannot be read.
    """
    notes: dict[str, bytes] = {}
    strange = [skill for skill in skills if not skill.reviewed]
    waiting = {note_path(skill) for skill in strange if _waits(vault, note_path(skill))}
    for skill in strange:
        if len(waiting | notes.keys() | {note_path(skill)}) > MOST_AT_ONCE:
            continue
        hashes = library.hashes(skill)
        if json.loads(library.pins.was_asked(skill.key) or "{}").get("digest") == digest(hashes):
            continue
        document = {"path": note_path(skill), "digest": digest(hashes), "size": skill.size}
        library.pins.asked(skill.key, json.dumps(document))
        notes[note_path(skill)] = _note(skill, when)
    if not notes:
        return ()
    with vault.transaction(f"skills(review): ask about {len(notes)}", Stamp("agent", tool="skills_review")) as change:
        for path, data in notes.items():
            before = vault.read(path)
            if before is None:
                change.create(path, data)
            else:
                change.edit(path, before, data)
    return tuple(notes)


def decided(vault: Vault, library: Library, paths: Iterable[str], when: datetime) -> tuple[tuple[str, bool], ...]:
    """What the person has ticked in these notes: the names of the skills, and whether each is trusted now; the notes
    say so then.

    A skill that is no longer what the note was written about stays as it is. Raises what a transaction raises.
    """
    ticked = {path: answer for path in paths if (answer := _answer(vault, path)) is not None}
    done = []
    for skill in library.shelf().skills if ticked else ():
        answer = ticked.get(note_path(skill))
        asked = library.pins.was_asked(skill.key) if answer is not None and not skill.reviewed else None
        if asked is None or answer is None or (not answer and _status(vault, note_path(skill)) == REFUSED):
            continue
        hashes = library.hashes(skill)
        record = json.loads(asked)
        if record.get("path") != note_path(skill) or record.get("digest") != digest(hashes):
            continue
        if answer:
            library.pins.answered(skill.key)
            library.pins.put(Pin(skill.key, hashes, skill.size, when, "ticked in a note"))
            library.refresh()
        done.append((skill, answer))
    settle(vault, done)
    return tuple((skill.name, answer) for skill, answer in done)


def settle(vault: Vault, answers: Iterable[tuple[Skill, bool]]) -> None:
    """Say in the notes that asked about these skills whether they are trusted, in one commit; raises as that does."""
    with vault.transaction("skills(review): answered", Stamp("agent", tool="skills_review")) as change:
        for skill, trusted in answers:
            data, status = vault.read(note_path(skill)), TRUSTED if trusted else REFUSED
            note = Note.parse(data or b"")
            if data is not None and note.type == TYPE and note.string("status") != status:
                with suppress(BadNote):  # what a person has made of the header is theirs
                    change.edit(note_path(skill), data, note.with_key("status", status).data)


def _waits(vault: Vault, path: str) -> bool:
    return _status(vault, path) == PENDING and _answer(vault, path) is None


def _status(vault: Vault, path: str) -> str:
    return Note.parse(vault.read(path) or b"").string("status") or ""


def _answer(vault: Vault, path: str) -> bool | None:
    """True for a tick at trust, False for one at refuse (also with both), None for neither."""
    if not path.startswith(f"{FOLDER}/skill-"):
        return None
    above = Note.parse(vault.read(path) or b"").body.partition("\n## ")[0]
    found = {task.text.strip().casefold() for task in tasks.read(blocks.read(above)) if task.done}
    if REFUSE in found:
        return False
    return True if TRUST in found else None


def _note(skill: Skill, when: datetime) -> bytes:
    """The question: what the skill says of itself in full, below the two boxes."""
    longest = max((len(run) for run in _RUN.findall(skill.body)), default=2)
    fence = "`" * max(longest + 1, 3)
    tools = ", ".join(skill.allowed_tools) if skill.allowed_tools is not None else "whatever your policy allows"
    parts = [
        f"# May I use the skill {skill.name}?",
        f"It lies in [[{skill.path.removesuffix('.md')}]] and came from outside. Until you say yes I do not follow it.",
        f"- [ ] {TRUST}\n- [ ] {REFUSE}",
        "A yes holds for exactly these files. Both ticked is a no.",
        "## What it says",
        f"{fence}\n{skill.summary}\n\nTools: {tools}\n\n{skill.body}\n{fence}",
        "## Files beside it",
        "\n".join(f"- `{path}`" for path in skill.files) or "none",
    ]
    header: dict[str, Value] = {
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "status": PENDING,
        "skill": skill.name,
    }
    return Note.compose(header, "\n\n".join(parts) + "\n").data
