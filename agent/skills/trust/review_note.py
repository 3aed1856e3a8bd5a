"""The note that asks for a skill's review: two boxes above the skill's full text.

A tick counts only with the record of the question on this machine (`review_records`), and only while the files in
question are unchanged. Until it is approved, the note is marked as untrusted text.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256

from agent.asking.answers import NoteDecision, answer_in, close, post
from agent.escape import escape
from agent.markdown.blocks import format_fenced
from agent.markdown.checkbox_decision import BOXES
from agent.markdown.note import Note
from agent.markdown.values import Value
from agent.skills.loading.files import BadFolder, folder_digest
from agent.skills.loading.library import SkillLibrary
from agent.skills.loading.pins import Pin
from agent.skills.reading.skill import FILE, Skill
from agent.skills.trust.review_records import (
    ReviewRecord,
    delete_record,
    is_open,
    is_pending,
    load_record,
    load_records,
    save_record,
)
from agent.texts import Language, text
from agent.vault.change import Stamp
from agent.vault.folders import APPROVALS, AgentFolder
from agent.vault.store import Vault

TYPE = "skill-review"
MOST_AT_ONCE = 5
"""The most notes without an answer: more would be noise."""
_STAMP = Stamp("agent", tool="skills_review")


def note_path(skill: Skill, home: AgentFolder) -> str:
    """The path of a skill's review note."""
    return home.at(f"{APPROVALS}skill-{skill.source}-{skill.name}.md")


def ask_reviews(
    vault: Vault, library: SkillLibrary, skills: Iterable[Skill], when: datetime, language: Language = "en"
) -> tuple[str, ...]:
    """Write a note about each unreviewed skill, all in one commit; returns the paths of the notes.

    A skill whose current files have a note gets no second one. At most `MOST_AT_ONCE` notes wait for an answer; the
    other skills get theirs later, and `skills review` lists them at any time. Raises `BadFolder` or `OSError` if a
    skill's files cannot be read.
    """
    notes: dict[str, bytes] = {}
    unreviewed = [skill for skill in skills if not skill.reviewed]
    names: list[str] = []
    open_notes = {path for skill in unreviewed if is_open(vault.read(path := note_path(skill, vault.home)))}
    for skill in unreviewed:
        path = note_path(skill, vault.home)
        if len(open_notes | notes.keys() | {path}) > MOST_AT_ONCE:
            continue
        hashes = library.hashes(skill)
        digest = folder_digest(hashes)
        known = load_record(library.pins, skill.key)
        if known is not None and known.digest == digest:
            continue
        notes[path] = _compose_note(vault, skill, library.pins.get(skill.key), hashes, when, language)
        save_record(library.pins, ReviewRecord(skill.key, path, digest))
        names.append(skill.name)
    if notes:
        post(vault, notes, f"skills(review): ask about {', '.join(names)}", _STAMP)
    return tuple(notes)


def apply_decisions(vault: Vault, library: SkillLibrary, when: datetime) -> tuple[tuple[str, bool], ...]:
    """Apply the ticked answers; returns the skills' names, each with True if it is trusted now.

    A skill that has changed since its note was written is skipped.
    """
    done = []
    skills: Mapping[str, Skill] | None = None
    for record in load_records(library.pins):
        data = vault.own_version(record.path)
        answer = answer_in(data) if data is not None and is_pending(data) else None
        if answer is None:
            continue
        skills = skills or {skill.key: skill for skill in library.snapshot().skills}
        skill = skills.get(record.key)
        if skill is None or skill.reviewed or folder_digest(hashes := library.hashes(skill)) != record.digest:
            continue
        if answer:
            library.pins.put(Pin(skill.key, hashes, skill.size, when, "ticked in a note"))
            library.refresh()
        done.append((skill.name, answer))
    if done:
        settle_reviews(vault, library)
    return tuple(done)


def revoke(library: SkillLibrary, skill: Skill) -> None:
    """Withdraw the trust in a skill, without a new question about its current files; raises `BadFolder` or
    `OSError`."""
    library.pins.drop(skill.key)
    path, digest = note_path(skill, library.home), folder_digest(library.hashes(skill))
    save_record(library.pins, ReviewRecord(skill.key, path, digest))


def settle_reviews(vault: Vault, library: SkillLibrary, stamp: Stamp = _STAMP) -> tuple[str, ...]:
    """Write the answers into the notes, in one commit; returns the paths of these notes."""
    records = tuple(load_records(library.pins))
    skills = {skill.key: skill for skill in library.snapshot().skills} if records else {}
    statuses: dict[str, NoteDecision] = {}
    names: dict[str, str] = {}
    for record in records:
        data = vault.read(record.path)
        status = _status(library, record, skills.get(record.key), vault.own_version(record.path))
        if status is not None and data is not None and is_pending(data):
            statuses[record.path], names[record.path] = status, Note.parse(data).string("skill") or record.path
        if status == "approved" or status == "outdated":
            delete_record(library.pins, record.key)
    return close(vault, statuses, f"skills(review): answered about {', '.join(names.values())}", stamp)


def _status(
    library: SkillLibrary, record: ReviewRecord, skill: Skill | None, data: bytes | None
) -> NoteDecision | None:
    """The answer to a question; None while it is open, or has to be asked again."""
    if skill is None:
        return "outdated"
    if skill.reviewed or record.is_answered_by(library.pins.get(record.key)):
        return "approved"
    refused = data is not None and answer_in(data) is False and folder_digest(library.hashes(skill)) == record.digest
    return "rejected" if refused else None


def _compose_note(
    vault: Vault, skill: Skill, pin: Pin | None, hashes: Mapping[str, str], when: datetime, language: Language
) -> bytes:
    """The note: the boxes, and below them the skill's text. Raises `BadFolder` if that differs from the hashed file."""
    data = vault.read(skill.path) or b""
    if sha256(data).hexdigest() != hashes.get(FILE):
        raise BadFolder(f"{skill.path} has just changed; look at it again")
    link = skill.path.removesuffix(".md")
    if pin is None:
        why = text("skill_review.new", language, link=link)
    else:
        files = ", ".join(f"`{path}`" for path in pin.changed(hashes))
        why = text("skill_review.changed", language, link=link, path=skill.path, files=files, day=pin.when)
    parts = [
        f"# {text('skill_review.title', language, name=skill.name)}",
        why,
        BOXES,
        text("skill_review.holds", language),
        f"## {text('skill_review.content', language)}",
        format_fenced(escape(data.decode("utf-8", "replace").rstrip()), "markdown"),
        f"## {text('skill_review.files', language)}",
        "\n".join(f"- `{path}`" for path in skill.files) or text("skill_review.no_files", language),
    ]
    header: dict[str, Value] = {
        "type": TYPE,
        "created": when.replace(microsecond=0),
        "status": "pending",
        "skill": skill.name,
        "untrusted": [skill.path],
    }
    return Note.compose(header, "\n\n".join(parts) + "\n").data
