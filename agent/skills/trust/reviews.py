"""Reviews of skills: the person is asked once about each unreviewed skill, in a note with its full text.

A yes counts only while the files in question are unchanged. Until it is approved, the note is marked as untrusted text.
The note has no id: machines that share a vault ask in the same note, each with a record of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from hashlib import sha256

from agent.asking.answers import answer_in, post, settle, unanswered
from agent.asking.note import compose_question
from agent.asking.proposal import Proposal, ProposalStatus
from agent.asking.records import records_of, save
from agent.config.durable import RecordFolder
from agent.dataclass import dataclass
from agent.escape import escape
from agent.markdown.blocks import format_fenced
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.skills.loading.files import BadFolder, Pin, folder_digest
from agent.skills.loading.library import SkillLibrary
from agent.skills.reading.skill import FILE, Skill
from agent.texts import Language, text
from agent.vault.change import Request, Stamp
from agent.vault.folders import APPROVALS, AgentFolder
from agent.vault.store import Vault

TYPE = "skill-review"
MOST_AT_ONCE = 5
"""The most notes without an answer: more would be noise."""
_STAMP = Stamp("agent", tool="skills_review")


@dataclass(slots=True)
class ReviewConsequence:
    """A yes trusts the files that were asked about; a skill that has changed since is asked about anew."""

    vault: Vault
    library: SkillLibrary
    when: datetime
    _skills: Mapping[str, Skill] | None = field(default=None, init=False)

    def judge(self, asked: Proposal, answer: bool | None) -> ProposalStatus | None:
        """The judgement of a question: a command may have answered it."""
        if self._skills is None:
            self._skills = {skill.key: skill for skill in self.library.snapshot().skills}
        skill = self._skills.get(asked.key)
        if skill is None:
            return "outdated"
        if skill.reviewed or is_answered_by(asked, self.library.pins.get(asked.key)):
            return "approved"
        if answer is None or not is_pending(self.vault.own_version(asked.path) or b""):
            return None
        if folder_digest(self.library.hashes(skill)) != asked.subject:
            return None
        return "approved" if answer else "rejected"

    def carry_out(self, decided: Proposal) -> Sequence[Request]:
        """Trust the files, unless that is done; raises `BadFolder` if they are others now."""
        skill = (self._skills or {}).get(decided.key)
        is_done = skill is None or skill.reviewed or is_answered_by(decided, self.library.pins.get(decided.key))
        if decided.status != "approved" or skill is None or is_done:
            return ()
        hashes = self.library.hashes(skill)
        if folder_digest(hashes) != decided.subject:
            raise BadFolder(f"{skill.path} has just changed; look at it again")
        self.library.pins.put(Pin(skill.key, hashes, skill.size, self.when, "ticked in a note"))
        self.library.refresh()
        self._skills = None
        return ()


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
    reviews = reviews_of(vault)
    unreviewed = [skill for skill in skills if not skill.reviewed]
    names: list[str] = []
    open_notes = {path for skill in unreviewed if _is_open(vault.read(path := note_path(skill, vault.home)))}
    for skill in unreviewed:
        path = note_path(skill, vault.home)
        if len(open_notes | notes.keys() | {path}) > MOST_AT_ONCE:
            continue
        hashes = library.hashes(skill)
        known = open_review(reviews, skill.key)
        asked = _question(skill, path, folder_digest(hashes), when, language)
        if known is not None and known.subject == asked.subject:
            continue
        notes[path] = _compose_note(vault, asked, skill, library.pins.get(skill.key), hashes, language)
        save(vault, asked)
        names.append(skill.name)
    if notes:
        post(vault, notes, f"skills(review): ask about {', '.join(names)}", _STAMP)
    return tuple(notes)


def settle_reviews(vault: Vault, library: SkillLibrary, when: datetime, stamp: Stamp = _STAMP) -> tuple[Proposal, ...]:
    """Apply the ticked answers, and write into the notes what was decided by command; returns what is decided now."""
    return settle(vault, ("skill_review",), ReviewConsequence(vault, library, when), stamp)


def revoke(vault: Vault, library: SkillLibrary, skill: Skill, when: datetime) -> None:
    """Withdraw the trust in a skill, without a new question about its current files; raises `BadFolder` or
    `OSError`."""
    library.pins.drop(skill.key)
    digest = folder_digest(library.hashes(skill))
    save(vault, _question(skill, note_path(skill, vault.home), digest, when, "en", "rejected"))


def waiting_reviews(vault: Vault) -> tuple[Proposal, ...]:
    """The questions asked on this machine that have no answer yet, neither here nor in another clone."""
    return tuple(each for each in unanswered(vault, "skill_review") if _is_open(vault.own_version(each.path)))


def reviews_of(vault: Vault) -> RecordFolder[Proposal]:
    """The questions asked on this machine, by the keys of the skills."""
    return records_of(vault, "skill_review")


def open_review(reviews: RecordFolder[Proposal], key: str) -> Proposal | None:
    """The question about a skill that waits or was answered with no; None if there is none."""
    found = reviews.get(key)
    return found if found is not None and found.status in ("pending", "rejected") else None


def is_answered_by(asked: Proposal, pin: Pin | None) -> bool:
    """True if the pin is for the files in question, even if the skill has changed since."""
    return pin is not None and pin.digest == asked.subject


def is_pending(data: bytes) -> bool:
    """True if the note's own `status` leaves its question open."""
    return Note.parse(data).string("status") in {None, "pending"}


def _is_open(data: bytes | None) -> bool:
    return data is not None and is_pending(data) and answer_in(data) is None


def _question(
    skill: Skill, path: str, digest: str, when: datetime, language: Language, status: ProposalStatus = "pending"
) -> Proposal:
    question = text("skill_review.title", language, name=skill.name)
    when = when.replace(microsecond=0)
    return Proposal("skill_review", skill.name, path, path, when, question, skill.key, digest, status=status)


def _compose_note(
    vault: Vault, asked: Proposal, skill: Skill, pin: Pin | None, hashes: Mapping[str, str], language: Language
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
    files = "\n".join(f"- `{path}`" for path in skill.files) or text("skill_review.no_files", language)
    sections = [
        (
            text("skill_review.content", language),
            format_fenced(escape(data.decode("utf-8", "replace").rstrip()), "markdown"),
        ),
        (text("skill_review.files", language), files),
    ]
    header: dict[str, Value] = {
        "type": TYPE,
        "created": asked.created,
        "status": "pending",
        "skill": skill.name,
        "untrusted": [skill.path],
    }
    return compose_question(header, asked.question, why, text("skill_review.holds", language), sections, language)
