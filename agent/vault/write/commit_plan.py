"""The commits of a transaction: first a person's saves, in their name, then the agent's; staged changes stay staged.

The agent's change is made in all three places of a note's text: HEAD, index and file. If the file had more than HEAD,
the difference is the person's: it is committed first, in their name. What this program held there is not theirs, and
becomes a part of its commit, or a commit of its own below theirs. If they have staged it, or do not want such
commits, a three-way merge carries only the agent's change over to HEAD and to the index.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.git.commit import CommitPlan, Edits, Layer, Tip
from agent.git.identities import AGENT, Person
from agent.git.object_ids import FILE, PROGRAM, blob_id
from agent.git.objects import Pack, TreeEntry
from agent.git.runner import Git
from agent.markdown.title import columns
from agent.texts import Language, text
from agent.vault.change import Applied, Collision, Stamp
from agent.vault.message import SUBJECT, compose
from agent.vault.worktree.survey import DirtyKind
from agent.vault.write.held_notes import HeldNote, message_of_held
from agent.vault.write.resolve import Combine

_SCOPE = "human(notes): "


def edit_summary(kinds: Mapping[str, DirtyKind], renames: Mapping[str, str], language: Language = "en") -> str:
    """The subject for files by kind, at least one, such as `human(notes): edited Trip plan, created Packing`.

    `renames` is old to new path, both also in `kinds`. Names that do not fit are counted.
    """
    moved = {*renames, *renames.values()}
    named: dict[str, list[str]] = {}
    for kind in (DirtyKind.EDITED, DirtyKind.CREATED, DirtyKind.DELETED):
        names = [_name(path) for path, found in kinds.items() if found is kind and path not in moved]
        named |= {kind.value: names} if names else {}
    for old, new in renames.items():
        verb, words = _as_move(old, new, language)
        named.setdefault(verb, []).append(words)
    longest = min(SUBJECT, max((len(names) for names in named.values()), default=0))  # no name takes less than a column
    groups = list(named.items())
    tries = [(most, len(groups)) for most in range(longest, 0, -1)]
    tries += [(1, full) for full in range(len(groups))[::-1]]
    line = ""
    for most, full in tries:
        line = _SCOPE + text("commit.comma", language).join(_groups(groups, most, full, language))
        if columns(line) <= SUBJECT:
            break
    return line


def _groups(groups: Sequence[tuple[str, Sequence[str]]], most: int, full: int, language: Language) -> Iterator[str]:
    """Each verb with its names, at most `most`; after the first `full` groups with their number only."""
    for at, (verb, names) in enumerate(groups):
        title = text(f"commit.{verb}", language, names=_listed(names, most, language))
        yield title if at < full else text(f"commit.{verb}_count", language, count=len(names))


def find_renames(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Old to new path of the files that moved: `before` has the deleted ones and their blob ids, `after` the created.

    A file counts as moved if its content is the same, or if it has the same name in another folder.
    """
    same = {oid: path for path, oid in after.items()}
    renames = {old: same[oid] for old, oid in before.items() if oid in same}
    taken = set(renames.values())
    left = {PurePosixPath(path).name: path for path in after if path not in taken}
    for old in [path for path in before if path not in renames]:
        name = PurePosixPath(old).name
        if name in left:
            renames[old] = left.pop(name)
    return renames


def _as_move(old: str, new: str, language: Language) -> tuple[str, str]:
    if PurePosixPath(old).name == PurePosixPath(new).name:
        folder = new.rpartition("/")[0]
        return "moved", text("commit.to", language, name=_name(old), folder=folder or text("commit.top", language))
    return "renamed", f"{_name(old)} → {_name(new)}"


def _listed(names: Sequence[str], most: int, language: Language) -> str:
    more, comma = len(names) - most, text("commit.comma_of_names", language)
    if more > 0:
        return text("commit.more", language, names=comma.join(names[:most]), count=more)
    if len(names) == 1:
        return names[0]
    return text("commit.both", language, names=comma.join(names[:-1]), name=names[-1])


def _name(path: str) -> str:
    return PurePosixPath(path).name.removesuffix(".md")


