"""What the owner has changed in files by hand, told from the commits that were made of the working tree in their name.

Such a commit names its files; what stood in them before is its parent's. So an edit is told from a pull that came into
the same file just before it: the pull's text is what the edit began with.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from agent.skills.loading.library import SkillLibrary
from agent.skills.loading.pins import Pin
from agent.skills.reading.skill import FILE, SkillSource
from agent.skills.trust.review_records import load_record
from agent.vault.plumbing.git import GitObject
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class OwnerEdit:
    """The SHA-256 of a file before and after; None where there was none."""

    before: str | None
    after: str | None


def load_owner_edits(vault: Vault, commits: Iterable[tuple[str, Sequence[str]]]) -> dict[str, OwnerEdit]:
    """What commits (each with the paths that count, the oldest first) have made of their files, by path.

    Edits that follow upon one another are one; of those with something else between them only the last counts.
    """
    made = [(commit, path) for commit, paths in commits for path in paths]
    prefix = vault.place.prefix
    names = [f"{revision}:{prefix}{path}" for commit, path in made for revision in (f"{commit}^", commit)]
    blobs = vault.git.objects(names) if names else []
    digests = [_digest(each) for each in blobs]
    found: dict[str, OwnerEdit] = {}
    for (_, path), before, after, blob in zip(made, digests[::2], digests[1::2], blobs[1::2], strict=True):
        if blob is not None and vault.provenance.arrived(path, blob.oid):
            continue  # it lay in the working tree when the person's edits were committed, and is not one of them
        last = found.get(path)
        found[path] = OwnerEdit(last.before if last is not None and last.after == before else before, after)
    return found


def _digest(found: GitObject | None) -> str | None:
    """A file's; a first commit has none before it."""
    return sha256(found.data).hexdigest() if found is not None and found.kind == "blob" else None


def carry_trust(library: SkillLibrary, edited: Mapping[str, OwnerEdit], when: datetime) -> tuple[str, ...]:
    """Keep trusting skills whose owner has just edited these files by hand here, and no others; returns the names.

    For skills that were trusted as they were before the edit and in which nothing else has changed. What a pull, a
    checkout or another program brings as a commit is nobody's edit; and what was asked about, because something
    else has changed it, is still asked about after an edit.
    """
    library.refresh()
    kept = []
    for skill in library.snapshot().skills:
        pin = None if skill.source is SkillSource.PACKAGE or skill.reviewed else library.pins.get(skill.key)
        asked = load_record(library.pins, skill.key)
        if pin is None or (asked is not None and not asked.is_answered_by(pin)):
            continue
        folder = skill.path.removesuffix(FILE)
        now = library.hashes(skill)
        changed = {path: OwnerEdit(pin.files.get(path), now.get(path)) for path in pin.changed(now)}
        if changed and all(edited.get(f"{folder}{path}") == edit for path, edit in changed.items()):
            library.pins.put(carried := Pin(skill.key, now, skill.size, when, "edited by hand"))
            if asked is not None:
                replace(asked, digest=carried.digest).keep(library.pins)
            kept.append(skill.name)
    return tuple(kept)
