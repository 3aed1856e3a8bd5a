"""Makes commits from changed files on top of any commit, without an index and without the working tree."""

from collections.abc import Mapping, Sequence
from contextlib import closing

from agent.git.identities import Sign, Signature, with_signature
from agent.git.objects import (
    Pack,
    TreeEntry,
    Trees,
    folders,
    format_commit,
    graft,
    parse_tree,
    store,
)
from agent.git.runner import Git


def commit_edits(
    git: Git,
    onto: str,
    edits: Mapping[str, TreeEntry | None],
    blobs: Mapping[str, bytes],
    parents: Sequence[str],
    author: Signature,
    committer: Signature,
    message: str,
    sign: Sign,
) -> str:
    """The id of a new commit: the files of `onto` (a commit) with these entries (None: no file). `blobs` are the
    contents, by id, that the repository may not have yet. No reference is moved."""
    raw = {path.encode("utf-8", "surrogateescape"): entry for path, entry in edits.items()}
    with closing(Pack(git.width)) as pack:
        for data in blobs.values():
            pack.add("blob", data)
        root, _ = graft(_trees(git, onto, raw), raw, pack)
        data = format_commit(root, parents, author, committer, message)
        commit = pack.add("commit", with_signature(data, git.width, sign))
        store(git, pack)
    return commit


def _trees(git: Git, commit: str, edits: Mapping[bytes, object]) -> Trees:
    above = folders(edits)
    names = [f"{commit}:{folder.decode('utf-8', 'surrogateescape')}" for folder in above]
    found = zip(above, git.objects(names), strict=True)
    return {
        folder: parse_tree(tree.data, git.width) for folder, tree in found if tree is not None and tree.kind == "tree"
    }


def changed_entries(git: Git, before: str, after: str) -> dict[bytes, TreeEntry | None]:
    """The entries (None: no file) in the tree or commit `after` of the files that differ from `before`."""
    return {path: new for path, (_, new) in changed_pairs(git, before, after).items()}


def changed_pairs(git: Git, before: str, after: str) -> dict[bytes, tuple[TreeEntry | None, TreeEntry | None]]:
    """The same with the entries in both, first that in `before`."""
    fields = iter(git.differing(before, after).split(b"\0"))
    found: dict[bytes, tuple[TreeEntry | None, TreeEntry | None]] = {}
    for row in fields:
        if row.startswith(b":"):
            old_mode, mode, old, new, _ = row.decode().removeprefix(":").split(" ")
            found[next(fields)] = _entry(old_mode, old), _entry(mode, new)
    return found


def _entry(mode: str, oid: str) -> TreeEntry | None:
    return TreeEntry(mode, oid) if mode.strip("0") else None
