"""The texts of skills for the model: a whole skill, its summary where the whole one does not fit, and the index of the
other skills.

A text is never cut: half of the instructions for a piece of work are worse than none.
"""

from collections.abc import Iterable, Sequence

from agent.dataclass import dataclass
from agent.markdown.title import clipped
from agent.skills.matching.selection import Match, SkillText
from agent.skills.matching.workflow import ComposedText, TokenCounter, compose_workflow
from agent.skills.reading.chain import FindSkill
from agent.skills.reading.skill import Skill

_INDEX_LINE = 160
"""The most characters of a skill's line in the index."""
_INDEX_HEAD = "Other skills; read one with skill_show before doing work of its kind:"
_LISTED_FILES = 40


def compose_text(found: Match, find: FindSkill, room: int, count: TokenCounter) -> SkillText:
    """The text of a skill that fits a task, and its summary; a chain's text has the steps that fit in `room` tokens."""
    skill = found.skill
    around = count(_whole(found, ""))
    made = compose_workflow(skill, find, room - around, count) if skill.chain else ComposedText(skill.body)
    text = _whole(found, made.text)
    tokens = count(text)
    short = summary(found, tokens)
    return SkillText(text, tokens, made.on_request, short, count(short))


def _whole(found: Match, body: str) -> str:
    return "\n\n".join(filter(None, [_head(found), body, format_files(found.skill)]))


def summary(found: Match, tokens: int) -> str:
    """The text for a skill that fits a task, but whose text of so many tokens does not fit."""
    skill = found.skill
    return (
        f"The skill `{skill.name}` fits this task (confidence {found.score:.0%}), but its instructions of {tokens:,} "
        f"tokens are too long for here. Read them with skill_show {skill.name} before you begin. {skill.summary}"
    )


def reminder(found: Match) -> str:
    """The text for a skill whose instructions the model still has from an earlier task of the session."""
    return f"{_head(found)}\nThey stand further up."


def has_text(found: Match, texts: Sequence[str]) -> bool:
    """True if the skill's own instructions are in one of the texts."""
    return bool(found.skill.body) and any(found.skill.body in each for each in texts)


def _head(found: Match) -> str:
    skill = found.skill
    lines = [f"## Skill: {skill.name} (confidence {found.score:.0%})", "It fits this task. Follow its steps."]
    if found.slots:
        lines.append(f"Known of the task: {', '.join(f'{name} = {value}' for name, value in found.slots)}")
    if skill.prerequisites:
        lines.append(f"Do first: {', '.join(f'`{name}` (skill_show {name})' for name in skill.prerequisites)}")
    if skill.product is not None and skill.product.format:
        kind = skill.product.artifact_type or "note"
        lines.append(
            f"Give the result as {skill.product.format}{f', in a {kind} of its own' * skill.product.artifacts}."
        )
    return "\n".join(lines)


def format_files(skill: Skill) -> str:
    """The files of a skill in one line; empty if it has none."""
    if not skill.files:
        return ""
    more = f" and {len(skill.files) - _LISTED_FILES} more" if len(skill.files) > _LISTED_FILES else ""
    named = ", ".join(f"`{path}`" for path in skill.files[:_LISTED_FILES])
    return f"Files of this skill, to be read with skill_show (none of them is ever run by itself): {named}{more}"


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """The index of skills for the model, and the names of the skills in it."""

    text: str = ""
    names: tuple[str, ...] = ()
    tokens: int = 0


def skill_index(skills: Iterable[Skill], near: set[str], room: int, count: TokenCounter) -> SkillIndex:
    """These skills, one line each, in at most `room` tokens; unreviewed ones are left out. Empty if not one fits.

    Those whose key is in `near` come first and are marked: they are near the task.
    """
    others = sorted((skill for skill in skills if skill.reviewed), key=lambda each: each.key not in near)
    lines = [_index_line(skill, skill.key in near) for skill in others]
    for shown in range(len(lines), 0, -1):
        rest = [f"and {len(lines) - shown} more: skill_list"] if shown < len(lines) else []
        text = "\n".join([_INDEX_HEAD, *lines[:shown], *rest])
        if (tokens := count(text)) <= room:
            return SkillIndex(text, tuple(skill.name for skill in others[:shown]), tokens)
    return SkillIndex()


def _index_line(skill: Skill, is_near: bool) -> str:
    text = clipped(skill.summary, _INDEX_LINE)
    return f"- `{skill.name}`: {text}{' (may fit this task)' * is_near}"
