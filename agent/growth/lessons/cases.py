"""Whether the case of a lesson came up in a run, by what was asked for: only then does the run say something of the
lesson.

A case came up if its words and those of the task mean nearly the same: by the search index's embedder, else by common
words. That misses some uses; it counts few wrong ones, and a box that the person ticks about a lesson counts in any
case."""

import re

from agent.growth.patterns.likeness import Vectors, words_in

FITS = 0.57
"""The cosine of a case and a task from which the case came up. Fitted to pairs in both languages: "meeting notes are
filed" and "File the meeting notes of the budget" have .73, the same case and "When is the weekly meeting?" .48;
修改笔记时 and 把这篇笔记里的日期改一下 .68, and with 概括一下上周的三篇笔记 .52."""
FITS_BY_WORDS = 0.6
"""Without vectors: the share of the case's words that the task has."""
_LINK = re.compile(r"\[\[(?:[^\]|\n]*[/|])?([^\]|\n]+)\]\]")


def case_fits(case: str, task: str, vectors: Vectors | None) -> bool:
    """True if a case (empty: any) and a task mean nearly the same; links in the task count by the names of their
    notes."""
    said = _LINK.sub(r"\1", task)
    if not case:
        return True
    if vectors is not None:
        rows = vectors([case, said])
        return float(rows[0] @ rows[1]) >= FITS
    words = words_in(case)
    return bool(words) and len(words & words_in(said)) / len(words) >= FITS_BY_WORDS
