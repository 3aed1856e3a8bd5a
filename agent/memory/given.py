"""Which passages of notes may be put before a model at all, asked for or not; whose they are is `recall`'s."""

from agent.index.hit import Hit

ABOUT = "about"
"""The type of notes that explain the vault's folders: what they say is nobody's, and their examples no facts."""
SPARE = 3
"""So many times the passages that are wanted are asked for, as some are not to be given."""
_STANDING = "AGENT.md"
_OVER, _TRANSCRIPTS = "archive/", "sessions/"


def is_found(hit: Hit) -> bool:
    """Whether a passage is one to find for a model: what is over is not, nor are transcripts.

    A transcript would be the best match for its own questions; what is worth recalling of it stands in its summaries
    and in entries.
    """
    if hit.path.startswith(_TRANSCRIPTS):
        return "-summary-" in hit.path
    return not hit.path.startswith(_OVER)


def is_given(hit: Hit) -> bool:
    """Whether a passage is one to give a model unasked: not what explains the vault, nor what it has in any case."""
    return is_found(hit) and ("type", ABOUT) not in hit.facets and hit.path != _STANDING
