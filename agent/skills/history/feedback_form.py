"""The boxes at the end of a run's note that ask if its skills were helpful, and the parser of ticked boxes.

A box counts for the skill named beside it; two ticked boxes for one skill count as no opinion.
"""

import re
from collections.abc import Iterable, Iterator

from agent.markdown import blocks, tasks
from agent.skills.history.usage import Opinion
from agent.texts import Language, in_all_languages, text

_BOX = re.compile(r"`?([\w-]+)`?\s*[:：]\s*(\S.*)")


def feedback_form(names: Iterable[str], language: Language) -> str:
    """A question and two boxes for each skill; empty without skills."""
    opinions = text("skill_feedback.helpful", language), text("skill_feedback.not_helpful", language)
    boxes = [text("skill_feedback.box", language, name=name, opinion=each) for name in names for each in opinions]
    question = text("skill_feedback.question", language)
    return "\n".join([question, "", *(f"- [ ] {box}" for box in boxes)]) if boxes else ""


def parse_feedback_form(note: str) -> Iterator[tuple[str, Opinion]]:
    """The skills with exactly one ticked box and its opinion, for a note in any language."""
    opinions_by_words: dict[str, Opinion] = {
        **dict.fromkeys(in_all_languages("skill_feedback.helpful"), "helpful"),
        **dict.fromkeys(in_all_languages("skill_feedback.not_helpful"), "not_helpful"),
    }
    found: dict[str, set[Opinion]] = {}
    for task in tasks.find_tasks(blocks.parse_body(note)):
        box = _BOX.fullmatch(task.text.strip())
        if box is not None and task.done and box[2] in opinions_by_words:
            found.setdefault(box[1], set()).add(opinions_by_words[box[2]])
    for name, opinions in found.items():
        if len(opinions) == 1:
            yield name, opinions.pop()
