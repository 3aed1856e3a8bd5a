"""The files that come without a question: notes, and what people keep beside them, that nothing runs or obeys.

A list of the good: whatever else another program may make of a file, now or later, it is shown first.
"""

from agent.vault.folders import OWN_NOTES, AgentFolder, folded, is_hidden, may_instruct_others
from agent.vault.plumbing.object_ids import FILE
from agent.vault.worktree.paths import is_note

_TEXTS = "md markdown txt text csv tsv canvas base org rst adoc log bib ris ics vcf eml srt vtt lrc"
_PICTURES = "png jpg jpeg jpe gif bmp webp avif heic heif tif tiff ico psd xcf"
_SOUNDS = "mp3 wav m4a ogg oga opus flac aac 3gp aiff mid midi mp4 m4v mov mkv webm ogv avi mpg mpeg"
_DOCUMENTS = "pdf epub djvu docx xlsx pptx odt ods odp odg rtf pages numbers key"
_ENDINGS = frozenset(f"{_TEXTS} {_PICTURES} {_SOUNDS} {_DOCUMENTS}".split())
"""Endings of files that programs show and do not run. Not among them: HTML and SVG, which have scripts, and the formats
of settings, of which the next program's are not known."""
_OBSIDIAN = frozenset(f".obsidian/{name}.json" for name in ("app", "graph", "types", "backlink", "page-preview"))
"""Obsidian's own settings that name no plugin, style, key or file to open."""


def comes_silently(path: str, mode: str, home: AgentFolder, before: str = "") -> bool:
    """True if a file may come from where others write without a question.

    `mode` is git's, `before` that of the version that is here. The agent's own notes are looked at elsewhere: what
    steers in them counts only after a yes, wherever it came from.
    """
    if path in _OBSIDIAN:
        return mode == FILE
    if is_hidden(path) or mode not in {FILE, before}:
        return False
    if is_note(path) and home.row(path) is not OWN_NOTES:
        return True
    stem, dot, ending = folded(path.rpartition("/")[2]).rpartition(".")
    return bool(stem and dot) and ending in _ENDINGS and not may_instruct_others(path)
