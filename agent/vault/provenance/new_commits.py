"""Lists new commits: those made on this machine, and those from elsewhere with the files and lines they brought.

It asks git and stores nothing. The origin of a commit is found by the remotes that have it.
"""

import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from agent.config.private import replace
from agent.config.ssh_key import PREFIX, PublicKey
from agent.dataclass import dataclass
from agent.errors import Retryable
from agent.git.identities import AGENT, named_key, signature_in
from agent.git.runner import Git
from agent.vault.change import FileChange, Kind, parse_raw_lists
from agent.vault.provenance.marks import name_mark, new_marks
from agent.vault.provenance.reflog import Maker

UNTRUSTED = "Vault-Untrusted"
"""The trailer that names the rows of the shared record which have the foreign lines of a commit."""
_FORMAT = f"--format=%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%(trailers:key={UNTRUSTED},valueonly,separator=%x2C)"
_TEXT = (".md", ".markdown", ".txt", ".csv", ".canvas", ".base", ".html", ".htm", ".eml", ".org", ".json", ".yaml")
MOST_READ = 8 << 20
"""Bytes. Of a larger file the lines are not recorded, only the file as a whole."""
_READ_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit that was not in the repository at the last update. `claim`: the value of its trailer `UNTRUSTED`."""

    id: str
    parents: tuple[str, ...]
    author: tuple[str, str]
    committer: tuple[str, str]
    claim: str = ""

    def is_made_by(self, maker: Maker) -> bool:
        """True if this machine made it: the reflog shows it, and a person's commit has that person as its author."""
        if maker is Maker.PERSON:
            return self.author in {self.committer, (AGENT.name, AGENT.email)}
        return maker is Maker.PROGRAM


@dataclass(frozen=True, slots=True)
class Brought:
    """One file that a commit brought: blob ids, and the marks of lines that its first parent's version does not have.

    `patch` is equal for changes that add and remove the same lines, anywhere in the note.
    """

    path: str
    before: str | None
    after: str | None
    marks: tuple[int, ...]
    patch: str = ""


def new_commits(git: Git, tips: Sequence[str], known: Sequence[str]) -> list[NewCommit]:
    """The commits in the history of `tips` but not of `known`, children first; missing commits are ignored."""
    if not tips:
        return []
    asked = "".join(f"{tip}\n" for tip in (*tips, *(f"^{each}" for each in known))).encode()
    command = ["rev-list", "--ignore-missing", "--stdin", "--topo-order", "--no-commit-header", _FORMAT]
    rows = git.run(*command, stdin=asked).decode("utf-8", "replace").split("\n")
    return [_commit(row) for row in rows if row]


def _commit(row: str) -> NewCommit:
    id, parents, author, author_mail, committer, committer_mail, claim = row.split("\0")
    return NewCommit(id, tuple(parents.split()), (author, author_mail), (committer, committer_mail), claim.strip())


def files_of(git: Git, commits: Sequence[NewCommit], prefix: str) -> Iterator[tuple[NewCommit, list[FileChange]]]:
    """The files that each commit changed, against its first parent; of a merge, those that differ from all parents."""
    pairs = [(commit, parent) for commit in commits for parent in commit.parents or ("",)]
    if not pairs:
        return
    asked = "".join(f"{commit.id} {parent}".rstrip() + "\n" for commit, parent in pairs).encode()
    command = ["diff-tree", "--stdin", "--root", "--always", "-r", "-z", "-M", "--raw", "--no-abbrev"]
    fields = git.run(*command, "--ignore-submodules=all", stdin=asked).decode("utf-8", "surrogateescape").split("\0")
    listed = parse_raw_lists(fields, prefix)
    for commit in commits:
        against = [next(listed) for _ in commit.parents or ("",)]
        others = [{change.path for change in each} for each in against[1:]]
        yield commit, [change for change in against[0] if all(change.path in paths for paths in others)]


def files_in(git: Git, commit: str, prefix: str) -> dict[str, str]:
    """The blob of each file of the vault in a commit."""
    out = git.run("ls-tree", "-r", "-z", "--full-tree", "--format=%(objecttype) %(objectname) %(path)", commit)
    rows = (row.split(" ", 2) for row in out.decode("utf-8", "surrogateescape").split("\0") if row)
    return {path.removeprefix(prefix): oid for kind, oid, path in rows if kind == "blob" and path.startswith(prefix)}


def brought(git: Git, changes: Sequence[FileChange]) -> Iterator[Brought]:
    """The marks and blob ids that each change brought; a moved note gives one entry for each of its names."""
    for at in range(0, len(changes), _READ_AT_ONCE):
        part = changes[at : at + _READ_AT_ONCE]
        blobs = _texts(git, part)
        for change in part:
            before, after = (entry.oid if entry else None for entry in (change.before, change.after))
            old, new = (None if oid is None else blobs.get(oid) for oid in (before, after))
            named = name_mark(change.path) if before is None or change.kind is Kind.RENAMED else None
            marks = (*new_marks(new or b"", [old or b""]), *([named] if named is not None else []))
            patch = _patch(old, new) if old is not None or new is not None else f"{before} {after}"
            if change.kind is Kind.RENAMED and change.old_path:
                yield Brought(change.old_path, before, None, (), f"{before} moved")
            yield Brought(change.path, before, after, marks, patch)


