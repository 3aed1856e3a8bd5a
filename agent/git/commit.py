"""Commits by git plumbing: changed paths on top of HEAD's tree, an updated shared index, HEAD by compare-and-swap.

Must be called with the index lock held. The caller plans the commits, and plans again whenever HEAD has moved in the
meantime. `apply` writes the files.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import field
from datetime import datetime

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import GitFailed, Permanent, Retryable
from agent.git.identities import REFLOG_MARK, Person, Sign, signature, with_signature
from agent.git.index_file import IndexChanged, LoadExcluded, SharedIndex, load_index
from agent.git.index_lock import keep_index_lock
from agent.git.object_ids import FOLDER
from agent.git.objects import (
    Pack,
    TreeEntry,
    Trees,
    entry_in,
    folders,
    format_commit,
    graft,
    load_loose,
    parse_tree,
    store,
)
from agent.git.repository import Place, common_folder, head_commit
from agent.git.runner import Git
from agent.texts import Sentence

RETRIES = 60
FEW_PATHS = 20
_PAUSE = 0.01

Edits = dict[bytes, TreeEntry | None]
"""Paths inside the repository with their new entries; None removes the path."""


class HeadMoved(Retryable):
    """HEAD is not at the commit any more on which a finished one stands."""


@dataclass(frozen=True, slots=True)
class Tip:
    """HEAD at the time of reading.

    `commit` is None before the first one. `trees` has the folders above the requested paths. `staged` has their blobs
    in the index, if requested. `width` is the length of ids in hex digits.
    """

    commit: str | None
    trees: Trees
    staged: dict[bytes, bytes | None] = field(default_factory=dict)
    width: int = 40

    def entry(self, path: bytes) -> TreeEntry | None:
        """HEAD's entry at the path."""
        return entry_in(self.trees, path)


@dataclass(frozen=True, slots=True)
class Layer:
    """One commit to make: changed entries, author and message."""

    edits: Edits
    author: Person
    message: str


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """The commits to make, oldest first, and the new index entries of the same paths."""

    layers: tuple[Layer, ...]
    index: Edits


