"""The lines by which two versions of a note differ, for a person to judge. Loads nothing of git."""

from difflib import unified_diff

_COMPARED = 4_000
"""Lines up to which two versions are compared."""


def line_diff(before: bytes | None, after: bytes | None, context: int = 3) -> list[str]:
    """The unified diff from the version in force to the one that arrived, line by line, for a person to judge.

    Of versions too long to be compared (the cost grows with their product) it has all lines, old ones first.
    """
    old, new = ((each or b"").decode("utf-8", "replace").splitlines() for each in (before, after))
    if max(len(old), len(new)) > _COMPARED and old != new:
        return ["--- in force", "+++ arrived", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return list(unified_diff(old, new, "in force", "arrived", lineterm="", n=context))
