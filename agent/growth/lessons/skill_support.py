"""A strategy that a skill states already: the skill gets it as a line of its own, with its evidence, as a next version.

That three reflections say what a skill says already shows that runs with it still go wrong there. As with a rule, the
change needs one yes; below the line that says it nothing of the skill changes.
"""

from datetime import datetime
from itertools import product

from agent.asking.proposal import ProposalDraft, ProposedNote
from agent.dataclass import dataclass
from agent.growth.lessons.book import KnownLessons
from agent.growth.lessons.candidates import LessonCandidate
from agent.growth.lessons.lesson_log import logged_words
from agent.growth.lessons.lesson_work import KnownSkill, LessonWork
from agent.growth.patterns.likeness import SKILL_LINES, pair_likeness
from agent.markdown.inertness.active import inert_line
from agent.markdown.note import Note
from agent.markdown.yaml_write import is_list
from agent.memory.understanding.seam import TextRelation
from agent.skills.learning.suggestion import with_version
from agent.skills.variants.trial_shelf import open_trials
from agent.texts import Language, text

_SHORTEST = 10
"""The characters from which a line of a skill may say what a lesson says."""


@dataclass(frozen=True, slots=True)
class SkillMatch:
    """A skill, and the line of it that says what a strategy says."""

    skill: KnownSkill
    line: str


def skill_that_says(work: LessonWork, known: KnownLessons, candidate: LessonCandidate) -> SkillMatch | None:
    """The skill that says the same already, in the words of one of the reflections; None without one."""
    wordings = dict.fromkeys((candidate.strategy.text, *(each.strategy.text for each in candidate.strategies)))
    least = SKILL_LINES.of(known.vectors)
    for skill, wanted in product(work.skills(), wordings):
        rows = [line.strip(" -*0123456789.") for line in skill.text.splitlines() if len(line) > _SHORTEST]
        lines = [line for line in rows if pair_likeness(wanted, line, known.vectors) >= least]
        for line, relation in zip(lines, known.relations(wanted, lines), strict=True):
            if relation is TextRelation.SAME:
                return SkillMatch(skill, line)
    return None


def may_change(work: LessonWork, known: KnownLessons, match: SkillMatch, candidate: LessonCandidate) -> bool:
    """True if a change of the skill can be proposed: it is a note of the vault, none of its variants is on trial, and
    no reflection has given it such a line before."""
    skill = match.skill
    data = work.vault.own_version(skill.path) if skill.path else None
    if data is None or data != work.vault.read(skill.path) or Note.parse(data).problem is not None:
        return False
    if any(trial.skill == skill.name for trial in open_trials(work.vault)):
        return False
    return not known.is_among(
        candidate.strategy.text, candidate.strategy.sentence, _lines_of_reflections(data, work.language)
    )


def skill_change(work: LessonWork, match: SkillMatch, candidate: LessonCandidate) -> ProposalDraft:
    """The question whether the skill may get the line."""
    skill, language = match.skill, work.language
    before = work.vault.read(skill.path) or b""
    after = with_line(before, candidate, work.now, language)
    link, count = f"[[{skill.path.removesuffix('.md')}|{skill.name}]]", len(candidate.strategies)
    rows = "\n".join(f"- {each.day} {each.link}: {inert_line(each.words)}" for each in candidate.evidence)
    sentence = inert_line(candidate.strategy.sentence)
    return ProposalDraft(
        "rule",
        f"{skill.name} skill",
        text("lessons.ask_skill", language, name=inert_line(skill.name), rule=sentence),
        text("lessons.why_skill", language, link=link, count=count, line=inert_line(match.line)),
        (ProposedNote(skill.path, after.decode("utf-8", "replace"), before.decode("utf-8", "replace")),),
        ((text("lessons.sources", language), rows),),
        tuple(dict.fromkeys(each.link for each in candidate.evidence)),
        {"asks": "skill", "skill": skill.path, "words": logged_words(candidate.strategy.sentence)},
        work.actor,
    )


def with_line(data: bytes, candidate: LessonCandidate, when: datetime, language: Language) -> bytes:
    """The skill's file with one more line in the section for those. One that the agent wrote, whose header has the
    history of its versions, gets a next version there with the evidence; a person's header stays as it is."""
    note = Note.parse(data)
    heading = f"## {text('lessons.skill_section', language)}"
    body, row = note.body.rstrip("\n"), f"- {inert_line(candidate.strategy.sentence)}"
    above, found, below = body.partition(f"\n{heading}\n")
    if found:
        own, mark, rest = below.partition("\n## ")
        body = f"{above}{found}{own.rstrip()}\n{row}\n{mark}{rest}".rstrip("\n")
    else:
        body = f"{body}\n\n{heading}\n\n{row}"
    if is_list(note.header.get("version_history")):
        rule = logged_words(candidate.strategy.sentence)
        made = text("lessons.skill_version", language, count=len(candidate.strategies), rule=rule)
        note = with_version(note, made, when, [each.link for each in candidate.evidence])
    return note.with_body(f"{body}\n").data


def _lines_of_reflections(data: bytes, language: Language) -> tuple[str, ...]:
    """The lines that reflections have given a skill."""
    heading = f"\n## {text('lessons.skill_section', language)}\n"
    section = Note.parse(data).body.partition(heading)[2].partition("\n## ")[0]
    return tuple(row[2:].strip() for row in section.splitlines() if row.startswith("- "))