@dataclass(frozen=True, slots=True)
class Committer:
    """Makes commits in one repository, signed by `sign`; the index has git's mark for what is `excluded`."""

    git: Git
    place: Place
    clock: Clock
    sign: Sign
    excluded: LoadExcluded

    def commit(
        self,
        paths: Sequence[bytes],
        plan: Callable[[Tip, Pack], CommitPlan],
        token: str,
        *,
        read_staged: bool = True,
        refresh: bool = False,
        before_ref: Callable[[str], None] = lambda commit: None,
    ) -> tuple[str | None, ...]:
        """Make the planned commits on top of HEAD; returns an id per layer, None if a layer changed nothing.

        `before_ref` is called with the new commit just before HEAD moves to it. `refresh` updates the index's file
        times, which costs one `stat` per file. Raises `GitFailed` or `Retryable`; HEAD and the index are then
        unchanged.
        """
        when, index = self.clock.now(), SharedIndex(self.git, token, self.excluded)
        with index.put_back():
            for _ in range(RETRIES):
                tip = self.read_tip(paths, read_staged)
                with closing(Pack(tip.width, level=0 if len(paths) < FEW_PATHS else 1)) as pack:
                    planned = plan(tip, pack)
                    made = _chain(tip, planned.layers, pack, when, self.sign)
                    new = next((commit for commit in reversed(made) if commit), None)
                    try:
                        self._store(pack if new else None, index, planned.index, refresh and new is not None)
                    except IndexChanged:
                        if not keep_index_lock(self.place.gitdir, token):
                            raise
                        self.clock.sleep(_PAUSE)
                        continue
                if new is None:
                    return made
                before_ref(new)
                if self._move_head(new, tip, planned.layers[-1].message):
                    return made
                self.clock.sleep(_PAUSE)
            raise Retryable("another program moves the branch without a pause", hint="try again when it is done")

    def move_to(
        self,
        commit: str,
        seen: str,
        entries: Edits,
        token: str,
        reason: str,
        before_ref: Callable[[str], None],
    ) -> None:
        """Move HEAD from the commit `seen` to a finished one, whose `entries` go into the shared index.

        `reason` is for the reflog. Raises `HeadMoved` if HEAD is elsewhere by now; HEAD and the index are then
        unchanged.
        """
        index = SharedIndex(self.git, token, self.excluded)
        with index.put_back():
            for _ in range(RETRIES):
                tip = self.read_tip([])
                if tip.commit != seen:
                    raise HeadMoved("another program has moved the branch", hint="try again")
                try:
                    with index.changed(entries, refresh=True):
                        pass
                except IndexChanged:
                    if not keep_index_lock(self.place.gitdir, token):
                        raise
                    self.clock.sleep(_PAUSE)
                    continue
                before_ref(commit)
                if self._update_head(commit, tip, reason):
                    return
                self.clock.sleep(_PAUSE)
            raise Retryable("another program moves the branch without a pause", hint="try again when it is done")

    def read_tip(self, paths: Sequence[bytes], read_staged: bool = False) -> Tip:
        """HEAD, its folders above `paths` and, if requested, the index's blobs of the paths."""
        above, width = folders(paths), self.git.width
        index = load_index(self.git) if read_staged else None
        staged: dict[bytes, bytes | None] = dict.fromkeys(paths) if index is not None and index.content else {}
        absent = index.absent(paths) if index is not None else set()
        names = {path: f":0:{_text(path)}" for path in staged if path not in absent}
        if not names and (tip := self._loose_tip(above)) is not None:
            return Tip(*tip, staged, width)
        head, *found = self.git.objects(["HEAD", *(f"HEAD:{_text(folder)}" for folder in above), *names.values()])
        trees = {
            folder: parse_tree(tree.data, width)
            for folder, tree in zip(above, found, strict=False)
            if tree is not None and tree.kind == "tree"
        }
        _check_whole(head is not None, above, trees)
        blobs = found[len(above) :]
        staged |= {path: blob.data if blob else None for path, blob in zip(names, blobs, strict=True)}
        return Tip(head.oid if head else None, trees, staged, width)

    def _loose_tip(self, above: Sequence[bytes]) -> tuple[str, Trees] | None:
        """HEAD and its folders from loose object files, the form of this program's last commit; saves a process.

        None if git must be asked: an object is packed or cannot be read.
        """
        common = common_folder(self.place.gitdir)
        head = head_commit(self.place.gitdir, common)
        commit = load_loose(common, head, "commit") if head else None
        if commit is None or not commit.startswith(b"tree "):
            return None
        trees: Trees = {}
        for folder in above:
            entry = entry_in(trees, folder) if folder else TreeEntry(FOLDER, commit[5 : commit.index(b"\n")].decode())
            if entry is None or entry.mode != FOLDER:
                continue
            data = load_loose(common, entry.oid, "tree")
            if data is None:
                return None
            trees[folder] = parse_tree(data, self.git.width)
        return head, trees

    def _store(self, pack: Pack | None, index: SharedIndex, entries: Edits, refresh: bool) -> None:
        """Write the objects and, at the same time, prepare the shared index that refers to them."""
        if pack is None:
            with index.changed(entries, refresh):
                return
        if pack.few is not None:
            with index.changed(entries, refresh):
                store(self.git, pack)
            return
        with pack.stream() as stream:
            writing = self.git.start(*pack.store_command, stdin=stream)
            try:
                with index.changed(entries, refresh):
                    writing.wait()
            finally:
                writing.end()

    def _move_head(self, new: str, tip: Tip, message: str) -> bool:
        """Move HEAD by compare-and-swap; False if HEAD has moved, or another program holds the branch's lock."""
        return self._update_head(new, tip, REFLOG_MARK + message.split("\n", 1)[0])

    def _update_head(self, new: str, tip: Tip, reason: str) -> bool:
        old = tip.commit or "0" * tip.width
        try:
            self.git.run("update-ref", "-m", reason, "HEAD", new, old)
        except (GitFailed, Retryable):
            if self._is_at(new):  # git failed, or was killed, after the branch had moved
                return True
            now = self.git.objects(["HEAD"])[0]
            if now and now.oid == new:
                return True
            moved = (now.oid if now else None) != tip.commit
            if moved or any((self.place.gitdir / name).exists() for name in ("HEAD.lock", "packed-refs.lock")):
                return False
            raise
        return True

    def _is_at(self, commit: str) -> bool:
        """True if HEAD is at the commit, according to the repository's files."""
        return head_commit(self.place.gitdir, common_folder(self.place.gitdir)) == commit

    def holds(self, tip: Tip, commit: str) -> bool:
        """True if the branch that ends at `tip` contains the commit."""
        if tip.commit is None:
            return False
        found = self.git.run("rev-list", "-n1", "--end-of-options", f"{tip.commit}..{commit}", ok=(0, 128))
        known = self.git.objects([commit])[0]
        return known is not None and not found.strip()

    def is_below(self, tip: Tip, commit: str) -> bool:
        """True if the branch that ends at `tip` has nothing that the commit has not."""
        if tip.commit is None:
            return True
        return not self.git.run("rev-list", "-n1", "--end-of-options", f"{commit}..{tip.commit}", ok=(0, 128)).strip()


def _check_whole(has_head: bool, above: Sequence[bytes], trees: Trees) -> None:
    """Raise `Permanent` if a folder of HEAD cannot be read: counted as empty, its files would be deleted."""
    for folder in above:
        entry = entry_in(trees, folder)
        expected = entry is not None and entry.mode == FOLDER if folder else has_head
        if expected and folder not in trees:
            raise Permanent(
                "the last commit's list of files in {folder} is missing from the repository",
                hint="git fsck shows what is missing; fetch it from another copy of the repository",
                folder=_text(folder) or Sentence("the vault"),
            )


def _chain(tip: Tip, layers: Sequence[Layer], pack: Pack, when: datetime, sign: Sign) -> tuple[str | None, ...]:
    """Add the commits to the pack, each on top of the one before; a layer without changes makes no commit."""
    parent, trees, made = tip.commit, tip.trees, list[str | None]()
    for layer in layers:
        edits = {path: entry for path, entry in layer.edits.items() if entry_in(trees, path) != entry}
        if not edits:
            made.append(None)
            continue
        root, trees = graft(trees, edits, pack)
        who = signature(layer.author, when)
        commit = format_commit(root, [parent] if parent else [], who, who, layer.message)
        parent = pack.add("commit", with_signature(commit, tip.width, sign))
        made.append(parent)
    return tuple(made)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
