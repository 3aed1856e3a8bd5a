"""Plans the content and path of each note when commits are undone, in memory only.

An `UndoPlan` has each note's present and planned state. It gets the commits newest first, each change together with the
note that it is about, at the note's present path. `undo_walk` follows notes through later renames.
"""

from collections.abc import Mapping
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import BadPath
from agent.git.object_ids import FILE, PROGRAM, has_id
from agent.git.objects import TreeEntry
from agent.git.runner import Git
from agent.markdown.merging import strict as notes
from agent.markdown.merging.strict import merge_touching, with_parts_taken_back
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.vault.change import FileChange, Kind
from agent.vault.folders import AgentFolder
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import check, is_note
from agent.vault.write.resolve import merge_lines


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why one note or commit (`about`) was kept, skipped or refused."""

    about: str
    reason: str


@dataclass(eq=False, slots=True)
class PlannedFile:
    """One file: `now` and `before` are its path and text on disk, `path` and `after` the planned ones (None: no file).

    `later`: commits, newer than the undone ones, that touched it too. `unsaved`: the working tree differs from the last
    commit. `meant`: the path to which it was to return. A `kept` or `refused` file stays unchanged.
    """

    now: str | None
    before: bytes | None
    path: str | None
    after: bytes | None
    later: list[Commit] = field(default_factory=list)
    unsaved: bool = False
    reason_to_stay: str = ""
    refused: str = ""
    is_read: bool = False
    meant: str = ""

    @property
    def name(self) -> str:
        """The path used in messages."""
        return self.path or self.now or self.meant

    @property
    def is_there(self) -> bool:
        return self.path is not None and self.after is not None

    @property
    def is_settled(self) -> bool:
        """True if it stays unchanged, whatever older commits did to it."""
        return bool(self.reason_to_stay or self.refused)


@dataclass(slots=True)
class UndoPlan:
    """The files of one undo.

    `blobs` has git's contents for the ids in the undone commits. `closed` has the paths at which this program must not
    write, each with the error that explains it.
    """

    git: Git
    files: Files
    home: AgentFolder
    blobs: Mapping[str, bytes | None] = field(default_factory=dict)
    closed: Mapping[str, BadPath] = field(default_factory=dict)
    skipped: list[Reason] = field(default_factory=list)
    drafts: list[PlannedFile] = field(default_factory=list)
    partial: set[str] = field(default_factory=set)
    _touched: list[tuple[str, PlannedFile]] = field(default_factory=list)
    _on_disk: dict[str, PlannedFile] = field(default_factory=dict)
    _planned: dict[str, PlannedFile | None] = field(default_factory=dict)

    def present(self, path: str) -> PlannedFile:
        """The file that is at this path on disk now; an empty plan for the path if there is none."""
        draft = self._on_disk.get(path)
        if draft is None:
            draft = PlannedFile(path, None, path, None)
            self._on_disk[path] = draft
        return draft

    def undo(self, commit: Commit, change: FileChange, draft: PlannedFile | None) -> PlannedFile | None:
        """Undo one change; `draft` is its file now. Returns the file that was at the path before the change."""
        before, after = change.before, change.after
        if not _is_plain(before) or not _is_plain(after):
            return self._skip(change, draft, "a link or another repository is left as it is")
        try:
            for path in filter(None, (change.path, change.old_path)):
                check(path, system=True)
                if path in self.closed:
                    raise self.closed[path]
            if draft is not None:
                self._load(draft)
            if change.kind is Kind.DELETED:
                draft = self._restore(change)
        except BadPath as error:
            return self._skip(change, draft, error.message)
        if draft is None or (not draft.is_there and not draft.is_settled):
            return self._skip(change, None, "it is gone already")
        self._touched.append((commit.id, draft))
        if not draft.is_settled:
            self._change(commit, change, draft)
        return draft

    def _skip(self, change: FileChange, draft: PlannedFile | None, reason: str) -> PlannedFile | None:
        self.skipped.append(Reason(change.path, reason))
        return draft

    def _change(self, commit: Commit, change: FileChange, draft: PlannedFile) -> None:
        match change.kind:
            case Kind.CREATED:
                self._withdraw(change, draft, is_agents=commit.actor != HUMAN)
            case Kind.EDITED:
                self._merge(change, draft)
            case Kind.RENAMED:
                self._merge(change, draft)
                self._move_back(change, draft)
            case Kind.DELETED:
                pass

    def _withdraw(self, change: FileChange, draft: PlannedFile, *, is_agents: bool) -> None:
        """Remove a file that a commit created, unless it was edited or moved since; of a log only the first lines."""
        assert change.after is not None
        if draft.path == change.path and self._is(draft.after, change.after):
            self._planned[change.path] = None
            draft.path = draft.after = None
            return
        began = self.blobs.get(change.after.oid) if is_agents and self.home.row(change.path).logs else None
        head = _head(began) if began is not None else b""
        if began is not None and head and draft.path == change.path and draft.after is not None:
            merged = notes.merge(began, draft.after, head, self._lines)
            if merged is not None and merged.strip() == head.strip():  # all others were taken out before
                self._planned[change.path] = None
                draft.path = draft.after = None
                return
            if merged is not None:
                draft.after = merged
                return
        draft.reason_to_stay = _since(draft, moved=self._is(draft.after, change.after))
        self._reset(draft)

    def _restore(self, change: FileChange) -> PlannedFile:
        """Restore a file that a commit deleted; refused if another file has taken the path."""
        assert change.before is not None
        there = self._at(change.path)
        if there is not None and self._is(there.after, change.before):
            return there
        data = self.blobs.get(change.before.oid)
        draft = PlannedFile(None, None, change.path, data, is_read=True, meant=change.path)
        self.drafts.append(draft)
        if there is not None:
            draft.later, draft.unsaved = there.later, there.unsaved
            self._refuse(draft, "another note has taken its place")
        elif data is None:
            self._refuse(draft, "its text is not in this repository")
        else:
            self._planned[change.path] = draft
        return draft

    def _merge(self, change: FileChange, draft: PlannedFile) -> None:
        """Undo a change of the text, and keep what was written since."""
        assert change.before is not None and change.after is not None and draft.after is not None
        if change.before.oid == change.after.oid:
            if change.kind is Kind.EDITED:
                self.skipped.append(Reason(change.path, "only its permissions changed; they stay"))
            return
        if self._is(draft.after, change.before):
            return
        base, wanted = self.blobs.get(change.after.oid), self.blobs.get(change.before.oid)
        if wanted is None:
            self._refuse(draft, "its text is not in this repository")
        elif self._is(draft.after, change.after):
            draft.after = wanted
        elif base is None or not is_note(change.path):
            self._refuse(draft, "it was changed since")
        else:
            merged = notes.merge(base, draft.after, wanted, self._lines)
            if merged is None:
                self._refuse(draft, "the same lines were changed since")
            else:
                draft.after = merged

    def _lines(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        merged = merge_lines(self.git, base, ours, theirs)
        merged = merge_touching(base, ours, theirs) if merged is None else merged
        return with_parts_taken_back(base, ours, theirs) if merged is None else merged

    def _move_back(self, change: FileChange, draft: PlannedFile) -> None:
        assert change.old_path is not None
        if draft.refused or draft.path != change.path:
            return  # moved again since: it stays at its new path
        if self._at(change.old_path) is not None:
            self._refuse(draft, Sentence("another note has taken its place at {path}", path=change.old_path))
            return
        self._planned[change.path] = None
        self._planned[change.old_path] = draft
        draft.path = change.old_path

    def _refuse(self, draft: PlannedFile, reason: str) -> None:
        draft.refused = reason
        self._reset(draft)

    def _reset(self, draft: PlannedFile) -> None:
        """Leave a file as it is on disk; a file planned for its path is then refused."""
        if draft.path is not None and self._planned.get(draft.path) is draft:
            self._planned[draft.path] = None
        draft.path, draft.after = draft.now, draft.before
        if draft.now is None:
            return
        taker = self._planned.get(draft.now)
        self._planned[draft.now] = draft
        if taker is not None and taker is not draft:
            self._refuse(taker, Sentence("{path} is still there", path=draft.now))

    def _at(self, path: str) -> PlannedFile | None:
        """The file that is planned for this path so far."""
        if path in self._planned:
            return self._planned[path]
        draft = self.present(path)
        self._load(draft)
        return draft if draft.path == path and draft.is_there else None

    def _load(self, draft: PlannedFile) -> None:
        if draft.is_read:
            return
        draft.is_read = True
        self.drafts.append(draft)
        if draft.now is not None:
            draft.before = draft.after = self.files.read(draft.now)

    def _is(self, data: bytes | None, entry: TreeEntry) -> bool:
        return has_id(data, entry.oid)

    def finish(self) -> None:
        """Record the commits that could be undone only in part."""
        self.partial.update(commit for commit, draft in self._touched if draft.is_settled)


def _head(data: bytes) -> bytes:
    """The part of a log that no entry has written: its header, and a title below it."""
    body = Note.parse(data).body.encode("utf-8", "surrogateescape")
    title, newline, rest = body.partition(b"\n")
    blank = rest[: len(rest) - len(rest.lstrip(b"\n"))]
    return data[: len(data) - len(body)] + (title + newline + blank if title.startswith(b"# ") else b"")


def _is_plain(entry: TreeEntry | None) -> bool:
    return entry is None or entry.mode in {FILE, PROGRAM}


def _since(draft: PlannedFile, *, moved: bool) -> Sentence:
    """Who has worked on a file since."""
    if draft.unsaved or not draft.later or any(commit.actor == HUMAN for commit in draft.later):
        return Sentence("you have moved it since" if moved else "you have edited it since")
    last = draft.later[0]
    sentence = "{actor} ({commit}) has moved it since" if moved else "{actor} ({commit}) has edited it since"
    return Sentence(sentence, actor=last.actor, commit=last.id[:8])


def needed(commits: list[Commit], home: AgentFolder) -> list[str]:
    """The ids of the contents that undoing these commits may need; other files are compared by id only."""
    wanted: dict[str, None] = {}
    for change in (change for commit in commits for change in commit.files):
        if change.after is not None and change.before is None and home.row(change.path).logs:
            wanted[change.after.oid] = None
        if not _is_plain(change.before) or not _is_plain(change.after) or change.before is None:
            continue
        if change.after is None or change.before.oid != change.after.oid:
            wanted[change.before.oid] = None
            if change.after is not None and is_note(change.path):
                wanted[change.after.oid] = None
    return list(wanted)
