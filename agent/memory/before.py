"""Entries of earlier versions that correct a statement have it in brackets below: "No, on Thursday (before: …)"."""

import re

from agent.texts import in_all_languages

_BEFORE = re.compile(
    r"\n(?:" + "|".join(re.escape(each).replace(r"\{text\}", "(.+)") for each in in_all_languages("memory_fact.before"))
    + r")\s*\Z"
)  # fmt: skip


def before_in(entry_text: str) -> str:
    """The statement that an entry's text says it corrects; empty if it names none."""
    found = _BEFORE.search(entry_text)
    return next(filter(None, found.groups()), "") if found else ""


def without_before(entry_text: str) -> str:
    """The text of an entry without the statement that it corrects."""
    return _BEFORE.sub("", entry_text)
