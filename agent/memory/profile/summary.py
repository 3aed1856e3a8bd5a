"""What a profile says on the whole: of each note the first lines."""

from collections.abc import Sequence

from agent.memory.profile.profile_file import ProfileFile

_SHOWN = 4
"""The statements that are named of each note."""


def whole_summary(files: Sequence[ProfileFile]) -> str:
    """What the profile says on the whole: of each filled note the first lines; empty if nothing is filled."""
    rows: list[str] = []
    for each in files:
        if each.filled:
            more = f" (+{len(each.said) - _SHOWN})" if len(each.said) > _SHOWN else ""
            rows.append(f"{each.layer} · {each.title} ({each.confidence:.2g}): {'; '.join(each.said[:_SHOWN])}{more}")
    return "\n".join(rows)
