"""Questions about the profile, as notes: where the person's line and their words disagree, and whether health and
other people may be noted. What they tick is done at the next change of the profile."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal

from agent.asking.questions.law import EverAsked, ever_asked
from agent.asking.questions.notes import AskedQuestion, QuestionDraft, asked_questions, format_question
from agent.dataclass import dataclass
from agent.markdown.yaml_write import Value
from agent.memory.daily import inert
from agent.memory.profile.evidence import Evidence, parse_evidence
from agent.memory.profile.profile_file import words_of_line
from agent.texts import Language, text
from agent.vault.change import Create
from agent.vault.folders import PROFILE, QUESTIONS
from agent.vault.history.find import indexed_commits
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
        return sha256(f"{self.note}\n{words_of_line(self.old)}\n{self.new}".encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class DecidedConflict:
    """The ticked boxes in the note at `path`, whose bytes are `data`."""

    path: str
    data: bytes
    conflict: ProfileConflict
    choice: ConflictChoice


def ask(vault: Vault, language: Language, now: datetime, conflicts: Iterable[ProfileConflict]) -> Iterator[Create]:
    """The notes with the questions that were not asked before; the caller asks the first one, and the others later."""
    found = {conflict.key: conflict for conflict in conflicts}
    asked = ever_asked(vault) if found else EverAsked()
    for each in found.values():
        if asked.has(each.key):
            continue
        link = f"[[{vault.home.at(PROFILE + each.note).removesuffix('.md')}]]"
        title = text("profile.which", language, old=inert(words_of_line(each.old)), new=inert(each.new))
        because = "\n".join(f"> {inert(evidence.written)}" for evidence in each.evidence)
        fallback = text("profile.which_fallback", language)
        options = [
            text("profile.choice_old", language, line=inert(words_of_line(each.old))),
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
        yield _question(vault, language, now, title, (about, because), fallback, options, more)


def ask_for_consent(vault: Vault, language: Language, now: datetime) -> Iterator[Create]:
    """The note that asks once whether health and other people may be noted."""
    if any(each.note.string("profile") == CONSENT for each in _notes(vault)) or _was_asked_for_consent(vault):
        return
    options = [text("profile.consent_yes", language), text("profile.consent_no", language)]
    about, fallback = text("profile.consent_about", language), text("profile.consent_fallback", language)
    title = text("profile.consent", language)
    yield _question(vault, language, now, title, (about,), fallback, options, {"profile": CONSENT})


def has_consented(vault: Vault) -> bool:
    """True if the person has ticked the yes, and it alone."""
    asked = (each for each in _notes(vault) if each.note.string("profile") == CONSENT)
    return any(each.ticked == (0,) for each in asked)


def decided(vault: Vault) -> tuple[DecidedConflict, ...]:
    """The open questions in which the person has ticked exactly one answer."""
    found: list[DecidedConflict] = []
    for each in _notes(vault):
        note = each.note
        if note.string("profile") == CONSENT or note.string("status") != "open":
            continue
        items = note.header.get("evidence")
        cited = map(parse_evidence, items if isinstance(items, list | tuple) else ())
        evidence = tuple(one for one in cited if one is not None)
        words = tuple(note.string(key) or "" for key in ("note", "old", "new", "field"))
        conflict = ProfileConflict(words[0], words[1], words[2], words[3], evidence)
        choice = _choice(each.ticked)
        if choice is not None and conflict.key == note.string("profile"):
            found.append(DecidedConflict(each.path, note.data, conflict, choice))
    return tuple(found)


def _choice(ticked: tuple[int, ...]) -> ConflictChoice | None:
    """What the ticked boxes choose: the old and the new line together are both; None for nothing, and for ticks that
    contradict each other."""
    if ticked == (0, 1):
        return "both"
    return _CHOICES[ticked[0]] if len(ticked) == 1 and ticked[0] < len(_CHOICES) else None


def open_questions(vault: Vault) -> tuple[str, ...]:
    """The notes with questions about the profile in which nothing is ticked yet."""
    return tuple(each.path for each in _notes(vault) if each.is_open and not each.ticked)


def _question(
    vault: Vault,
    language: Language,
    now: datetime,
    title: str,
    about: Sequence[str],
    fallback: str,
    options: Sequence[str],
    more: Mapping[str, Value],
) -> Create:
    at = now.replace(microsecond=0)
    boxes = [" ".join(option.split()) for option in options]
    draft = QuestionDraft(title, at + timedelta(days=_DAYS), "", fallback, boxes, about, more=more)
    name = f"{QUESTIONS}{at:%Y-%m-%d}-profile-{more['profile']}.md"
    return Create(vault.home.at(name), format_question(draft, vault.clock.new_id(), at, language))


def _notes(vault: Vault) -> Iterator[AskedQuestion]:
    """The notes with questions about the profile, also those that were put away."""
    return (each for each in asked_questions(vault, b"profile:") if each.note.string("profile"))


def _was_asked_for_consent(vault: Vault) -> bool:
    """True if it was asked in a note that the person has thrown away."""
    made = indexed_commits(vault, vault.home.at(QUESTIONS).rstrip("/"))
    return any(one.path.endswith(f"-profile-{CONSENT}.md") for each in made for one in each.sides[0])
