"""Rules for the passages that a model may be shown, asked for or not. Access rights are left to `recaller`."""

import re

from agent.index.hit import Hit
from agent.vault.folders import MEMORY_NOTE, SESSIONS, Recalled, folder_of

ABOUT = "about"
"""The type of notes that explain the vault's folders; their examples are no facts."""
SPARE = 3
"""So many times the passages that are wanted are asked for, as some are not to be given."""
_BARE = re.compile(r"\s*(?:#{1,6} .*|.*\[\[(?:About|关于) .*)?")
"""A line without a memory in it: blank, a heading, or one that points to a note that explains."""
_PLACEHOLDER = re.compile(
    r"\s*(?:[-*+]\s+|\|\s*)?(?:[^\n:：|\[\]]{1,80}[:：|](?:\*\*)?\s*)?"
    r"[\[（(【]\s*(?:to be (?:filled|completed|added)|not (?:filled|known) yet|待填充|待填写|待补充|待完善)"
    r"[^\n]*[\]）)】][\s|]*",
    re.IGNORECASE,
)
"""A line whose value nobody has filled in yet, such as `- Name: [to be filled]` or `- **姓名**: [待填写]`."""


def may_be_found(hit: Hit) -> bool:
    """Return whether a search may find the passage for a model.

    Of a session only its summaries are found: the words of a transcript would be the best match for its own questions.
    """
    folder = folder_of(hit.path)
    return folder.searched and (folder.path != SESSIONS or "-summary-" in hit.path)


def may_be_offered(hit: Hit) -> bool:
    """Return whether the passage is knowledge, as a note or as a memory: what steers, notes that explain the vault and
    a MEMORY.md without a memory are not."""
    row = folder_of(hit.path)
    if row.path == MEMORY_NOTE and is_bare(hit.passage):
        return False
    return row.recalled is not Recalled.NO and may_be_found(hit) and ("type", ABOUT) not in hit.facets


def is_given_as_note(hit: Hit) -> bool:
    """Return whether the passage may come before a model unasked, beside the memories."""
    return may_be_offered(hit) and folder_of(hit.path).recalled is Recalled.AS_NOTE


def is_bare(passage: str) -> bool:
    """Return whether a passage holds headings and unfilled placeholders, and no memory."""
    return all(_BARE.fullmatch(line) for line in filled(passage).splitlines())


def filled(passage: str) -> str:
    """Return the passage without the lines in which a placeholder waits for its value."""
    return "\n".join(line for line in passage.splitlines() if not _PLACEHOLDER.fullmatch(line))
