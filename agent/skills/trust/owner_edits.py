"""The owner's own edits of skills, from the commits of the working tree made in the owner's name, and the texts of
skills that they have approved.

A skill that was trusted before such an edit stays trusted. Each commit names its files, and its parent has the text
before the edit, which separates an edit from a pull that changed the same file just before it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from agent.asking.proposal import Proposal
from agent.config.durable import RecordFolder
from agent.dataclass import dataclass
from agent.skills.loading.files import Pin
from agent.skills.loading.library import SkillLibrary
from agent.skills.reading.skill import FILE, SkillSource
from agent.skills.trust.reviews import is_answered_by, open_review
from agent.vault.history.versions import Version, versions
from agent.vault.store import Vault


@dataclass(frozen=True, slots=True)
class OwnerEdit:
    """The SHA-256 of a file before and after an edit; None if the file did not exist."""

    before: str | None
    after: str | None


def load_owner_edits(vault: Vault, commits: Iterable[tuple[str, Sequence[str]]]) -> dict[str, OwnerEdit]:
    """The edit of each file in these commits (oldest first, each with its relevant paths), by path.

    Consecutive edits are joined; after a change by others in between, only the last edit counts.
    """
    made = [(commit, path) for commit, paths in commits for path in paths]
    blobs = versions(vault, [(revision, path) for commit, path in made for revision in (f"{commit}^", commit)])
    digests = [_digest(each) for each in blobs]
    found: dict[str, OwnerEdit] = {}
    for (_, path), before, after, blob in zip(made, digests[::2], digests[1::2], blobs[1::2], strict=True):
        if blob is not None and vault.provenance.arrived(path, blob.blob):
            continue  # a pull left it in the working tree; the owner did not write it
        last = found.get(path)
        found[path] = OwnerEdit(last.before if last is not None and last.after == before else before, after)
    return found


def _digest(found: Version | None) -> str | None:
    return _sha(found.data if found is not None else None)


def _sha(data: bytes | None) -> str | None:
    return sha256(data).hexdigest() if data is not None else None


def carry_trust(
    library: SkillLibrary, reviews: RecordFolder[Proposal], edited: Mapping[str, OwnerEdit], when: datetime
) -> tuple[str, ...]:
    """Pin again the skills changed only by these edits since they were pinned; returns their names.

    A skill with any other change stays unreviewed. So does a skill with an open review question about another change:
    an edit is not an answer to it. `reviews` are the questions that were asked here.
    """
    return _trust(library, reviews, edited, lambda key: library.pins.get(key), when, "edited by hand")


def trust_approved(
    library: SkillLibrary,
    reviews: RecordFolder[Proposal],
    texts: Mapping[str, tuple[bytes | None, bytes | None]],
    when: datetime,
) -> tuple[str, ...]:
    """Pin the skills of which all that is new since their review is in these texts, by path before and after: the
    person has approved exactly them. Returns their names."""
    edits = {path: OwnerEdit(*map(_sha, pair)) for path, pair in texts.items()}
    unread = Pin("", {}, 0, when, "")
    return _trust(library, reviews, edits, lambda key: library.pins.get(key) or unread, when, "approved")


def _trust(
    library: SkillLibrary,
    reviews: RecordFolder[Proposal],
    edits: Mapping[str, OwnerEdit],
    pin_of: Callable[[str], Pin | None],
    when: datetime,
    how: str,
) -> tuple[str, ...]:
    library.refresh()
    trusted = []
    for skill in library.snapshot().skills:
        folder = skill.path.removesuffix(FILE)
        pin = None if skill.source is SkillSource.PACKAGE or skill.reviewed else pin_of(skill.key)
        asked = open_review(reviews, skill.key)
        if pin is None or (asked is not None and not is_answered_by(asked, pin)):
            continue
        now = library.hashes(skill)
        changed = {path: OwnerEdit(pin.files.get(path), now.get(path)) for path in pin.changed(now)}
        if changed and all(edits.get(f"{folder}{path}") == edit for path, edit in changed.items()):
            carried = Pin(skill.key, now, skill.size, when, how)
            library.pins.put(carried)
            if asked is not None:
                reviews.put(skill.key, replace(asked, subject=carried.digest))
            trusted.append(skill.name)
    return tuple(trusted)
