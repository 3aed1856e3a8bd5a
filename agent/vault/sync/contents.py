"""The content of a file that both sides have changed: notes block by block, other text line by line, else one whole
version with the other one beside it."""

from agent.dataclass import dataclass
from agent.markdown.merging.notes import MergedNote, merge_notes
from agent.vault.folders import AgentFolder, is_hidden, is_log
from agent.vault.plumbing.git import Git
from agent.vault.worktree.paths import is_note
from agent.vault.write.merge import merge_lines


@dataclass(frozen=True, slots=True)
class Versions:
    """The contents of one file: at the common commit (None: not there), here, and there."""

    base: bytes | None
    ours: bytes
    theirs: bytes


def merged_file(git: Git, path: str, versions: Versions, home: AgentFolder) -> MergedNote:
    """Merge one file; the same for both sides, whoever merges. A settings file of an editor (a hidden path) has no
    second version beside it: git's history has it."""
    base, ours, theirs = versions.base, versions.ours, versions.theirs
    if ours == theirs or theirs == base:
        return MergedNote(ours, None)
    if ours == base:
        return MergedNote(theirs, None)
    if is_note(path):
        return merge_notes(base, ours, theirs, is_log=is_log(path, home))
    lines = merge_lines(git, base, ours, theirs) if base is not None else None
    if lines is not None:
        return MergedNote(lines, None)
    first, second = max(ours, theirs), min(ours, theirs)
    return MergedNote(first, None if is_hidden(path) else second)
