"""Chooses what of an arrival is held back, and writes it into the record before any of the arrival is taken in."""

from collections.abc import Collection, Iterator, Mapping

from agent.errors import BadPath
from agent.git.object_ids import FILE, PROGRAM
from agent.git.objects import TreeEntry
from agent.git.runner import Git
from agent.git.tree_edit import changed_pairs
from agent.vault.folders import OWN_NOTES, AgentFolder, folded, is_hidden, may_instruct_others
from agent.vault.held_back import HeldBack, HeldFile, HoldReason, add_held_back, load_held_back
from agent.vault.store import Vault
from agent.vault.worktree.paths import check, is_note
from agent.vault.worktree.survey import IGNORE_FILE, ignored_here


def is_own_version(vault: Vault, path: str, blob: str, commits: Collection[str] = ()) -> bool:
    """True if the person has looked at this version (a blob; empty: its removal), or if all that was brought to the
    path by `commits`, or with just this content ever, is proved to be an own machine's. Unknown is not proved."""
    record = vault.provenance
    record.look()
    if record.looks.has(path, blob):
        return True
    arrivals = record.database.at(path)
    found = [each.commit for each in arrivals if each.commit in commits or each.after == (blob or None)]
    return bool(found) and not record.made_by_others(found)


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
    return is_display_only(path)


def is_display_only(path: str) -> bool:
    """True for a file that programs show and do not run or obey, by its name."""
    stem, dot, ending = folded(path.rpartition("/")[2]).rpartition(".")
    return bool(stem and dot) and ending in _ENDINGS and not may_instruct_others(path)


_PLAIN = frozenset((FILE, PROGRAM))
_AT_FIRST = frozenset((IGNORE_FILE, ".gitattributes"))
"""Files without which the first commit here would publish what the others keep out of git, or change their lines."""


def hold_back(vault: Vault, ours: str, commit: str, theirs: str) -> tuple[HeldFile, ...]:
    """Record what is held back when the vault moves from HEAD's commit `ours` to `commit`, with what the remote has at
    `theirs`; returns it. Call this under the writer lock."""
    pairs = {
        raw.decode("utf-8", "surrogateescape"): pair for raw, pair in changed_pairs(vault.git, ours, commit).items()
    }
    found = tuple(_Choice(vault, theirs, ours, pairs).held())
    add_held_back(vault.place.gitdir, found)
    return found


def held_of_clone(files: Mapping[str, TreeEntry], commit: str, marker: str, home: AgentFolder) -> Iterator[HeldFile]:
    """What is held back of the first version of a vault that others write to, too; `marker` must be there."""
    for path, entry in files.items():
        name = path.rpartition("/")[2]
        if path == marker or (name in _AT_FIRST and entry.mode == FILE):
            continue
        reason = _by_itself(path, entry)
        if reason is None and not comes_silently(path, entry.mode, home):
            reason = HoldReason.ACTS
        if reason is not None:
            yield HeldFile(path, entry.oid, entry.mode, reason, commit)


def what_cannot_be_here(files: Mapping[str, TreeEntry], commit: str) -> Iterator[HeldFile]:
    """What is held back of a clone of the person's own."""
    for path, entry in files.items():
        if (reason := _by_itself(path, entry)) is HoldReason.NAME:
            yield HeldFile(path, entry.oid, entry.mode, reason, commit)


def _by_itself(path: str, entry: TreeEntry) -> HoldReason | None:
    """Why nobody's file of this kind or name is brought to the disk; None if it can be."""
    if entry.mode not in _PLAIN:
        return HoldReason.LINK
    try:
        check(path, system=True, arrives=True)
    except BadPath:
        return HoldReason.NAME
    return None


class _Choice:
    """The choice for one arrival."""

    def __init__(
        self,
        vault: Vault,
        theirs: str,
        ours: str,
        pairs: Mapping[str, tuple[TreeEntry | None, TreeEntry | None]],
    ) -> None:
        self.vault = vault
        self.theirs = theirs
        self.ours = ours
        self.pairs = pairs
        self.known: HeldBack = load_held_back(vault.place.gitdir)
        new = [path for path, (old, entry) in pairs.items() if entry is not None and self._is_new(path, old)]
        self.private: Collection[str] = ignored_here(vault.git, new)
        self._commits: frozenset[str] | None = None

    def held(self) -> Iterator[HeldFile]:
        """The files of the arrival that are held back."""
        for path, (old, entry) in self.pairs.items():
            reason = self._reason(path, old, entry) if entry is not None else self._reason_to_keep(path)
            if reason is None:
                continue
            known = self.known.get(path, old.oid) if old is not None else None
            before = known.before if known is not None else old.oid if old is not None else ""
            mode, oid = (entry.mode, entry.oid) if entry is not None else ("", "")
            yield HeldFile(path, oid, mode, reason, self.theirs, before)

    def _reason_to_keep(self, path: str) -> HoldReason | None:
        """Why a file that is removed stays: without its rules, what the person keeps out of git would be sent."""
        is_rule = path.rpartition("/")[2] == IGNORE_FILE
        return HoldReason.ACTS if is_rule and not self._is_own(path, "") else None

    def _is_new(self, path: str, old: TreeEntry | None) -> bool:
        """True for a path that this machine has not had in git, as far as the person knows."""
        return old is None or ((known := self.known.get(path, old.oid)) is not None and not known.before)

    def _reason(self, path: str, old: TreeEntry | None, entry: TreeEntry) -> HoldReason | None:
        reason = _by_itself(path, entry)
        if reason is not None:
            return reason
        try:
            here = self.vault.files.read(path)
        except BadPath:
            return HoldReason.LINK
        if here is not None and self.vault.content_id(here) == entry.oid:
            return None
        if path in self.private:
            return HoldReason.PRIVATE if here is not None or not self._is_own(path, entry.oid) else None
        released = old.mode if old is not None and self.known.get(path, old.oid) is None else ""
        if comes_silently(path, entry.mode, self.vault.home, released) or self._is_own(path, entry.oid):
            return None
        return HoldReason.ACTS

    def _is_own(self, path: str, blob: str) -> bool:
        if self._commits is None:
            self._commits = _between(self.vault.git, self.ours, self.theirs)
        return is_own_version(self.vault, path, blob, self._commits)


def _between(git: Git, ours: str, theirs: str) -> frozenset[str]:
    """The commits that the other side has and this one has not."""
    out = git.run("rev-list", "--end-of-options", theirs, f"^{ours}", ok=(0, 128))
    return frozenset(out.decode("ascii", "replace").split())
