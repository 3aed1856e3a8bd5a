"""Rewrites a branch's history without some texts: the only operation here that cannot be undone.

Every commit from the first one with such a text is made again, with other blobs and the same names, times and messages;
then the branch moves by compare-and-swap. The last commit's files must be equal before and after, so files and index
are not touched and a person's uncommitted work stays. The old commits stay under a backup reference until the person
wants them deleted (`deletion`); no object is deleted here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import Permanent, UserError
from agent.git.objects import (
    Pack,
    TreeEntry,
    Trees,
    entry_in,
    folders,
    graft,
    made_again,
    parents_in,
    parse_tree,
    with_new_ids,
)
from agent.git.repository import OWN_REFS
from agent.git.runner import Git
from agent.texts import joined
from agent.vault.change import Stamp
from agent.vault.history.commit_index import drop_index
from agent.vault.history.commits import resolve
from agent.vault.history.holders import check_complete, holders
from agent.vault.history.purged import Purged, record_purged, record_rewritten
from agent.vault.store import Vault
from agent.vault.write.journal import Journal, JournalRecord

_BEGIN = "\x01"
_NONE: Mapping[str, str] = {}


@dataclass(slots=True)
class HeldVersions:
    """The blob ids of `paths` (from the top of the repository), by commit."""

    git: Git
    paths: frozenset[str]
    _known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, commits: Sequence[str]) -> dict[str, Mapping[str, str]]:
        """For each commit the paths that it has, with the id of the blob; raises `GitFailed`."""
        if missing := [commit for commit in commits if commit not in self._known]:
            self._walk(missing)
        return {commit: self._known.get(commit, _NONE) for commit in commits}

    def _walk(self, commits: Sequence[str]) -> None:
        options = ["--topo-order", "--reverse", "--root", "--diff-merges=first-parent", "--raw", "--no-abbrev"]
        options += ["--no-renames", "--no-relative", "--no-show-signature", "-z", f"--format={_BEGIN}%H %P"]
        out = self.git.run("log", *options, "--stdin", stdin="".join(f"{each}\n" for each in commits).encode())
        fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
        commit = ""
        for row in fields:
            row = row.lstrip("\n")
            if row.startswith(_BEGIN):
                commit, *parents = row[1:].split()
                self._known[commit] = self._known.get(parents[0], _NONE) if parents else _NONE
            elif row.startswith(":") and (path := next(fields, "")) in self.paths:
                self._change(commit, path, row.split(" ")[3])

    def _change(self, commit: str, path: str, blob: str) -> None:
        """Note a change; the mapping of the parent stays as it is."""
        left = {each: oid for each, oid in self._known[commit].items() if each != path}
        self._known[commit] = {**left, path: blob} if blob.strip("0") else left


BACKUP = f"{OWN_REFS}before-purge/"
_TOGETHER = 200
RESCUES = f"{OWN_REFS}rescue/squash-"
"""The references to what a squash has replaced: they hold the old texts too."""
BUNDLES = "old-history"
"""The folder, beside the vault's other private files, of the bundles that squashes have written."""


