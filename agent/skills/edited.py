"""What the owner has changed in files by hand, told from the commits that were made of the working tree in their name.

Such a commit names its files; what stood in them before is its parent's. So an edit is told from a pull that came into
the same file just before it: the pull's text is what the edit began with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from agent.vault.history.versions import Version, versions
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class Edit:
    """The SHA-256 of a file before and after; None where there was none."""

    before: str | None
    after: str | None


def edits(vault: Vault, commits: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Edit]:
    """What commits (each with the paths that count, the oldest first) have made of their files, by path.

    Edits that follow upon one another are one; of those with something else between them only the last counts.
    """
    made = [(commit, path) for commit, paths in commits for path in paths]
    blobs = versions(vault, [(revision, path) for commit, path in made for revision in (f"{commit}^", commit)])
    digests = [_digest(each) for each in blobs]
    found: dict[str, Edit] = {}
    for (_, path), before, after, blob in zip(made, digests[::2], digests[1::2], blobs[1::2], strict=True):
        if blob is not None and vault.provenance.arrived(path, blob.blob):
            continue  # it lay in the working tree when the person's edits were committed, and is not one of them
        last = found.get(path)
        found[path] = Edit(last.before if last is not None and last.after == before else before, after)
    return found


def _digest(found: Version | None) -> str | None:
    """A file's; a first commit has none before it."""
    return sha256(found.data).hexdigest() if found is not None else None
