"""The summary of a profile for the model: layer 0 always, other notes by what they have to do with the task."""

from collections.abc import Callable, Sequence

from agent.dataclass import dataclass
from agent.memory.profile.profile_file import ProfileFile
from agent.memory.profile.search import relevance

LEAST_CONFIDENCE = 0.6
"""A note is given only above this confidence."""
_LEAST_RELEVANCE = 0.05
_BASE = 0
_SHOWN = 4
"""The statements that are named of each note."""


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """The part of a summary that comes from one note: its text, and how relevant it is."""

    file: ProfileFile
    text: str
    score: float


def profile_summary(
    files: Sequence[ProfileFile],
    task: str,
    room: int,
    count: Callable[[str], int],
    is_sure: Callable[[str], bool] = bool,
) -> tuple[SummaryPart, ...]:
    """The parts that fit into `room` tokens, the base first; a part that does not fit is cut at its lines. A line that
    is not sure, by `is_sure`, is left out."""
    sure = [each for each in files if each.filled and each.confidence > LEAST_CONFIDENCE]
    ranked = [(2.0 if each.layer == _BASE else relevance(each, task), each) for each in sure]
    ranked.sort(key=lambda item: (-item[0], item[1].layer, item[1].name))
    parts: list[SummaryPart] = []
    left = room
    for score, each in ranked:
        if score < _LEAST_RELEVANCE:
            break
        rows = [f"{each.title} ([[{each.path.removesuffix('.md')}]], confidence {each.confidence:.2g}):"]
        used = count(rows[0])
        for row in filter(is_sure, (f"- {text}" for text in each.said)):
            if used + count(row) + 1 > left:
                break
            rows.append(row)
            used += count(row) + 1
        if len(rows) > 1:
            parts.append(SummaryPart(each, "\n".join(rows), score))
            left -= used + 1
    return tuple(parts)


def whole_summary(files: Sequence[ProfileFile]) -> str:
    """What the profile says on the whole: of each filled note the first lines; empty if nothing is filled."""
    rows: list[str] = []
    for each in files:
        if each.filled:
            more = f" (+{len(each.said) - _SHOWN})" if len(each.said) > _SHOWN else ""
            rows.append(f"{each.layer} · {each.title} ({each.confidence:.2g}): {'; '.join(each.said[:_SHOWN])}{more}")
    return "\n".join(rows)
