"""A note about the person without what is forgotten: a field is empty again, other lines of the agent's go."""

from collections.abc import Callable, Sequence

from agent.markdown.note import Note
from agent.memory.forgetting.said_again import has_name
from agent.memory.profile.profile_file import CHANGELOG, field_in

LineWithout = Callable[[str], str]
"""Function from a line to what is left of it; empty if it rests on nothing else."""


def profile_note_without(
    path: str, data: bytes, theirs: Sequence[bool], left_of: LineWithout, followed: LineWithout, *, names: Sequence[str]
) -> bytes:
    """The note with its lines as `left_of` leaves them, but those of the person (`theirs`, one for each line of the
    file), which are only `followed`. `names` are the notes that go: a row of the changelog that cites one goes, too."""
    note, is_log = Note.parse(data), path.endswith(CHANGELOG)
    rows: list[str] = []
    for at, row in enumerate(note.body.split("\n"), max(note.body_line, 1)):
        if at > len(theirs) or theirs[at - 1]:
            rows.append(followed(row))
            continue
        left = "" if is_log and any(has_name(row, name) for name in names) else left_of(row)
        if left or not row.strip():
            rows.append(left)
        elif not is_log and (field := field_in(row)) is not None:
            rows.append(field[0].rstrip())
    return note.with_body("\n".join(rows)).data
