"""The texts of skills for the model: a whole skill, and the index of all.

A text is never cut: half of the instructions for a piece of work are worse than none.
"""

import re
from collections.abc import Iterable, Sequence

from agent.dataclass import dataclass
from agent.markdown.title import clipped
from agent.skills.matching.selection import SkillText
from agent.skills.matching.tool_allowlist import ALWAYS, allowance
from agent.skills.matching.workflow import ComposedText, TokenCounter, compose_workflow
from agent.skills.reading.skill import FindSkill, Skill

HEADING = "## Skill: "
"""What the text of a skill begins with, before its name."""
_INDEX_LINE = 160
"""The most characters of what a skill does in its line of the index, and of when to use it."""
_USE_WHEN = re.compile(
    r"\b(?:use[ds]?|using|activates?|triggers?|invoked?)\b[^.!?]{0,30}?\b(?:when|whenever|if|for)\b"
    r"|\bwhen (?:you|the user|the person|someone|somebody|asked|working|claude)\b"
    r"|(?:当|在)[^。；]{1,60}(?:时|的时候)|适用于|用于|用来",
    re.IGNORECASE,
)
"""Where a description says when its skill is to be used."""
_INDEX_HEAD = "Skills: instructions for one kind of work each; open one with skills (show) before doing such work:"
_LISTED_FILES = 40


def compose_text(skill: Skill, find: FindSkill, room: int, count: TokenCounter) -> SkillText:
    """The text of a skill; a chain's text has the steps that fit in `room` tokens."""
    around = count(_whole(skill, ""))
    made = compose_workflow(skill, find, room - around, count) if skill.chain else ComposedText(skill.body)
    text = _whole(skill, made.text)
    return SkillText(text, count(text), made.on_request)


def reminder(skill: Skill) -> str:
    """The text for a skill whose instructions the model still has from an earlier task of the session."""
    return f"{_head(skill)}\nThey stand further up."


def has_text(skill: Skill, texts: Sequence[str]) -> bool:
    """True if the skill's own instructions are in one of the texts."""
    return bool(skill.body) and any(skill.body in each for each in texts)


def names_skill(task: str, skill: Skill) -> bool:
    """True if a task names a skill: `meeting-notes`, or with the word beside it "the skill tea"."""
    name = re.escape(skill.name)
    loose = name.replace(r"\-", "[- ]")
    alone = rf"(?<![a-z0-9_/\[-]){name}(?![a-z0-9_/\]-]|\.\w)" if "-" in skill.name else ""
    beside = rf"(?:\bskill|技能)[:：]?\s*[\"'“`]?{loose}(?![a-z0-9_])|(?<![a-z0-9_]){loose}[\"'”`]?\s*(?:skill\b|技能)"
    return re.search("|".join(filter(None, (alone, beside))), task, re.IGNORECASE) is not None


def _whole(skill: Skill, body: str) -> str:
    return "\n\n".join(filter(None, [_head(skill), body, format_files(skill)]))


def _head(skill: Skill) -> str:
    lines = [
        f"{HEADING}{skill.name}",
        "Follow its steps where they serve what was asked, which comes first.",
    ]
    if (allowed := allowance([skill])) is not None:
        lines.append(f"Only these tools may be called: {', '.join(sorted(allowed.words | ALWAYS))}")
    if skill.prerequisites:
        lines.append(f"Do first: {', '.join(f'`{name}` (skills: show {name})' for name in skill.prerequisites)}")
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
    return f"Files of this skill, to be read with skills (show; none of them is ever run by itself): {named}{more}"


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """The index of skills for the model, and the names of the skills in it."""

    text: str = ""
    names: tuple[str, ...] = ()
    tokens: int = 0


def use_when(description: str) -> str:
    """The part of a description that says when to use the skill, to its end; empty if it does not say so."""
    found = _USE_WHEN.search(description)
    return description[found.start() :] if found is not None else ""


def _index_line(summary: str) -> str:
    """A description, cut in what the skill does and in when to use it, but never before it says when."""
    when = use_when(summary)
    what = summary[: len(summary) - len(when)]
    if len(summary) <= _INDEX_LINE or not when:
        return clipped(summary, _INDEX_LINE)
    return f"{clipped(what.strip(), _INDEX_LINE)} {clipped(when, _INDEX_LINE)}".strip()


def skill_index(skills: Iterable[Skill], near: Sequence[str], room: int, count: TokenCounter) -> SkillIndex:
    """These skills, one line each, in at most `room` tokens; unreviewed ones are left out. Empty if not one fits.

    Those whose keys are in `near` come first, in that order.
    """
    rank = {key: at for at, key in enumerate(near)}
    others = sorted((skill for skill in skills if skill.reviewed), key=lambda each: rank.get(each.key, len(rank)))
    lines = [f"- `{skill.name}`: {_index_line(skill.summary)}" for skill in others]
    for shown in range(len(lines), 0, -1):
        rest = [f"and {len(lines) - shown} more: skills (list)"] if shown < len(lines) else []
        text = "\n".join([_INDEX_HEAD, *lines[:shown], *rest])
        if (tokens := count(text)) <= room:
            return SkillIndex(text, tuple(skill.name for skill in others[:shown]), tokens)
    return SkillIndex()