def _patch(old: bytes | None, new: bytes | None) -> str:
    one, other = (set((each or b"").split(b"\n")) for each in (old, new))
    lines = b"\n".join([*sorted(one - other), b"", *sorted(other - one)])
    return sha256(lines + b"%d%d" % (old is None, new is None)).hexdigest()


def _texts(git: Git, changes: Sequence[FileChange]) -> Mapping[str, bytes]:
    named = [(change.path, entry.oid) for change in changes for entry in (change.before, change.after) if entry]
    return texts(git, named)


def texts(git: Git, files: Iterable[tuple[str, str]]) -> Mapping[str, bytes]:
    """The contents of these files (path and blob), by blob id, without binary and too large ones."""
    return git.small_blobs((oid for path, oid in files if path.casefold().endswith(_TEXT)), MOST_READ)


_SIGNED_AT_ONCE = 200
_VERIFIED_AT_ONCE = 50
"""Commits for one git, which starts ssh-keygen twice for each: a second or two."""
_LONGEST = 1 << 20
"""Bytes of a commit. The signature of a longer one is not looked at."""
_FIXED = (
    *("gpg.program=gpg", "gpg.openpgp.program=gpg", "gpg.x509.program=gpgsm", "gpg.ssh.program=ssh-keygen"),
    *("gpg.ssh.defaultKeyCommand=", "gpg.ssh.revocationFile=/dev/null", "gpg.minTrustLevel=undefined"),
)
_GOOD, _GOOD_OF_UNKNOWN = "G", "U"


def signers(git: Git, ids: Sequence[str], keys: frozenset[str], folder: Path) -> dict[str, str]:
    """The key (a fingerprint) of each of these commits that has a good signature by one of these keys.

    `folder` is a private one, for the list of keys while git reads it.
    """
    found: dict[str, str] = {}
    named = dict(_named(git, ids, keys)) if keys else {}
    candidates = list(named)
    for at in range(0, len(candidates), _VERIFIED_AT_ONCE):
        part = candidates[at : at + _VERIFIED_AT_ONCE]
        found |= _verified(git, {id: named[id] for id in part}, keys, folder)
    return found


def _named(git: Git, ids: Sequence[str], keys: frozenset[str]) -> Iterator[tuple[str, PublicKey | None]]:
    """The commits that may be signed with one of these keys; with the ssh key that a signature names, None for gpg."""
    has_gpg = any(not key.startswith(PREFIX) for key in keys)
    for at in range(0, len(ids), _SIGNED_AT_ONCE):
        contents = git.small_objects(ids[at : at + _SIGNED_AT_ONCE], _LONGEST, "commit")
        for id, data in contents.items():
            signature = signature_in(data)
            key = named_key(signature)
            if (key is not None and key.fingerprint in keys) or (key is None and signature and has_gpg):
                yield id, key


def _verified(git: Git, named: Mapping[str, PublicKey | None], keys: frozenset[str], folder: Path) -> dict[str, str]:
    with _allowed_signers(folder, {key.line for key in named.values() if key is not None}) as allowed:
        fixed = (*_FIXED, f"gpg.ssh.allowedSignersFile={allowed}")
        options = [word for each in fixed for word in ("-c", each)]
        command = [*options, "log", "--no-walk=unsorted", "--stdin", "--format=%H %G? %GF %GP"]
        out = git.run(*command, stdin="".join(f"{id}\n" for id in named).encode()).decode("utf-8", "replace")
    found = {}
    for row in out.split("\n"):
        id, _, rest = row.partition(" ")
        verdict, _, fingerprints = rest.partition(" ")
        if id in named and (signer := _signer(verdict, fingerprints.split(), named[id], keys)):
            found[id] = signer
    return found


@contextmanager
def _allowed_signers(folder: Path, keys: Collection[str]) -> Iterator[Path]:
    """A file with these keys as ssh-keygen reads it, inside the block."""
    path = folder / f"allowed-signers-{os.getpid()}-{threading.get_ident()}"
    try:
        replace(path, "".join(f'person namespaces="git" {key}\n' for key in sorted(keys)))
        yield path
    except OSError as error:
        raise Retryable(
            "what arrived cannot be recorded: {error} ({path})",
            hint="look for space and for permission there, then try again",
            error=error,
            path=path,
        ) from error
    finally:
        path.unlink(missing_ok=True)


def _signer(verdict: str, fingerprints: Sequence[str], key: PublicKey | None, keys: frozenset[str]) -> str:
    """The approved key that has made a good signature; empty if none has."""
    if key is not None:
        is_good = verdict == _GOOD and key.fingerprint in fingerprints
        return key.fingerprint if is_good else ""
    approved = [each for each in fingerprints if each in keys and not each.startswith(PREFIX)]
    return approved[0] if verdict in {_GOOD, _GOOD_OF_UNKNOWN} and approved else ""
