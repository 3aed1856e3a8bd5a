"""The boxes at the end of a run's note that ask if what was used in it was helpful, and the parser of ticked boxes.

A box is about the skill named beside it, or about what the link beside it names; two ticked boxes for one count as no
opinion.
"""

import re
from collections.abc import Iterable, Mapping

from agent.markdown import blocks, tasks
from agent.skills.history.usage import Opinion
from agent.texts import Language, in_all_languages, text

_BOX = re.compile(r"(?:`?([\w-]+)`?|\[\[([^\]|]+)[^\]]*\]\])\s*[:：]\s*(\S.*)")


def feedback_form(names: Iterable[str], question: str, language: Language) -> str:
    """The question with this key and two boxes for each name or link; empty without any."""
    opinions = text("skill_feedback.helpful", language), text("skill_feedback.not_helpful", language)
    boxes = [text("skill_feedback.box", language, name=name, opinion=each) for name in names for each in opinions]
    return "\n".join([text(question, language), "", *(f"- [ ] {box}" for box in boxes)]) if boxes else ""


def parse_feedback_form(note: str) -> Mapping[str, Opinion]:
    """The opinions by the names, or the targets of links, that have exactly one ticked box, for a note in any
    language."""
    opinions_by_words: dict[str, Opinion] = {
        **dict.fromkeys(in_all_languages("skill_feedback.helpful"), "helpful"),
        **dict.fromkeys(in_all_languages("skill_feedback.not_helpful"), "not_helpful"),
    }
    found: dict[str, set[Opinion]] = {}
    for task in tasks.find_tasks(blocks.parse_body(note)):
        box = _BOX.fullmatch(task.text.strip())
        if box is not None and task.done and (opinion := opinions_by_words.get(box[3].strip())):
            found.setdefault(box[1] or box[2], set()).add(opinion)
    return {name: opinions.pop() for name, opinions in found.items() if len(opinions) == 1}