@dataclass(frozen=True, slots=True)
class CommitPlanner:
    """Sorts a transaction's files into commits."""

    git: Git
    combine: Combine
    prefix: str
    human_commits: bool
    owner: Callable[[], Person]
    known: KnownSecrets
    language: Language
    joins: Callable[[HeldNote], bool]
    """True for a held note that goes into the commit, as a log or a text to be forgotten does. Another one is a commit
    below, so that whoever takes back the new change leaves it."""

    def plan(
        self, applied: Sequence[Applied], message: str, tip: Tip, pack: Pack, held: Mapping[str, HeldNote]
    ) -> CommitPlan:
        """The commits of these files on top of `tip`; blobs are added to `pack`. `held` is by path."""
        earlier, before_theirs, human, ours, index = Edits(), Edits(), Edits(), Edits(), Edits()
        below = dict[str, HeldNote]()
        for item in applied:
            path = (self.prefix + item.path).encode("utf-8", "surrogateescape")
            before = base = tip.entry(path)
            note = held.get(item.path)
            if note is not None:
                base = _blob(note.data, item, pack, before)
                if note.data != item.found or not self.joins(note):
                    before_theirs[path] = base
                    below[item.path] = note
            found = _blob(item.found, item, pack, before)
            after = _blob(item.after, item, pack, before)
            staged = path in tip.staged and _differs(tip.staged[path], before, tip.width)
            if staged and tip.staged[path] == item.after:
                staged = False  # a crash came between the change of the index and the commit
            aside = staged or (not self.human_commits and found != base)
            carried = self._carried(item, base, note, tip.staged.get(path), staged) if aside else None
            if carried is not None:
                ours[path] = _put(carried[0], item, pack, before)
                index[path] = _put(carried[1], item, pack, before)
                continue
            if staged:
                earlier[path] = _blob(tip.staged[path], item, pack, before)
            if staged or found != base:
                human[path] = found
            ours[path], index[path] = after, after
        owner = self.owner() if earlier or human else AGENT
        layers = (
            Layer(earlier, owner, self._saved(earlier, tip)),
            Layer(before_theirs, AGENT, message_of_held(tuple(below.values()), self.known) if below else message),
            Layer(human, owner, self._saved(human, tip)),
            Layer(ours, AGENT, message),
        )
        return CommitPlan(layers, index)

    def _saved(self, edits: Edits, tip: Tip) -> str:
        """The message for a person's edits; empty for none."""
        if not edits:
            return ""
        kinds = {}
        for path, entry in edits.items():
            change = DirtyKind.EDITED if entry is not None else DirtyKind.DELETED
            name = path.decode("utf-8", "surrogateescape").removeprefix(self.prefix)
            kinds[name] = change if tip.entry(path) is not None else DirtyKind.CREATED
        return compose(
            edit_summary(kinds, {}, self.language),
            Stamp("human"),
            text("commit.saved_before", self.language),
            known=self.known,
        )

    def _carried(
        self,
        item: Applied,
        base: TreeEntry | None,
        note: HeldNote | None,
        staged_bytes: bytes | None,
        staged: bool,
    ) -> tuple[bytes, bytes] | None:
        """The texts of HEAD and of the index with only the agent's change; None if it overlaps with the person's.

        `base` is the entry in HEAD, or that of the held `note`.
        """
        if item.found is None or item.after is None or base is None:
            return None
        blob = note.data if note is not None else self._blob(base.oid)
        if blob is None:
            return None
        head = self.combine(Collision.MERGE, item.found, item.after, blob)
        if not staged:
            return None if head is None else (head, head)
        index = None if staged_bytes is None else self.combine(Collision.MERGE, item.found, item.after, staged_bytes)
        return None if head is None or index is None else (head, index)

    def _blob(self, oid: str) -> bytes | None:
        found = self.git.objects([oid])[0]
        return found.data if found else None


def _differs(staged: bytes | None, head: TreeEntry | None, width: int) -> bool:
    return (blob_id(staged, width) if staged is not None else None) != (head.oid if head else None)


def _blob(data: bytes | None, item: Applied, pack: Pack, before: TreeEntry | None) -> TreeEntry | None:
    return None if data is None else _put(data, item, pack, before)


def _put(data: bytes, item: Applied, pack: Pack, before: TreeEntry | None) -> TreeEntry:
    file_mode = before.mode if before else FILE
    mode = file_mode if item.mode is None else (PROGRAM if item.mode & 0o100 else FILE)
    return TreeEntry(mode, pack.add("blob", data))
