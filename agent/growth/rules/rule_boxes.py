"""The boxes at the end of a run's note that ask whether its rules on probation helped, and the parser of ticked ones.

A box counts for the rule that it links to; two ticked boxes for one rule count as no opinion.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from agent.growth.rules.rule import LearnedRule
from agent.markdown import blocks, tasks
from agent.texts import Language, in_all_languages, text

MOST = 3
"""The most rules that are asked about after one run: nobody ticks a long form."""
_BOX = re.compile(r"\[\[([^\]|]+)[^\]]*\]\]\s*[:：]\s*(\S.*)")
BoxOpinion = Literal["helpful", "not_helpful"]
_OPINIONS: tuple[BoxOpinion, ...] = ("helpful", "not_helpful")


def rule_boxes(rules: Sequence[LearnedRule], language: Language) -> str:
    """A question and two boxes for each rule; empty without rules."""
    rows = [
        text("skill_feedback.box", language, name=rule.link, opinion=text(f"skill_feedback.{each}", language))
        for rule in rules[:MOST]
        for each in _OPINIONS
    ]
    return "\n".join([text("rules.question", language), "", *(f"- [ ] {row}" for row in rows)]) if rows else ""


def ticked_rules(note: str) -> Iterator[tuple[str, BoxOpinion]]:
    """The paths of the rules with exactly one ticked box, and its opinion, for a note in any language."""
    found: dict[str, set[BoxOpinion]] = {}
    for task in tasks.find_tasks(blocks.parse_body(note)):
        box = _BOX.fullmatch(task.text.strip())
        if box is not None and task.done and box[2].strip() in _words():
            found.setdefault(f"{box[1]}.md", set()).add(_words()[box[2].strip()])
    for path, opinions in found.items():
        if len(opinions) == 1:
            yield path, opinions.pop()


@cache
def _words() -> Mapping[str, BoxOpinion]:
    return {words: each for each in _OPINIONS for words in in_all_languages(f"skill_feedback.{each}")}
