"""A change of several lines at once in a note about the person: a pattern with its boxes, a lesson with its count.

The program writes such blocks, brings their lines up to date and takes them out again. Lines that the person wrote or
keeps are no block of the program's, so that nothing of theirs is ever changed this way.
"""

from typing import Literal

from agent.dataclass import dataclass
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.note_edit import NoteEdit

BlockDone = Literal["added", "replaced", "removed"]


@dataclass(frozen=True, slots=True)
class BlockChange:
    """The lines `before`, as the program wrote them in `note`, become the lines `after`: without `before` they are
    added to the section of the heading, without `after` they are taken out. `says` is the block in a few words for the
    changelog; `id` is the writer's own."""

    note: str
    says: str
    heading: str
    evidence: tuple[Evidence, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    id: str = ""


def change_block(edit: NoteEdit, change: BlockChange) -> BlockDone | None:
    """Make the change; a section that is left empty goes. Returns what was done, or None if
    the lines are not there as the program wrote them, or the person keeps the program out of the section."""
    edit.mark_kept()
    if not change.before:
        return "added" if edit.add(change.heading, *change.after) else None
    if not edit.replace_lines(change.before, change.after):
        return None
    if change.after:
        return "replaced"
    edit.drop_empty_section(change.heading)
    return "removed"
