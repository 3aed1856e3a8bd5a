"""The lines that differ between two versions of a note, for a person to judge. Does not import git."""

from difflib import unified_diff

_COMPARED = 4_000
"""Maximum number of lines of two versions that are compared."""


def line_diff(before: bytes | None, after: bytes | None, context: int = 3) -> list[str]:
    """The unified diff from the version in force to the one that arrived, for a person to judge.

    Versions too long to be compared (the cost grows with the product of their lengths) are listed in full, the old
    first.
    """
    old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    if max(len(old), len(new)) > _COMPARED and old != new:
        return ["--- in force", "+++ arrived", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return list(unified_diff(old, new, "in force", "arrived", lineterm="", n=context))