def _same(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What a purge takes out of the history.

    `paths` are the notes concerned. `content` turns a path and a version of that note into what remains of it; None
    removes the version. The commits that changed one of `gone` get `subject` as the first line of their message;
    `message` turns the message of any other commit into what remains of it. `moved` are notes that get another name,
    old path to new path.
    """

    paths: Sequence[str]
    content: Callable[[str, bytes], bytes | None]
    subject: str
    gone: frozenset[str] = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)
    message: Callable[[str], str] = _same


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """The result of a purge or a dry run: number of rewritten commits, new end of the branch, name of the backup.

    `other_refs` are branches, tags and stashes that contain old commits too, `remote_refs` those of other repositories.
    """

    commits: int = 0
    head: str = ""
    backup: str = ""
    other_refs: tuple[str, ...] = ()
    remote_refs: tuple[str, ...] = ()


def purge(vault: Vault, cleaning: Cleaning, *, token: str, remote: bool = False, dry_run: bool = False) -> PurgeResult:
    """Rewrite the history of the current branch without what `cleaning` takes out.

    `remote`: also if other repositories have the commits. `token` names the backup: after a crash, the same call with
    the same token continues. Raises `UserError` if other repositories have the commits and `remote` is not set, while
    the repository is not free, or if a part of the history is missing here; raises `Permanent` if the last commit would
    change.
    """
    with vault.writer.exclusive():
        check_possible(vault)
        head = resolve(vault, "HEAD")
        paths = tuple(vault.place.prefix + path for path in cleaning.paths)
        work = _Work(vault, cleaning, paths, HeldVersions(vault.git, frozenset(paths)))
        concerned = work.find(head)
        found = holders(vault.git, vault.place, concerned, work.paths, work.changes, backups(vault))
        if not dry_run:
            drop_index(vault)
        if not concerned:
            return PurgeResult(0, head, _existing(vault, BACKUP + token), found.here, found.remote)
        if found.remote and not remote:
            raise UserError(
                "another repository has these commits: {remote}",
                hint="what is there is yours to remove; repeat with --yes-remote to write your own history anew",
                remote=joined(found.remote, ", "),
            )
        if dry_run:
            return PurgeResult(len(concerned), head, "", found.here, found.remote)
        made = work.rewrite(head, [*concerned])
        new = made[head]
        vault.provenance.rewrite(made)
        record_rewritten(vault, made)
        work.changes(_only_logged(vault, work.paths))
        record_purged(vault, Purged(frozenset(made), work.with_text()))
        backup = BACKUP + token
        with recorded(vault.writer.journal, token, new):
            vault.git.run("update-ref", backup, head)
            # no `REFLOG_MARK`: the commit that HEAD moves to may be a person's, and provenance knows who made it
            vault.git.run("update-ref", "-m", "purge by vault-agent", "HEAD", new, head)
        drop_index(vault)
        return PurgeResult(len(concerned), new, backup, found.here, found.remote)


def _only_logged(vault: Vault, paths: Sequence[str]) -> list[str]:
    """The commits with other versions of these paths that only the logs of references lead to."""
    command = ["rev-list", "--reflog", "--full-history", "--not", "--all", "--", *paths]
    return vault.git.run(*command, ok=(0, 128)).decode().split() if paths else []


def check_possible(vault: Vault) -> None:
    """Raise `UserError` while the repository is not free, or if a part of the history is missing here."""
    reason = vault.writer.waiting_reason()
    if reason:
        raise UserError(
            "the history cannot be written anew while {reason}", hint="finish that, then try again", reason=reason
        )
    check_complete(vault.git)


@contextmanager
def recorded(journal: Journal, token: str, commit: str) -> Iterator[None]:
    """Record that refs are about to move: after a crash, `recover` then removes the locks that git left on them."""
    journal.open(JournalRecord(token, "", "", Stamp("human"), ()))
    journal.reached_ref(token, commit)
    yield
    journal.close(token, None)


def _existing(vault: Vault, name: str) -> str:
    return name if vault.git.objects([name])[0] is not None else ""


def backups(vault: Vault) -> list[str]:
    """The references to what earlier purges and squashes have replaced, newest first."""
    listed = vault.git.run("for-each-ref", "--format=%(refname)", "--sort=-refname", BACKUP, f"{RESCUES}*").decode()
    return listed.splitlines()


def is_backup(name: str) -> bool:
    """True if the reference is one of `backups`."""
    return name.startswith((BACKUP, RESCUES))


@dataclass(slots=True)
class _Work:
    vault: Vault
    cleaning: Cleaning
    paths: tuple[str, ...]
    held: HeldVersions
    cleaned: dict[tuple[str, str], tuple[tuple[bytes, bytes | None], ...]] = field(default_factory=dict)
    """By path and blob: what becomes of the path, and of its new name; empty for a version that stays."""

    def find(self, head: str) -> dict[str, list[str]]:
        """The commits to make again, with their parents, oldest first: those with changed files, and all later ones."""
        listed = self.vault.git.run("rev-list", "--topo-order", "--reverse", "--parents", head).decode().splitlines()
        rows = [line.split(" ") for line in listed]
        dirty: set[str] = set()
        for start in range(0, len(rows), _TOGETHER):
            some = rows[start : start + _TOGETHER]
            ids = [row[0] for row in some]
            changes, quoting = self.changes(ids), self._quoting(ids)
            for commit, *parents in some:
                if changes[commit] or commit in quoting or not dirty.isdisjoint(parents):
                    dirty.add(commit)
        return {commit: parents for commit, *parents in rows if commit in dirty}

    def changes(self, commits: Sequence[str]) -> dict[str, dict[bytes, bytes | None]]:
        """The new content of the paths in each commit (None: removed), where it differs from the old one."""
        held = self.held.of(commits)
        self._look({version for found in held.values() for version in found.items()})
        return {
            commit: {path: data for version in found.items() for path, data in self.cleaned[version]}
            for commit, found in held.items()
        }

    def _look(self, versions: Collection[tuple[str, str]]) -> None:
        """Note what remains of these versions (path and blob), each looked at once."""
        new = sorted({version for version in versions if version not in self.cleaned})
        for start in range(0, len(new), _TOGETHER):
            some = new[start : start + _TOGETHER]
            for version, item in zip(some, self.vault.git.objects([oid for _, oid in some]), strict=True):
                is_blob = item is not None and item.kind == "blob"
                self.cleaned[version] = tuple(self._changed(version[0], item.data)) if item and is_blob else ()

    def _changed(self, path: str, data: bytes) -> Iterator[tuple[bytes, bytes | None]]:
        """The new content of a path, and of its new name; nothing if it stays as it is."""
        prefix = self.vault.place.prefix
        after = self.cleaning.content(path.removeprefix(prefix), data)
        to = self.cleaning.moved.get(path.removeprefix(prefix))
        if to is not None and after is not None:
            yield path.encode("utf-8", "surrogateescape"), None
            yield (prefix + to).encode("utf-8", "surrogateescape"), after
        elif after != data:
            yield path.encode("utf-8", "surrogateescape"), after

    def with_text(self) -> frozenset[str]:
        """The blobs, of those looked at, that have what is to go."""
        blob_id = self.vault.git.blob_id
        changed = {
            oid: [data for _, data in found if data is not None] for (_, oid), found in self.cleaned.items() if found
        }
        return frozenset(oid for oid, left in changed.items() if oid not in map(blob_id, left)) - {blob_id(b"")}

    def _quoting(self, commits: Sequence[str]) -> set[str]:
        """The commits whose messages quote the text."""
        found = zip(commits, self.vault.git.objects(list(commits)), strict=True)
        texts = ((commit, _message_of(item.data)) for commit, item in found if item is not None)
        return {commit for commit, text in texts if self.cleaning.message(text) != text}

    def rewrite(self, head: str, concerned: Sequence[str]) -> dict[str, str]:
        """Make the commits again; returns the new id of each."""
        made: dict[str, str] = {}
        with closing(Pack(len(head))) as pack:
            for start in range(0, len(concerned), _TOGETHER):
                some = concerned[start : start + _TOGETHER]
                changes, named = self.changes(some), self._named(some)
                raw = self.vault.git.objects(list(some))
                for commit, item in zip(some, raw, strict=True):
                    if item is None:
                        raise Permanent(
                            "commit {commit} is missing", hint="git fsck shows what is missing", commit=commit
                        )
                    tree = self._tree(commit, changes[commit], pack)
                    made[commit] = self._commit(item.data, tree, made, commit in named, pack)
                if head in some and (changes[head] or made[head] == head):
                    raise Permanent(
                        "the last commit still holds what is to go; the history was left as it is",
                        hint="forget the note first, then purge",
                    )
            with pack.stream() as stream:
                self.vault.git.run("index-pack", "--stdin", stdin=stream)
        return made

    def _named(self, commits: Sequence[str]) -> set[str]:
        """The commits that changed a note that goes: their messages may quote it."""
        gone = [self.vault.place.prefix + path for path in sorted(self.cleaning.gone)]
        if not gone:
            return set()
        command = ["log", "--no-walk", "--stdin", "--format=%H", "-m", "--root", "--full-history"]
        asked = "\n".join((*commits, "--", *gone)) + "\n"
        out = self.vault.git.run(*command, stdin=asked.encode("utf-8", "surrogateescape")).decode()
        return set(out.split())

    def _tree(self, commit: str, changes: Mapping[bytes, bytes | None], pack: Pack) -> str:
        above = folders(changes)
        found = self.vault.git.objects([f"{commit}^{{tree}}", *(f"{commit}:{_text(each)}" for each in above if each)])
        width = len(commit)
        trees: Trees = {
            folder: parse_tree(item.data, width)
            for folder, item in zip([b"", *(each for each in above if each)], found, strict=True)
            if item is not None
        }
        if not changes:
            return found[0].oid if found[0] else ""
        prefix = self.vault.place.prefix
        old = {_bytes(prefix + to): prefix + name for name, to in self.cleaning.moved.items()}
        edits = {path: self._entry(trees, path, old.get(path, ""), data, pack) for path, data in changes.items()}
        return graft(trees, edits, pack)[0]

    def _entry(self, trees: Trees, path: bytes, old: str, data: bytes | None, pack: Pack) -> TreeEntry | None:
        """What becomes of a path that was called `old`, if it is not empty."""
        before = entry_in(trees, _bytes(old) if old else path) or entry_in(trees, path)
        return None if data is None or before is None else TreeEntry(before.mode, pack.add("blob", data))

    def _commit(self, raw: bytes, tree: str, made: Mapping[str, str], named: bool, pack: Pack) -> str:
        message = raw.partition(b"\n\n")[2]
        text = self._message(message) if named else _bytes(self.cleaning.message(_text(message)))
        parents = [made.get(each, each) for each in parents_in(raw)]
        return pack.add("commit", made_again(raw, tree, parents, with_new_ids(text, made)))

    def _message(self, message: bytes) -> bytes:
        """The message with another first line and no body; its trailers stay."""
        paragraphs = message.decode("utf-8", "surrogateescape").strip("\n").split("\n\n")
        trailers = paragraphs[-1] if len(paragraphs) > 1 and "Vault-Actor: " in paragraphs[-1] else ""
        trailers = self.cleaning.message(trailers)
        return _bytes("\n\n".join(filter(None, (self.cleaning.subject, trailers)))) + b"\n"


def _message_of(raw: bytes) -> str:
    return _text(raw.partition(b"\n\n")[2])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
