"""Rules for the passages that a model may be shown, asked for or not. Access rights are left to `recaller`."""

import re

from agent.index.hit import Hit

ABOUT = "about"
"""The type of notes that explain the vault's folders; their examples are no facts."""
SPARE = 3
"""So many times the passages that are wanted are asked for, as some are not to be given."""
_STANDING, _LASTING = "AGENT.md", "MEMORY.md"
_BARE = re.compile(r"\s*(?:#{1,6} .*|.*\[\[(?:About|关于) .*)?")
"""A line without a memory in it: blank, a heading, or one that points to a note that explains."""
_OVER, _TRANSCRIPTS = "archive/", "sessions/"


def may_be_found(hit: Hit) -> bool:
    """True for a passage that a search may find for a model: nothing archived, and no transcript.

    A transcript would be the best match for its own questions; what is worth recalling of it stands in its summaries
    and in entries.
    """
    if hit.path.startswith(_TRANSCRIPTS):
        return "-summary-" in hit.path
    return not hit.path.startswith(_OVER)


def may_be_offered(hit: Hit) -> bool:
    """True for a passage that a model may be given unasked: not what explains the vault, nor what it has in any
    case, nor the headings of a memory that has nothing in it yet."""
    if hit.path == _LASTING and is_bare(hit.passage):
        return False
    return may_be_found(hit) and ("type", ABOUT) not in hit.facets and hit.path != _STANDING


def is_bare(passage: str) -> bool:
    """True for a passage of blank lines, headings and pointers only."""
    return all(_BARE.fullmatch(line) for line in passage.splitlines())
