"""The boxes at the end of a run's note that ask whether its skills were of use, and what a person has ticked there.

A box counts for what stands beside it and nothing else; with both ticked nothing was said.
"""

import re
from collections.abc import Iterable, Iterator

from agent.markdown import blocks, tasks
from agent.skills.usage import Opinion

_SAID = {
    "en": ("Were these of use? Tick what is true.", "{0}: helpful", "{0}: not helpful"),
    "zh": ("这些技能有用吗？请勾选。", "{0}：有用", "{0}：没用"),
}
_BOX = re.compile(r"`?([\w-]+)`?\s*[:：]\s*(helpful|not helpful|有用|没用)")
_OPINIONS: dict[str, Opinion] = {
    "helpful": "helpful",
    "有用": "helpful",
    "not helpful": "not_helpful",
    "没用": "not_helpful",
}


def boxes(names: Iterable[str], language: str) -> str:
    """Two boxes for each skill, below a line that asks; empty for no skill."""
    question, good, bad = _SAID[language]
    lines = [f"- [ ] {said.format(name)}" for name in names for said in (good, bad)]
    return "\n".join([question, "", *lines]) if lines else ""


def ticked(text: str) -> Iterator[tuple[str, Opinion]]:
    """The skills that somebody has ticked one of the boxes of, with what that says."""
    found: dict[str, set[Opinion]] = {}
    for task in tasks.find_tasks(blocks.parse_body(text)):
        box = _BOX.fullmatch(task.text.strip())
        if box is not None and task.done:
            found.setdefault(box[1], set()).add(_OPINIONS[box[2]])
    for name, opinions in found.items():
        if len(opinions) == 1:
            yield name, opinions.pop()
