"""One look for patterns in a vault: what is found, and what is to change in the notes about the person; the changes go
through `memory.profile.changes` like all others.

What counts as dismissed is read from the notes and their history: a person has ticked "not helpful", or has deleted the
block. So it holds on all machines that have the vault, and in no other place.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from agent.dataclass import dataclass
from agent.growth.patterns.detect import detect
from agent.growth.patterns.gather import gather
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.pattern import Pattern
from agent.growth.patterns.pattern_notes import DAYS, INSIGHTS, block_changes, removed_or_refused
from agent.memory.blame import person_lines
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.block_change import BlockChange
from agent.texts import Language
from agent.vault.folders import PROFILE
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.find import commits
from agent.vault.store import Vault

DISMISSED_FOR = timedelta(days=30)
"""The time for which a dismissed pattern is not spoken of."""
TOOL = "patterns"
"""The tool of a commit with which the program writes patterns."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has found; `changes` bring the notes up to date."""

    patterns: tuple[Pattern, ...] = ()
    changes: tuple[BlockChange, ...] = ()

    def written(self, blocks: Iterable[BlockChange]) -> tuple[Pattern, ...]:
        """The patterns that no note had before these blocks were written."""
        ids = {each.id for each in blocks if not each.before}
        return tuple(each for each in self.patterns if each.id in ids)


def look(vault: Vault, language: Language, now: datetime, vectors: Vectors | None) -> Look:
    """Look for patterns; writes nothing."""
    found = detect(gather(vault, now), language, vectors)
    hidden, forgotten = dismissed(vault, now), load_tombstones(vault)
    kept = [each for each in found if not any(map(forgotten.is_forgotten, (each.name, *each.words)))]
    said = [each for each in kept if each.id not in hidden]
    rhythms = [each for each in said if each.kind == "daily_rhythm"]
    others = [each for each in said if each.kind != "daily_rhythm"]
    changes = list[BlockChange]()
    for name, patterns in ((INSIGHTS, others), (DAYS, rhythms)):
        path = vault.home.at(name)
        base = vault.read(path) or b""
        own = [not is_theirs for is_theirs in person_lines(vault, path, base)]
        changes += block_changes(name.removeprefix(PROFILE), _text(base), own, patterns, hidden, language)
    return Look(tuple(said), tuple(changes))


def dismissed(vault: Vault, now: datetime) -> frozenset[str]:
    """The ids of the patterns that the person has dismissed within the last 30 days."""
    return frozenset(id for name in (INSIGHTS, DAYS) for id in _dismissed_in(vault, vault.home.at(name), now))


def _dismissed_in(vault: Vault, path: str, now: datetime) -> Iterable[str]:
    """The same for one note, from its versions; a change that is not committed yet was made now."""
    found = commits(vault, path=path, since=now - DISMISSED_FOR)
    changes = [
        change
        for each in found
        if each.actor == HUMAN
        for change in each.files
        if change.path == path and change.before is not None and change.after is not None
    ]
    ids = [blob.oid for change in changes for blob in (change.before, change.after) if blob is not None]
    texts = list(map(_text, vault.read_blobs(ids))) if ids else []
    for at in range(0, len(texts), 2):
        yield from removed_or_refused(texts[at], texts[at + 1])
    now_there, committed = vault.read(path), vault.read_at("HEAD", path) if vault.head else None
    if committed is not None and now_there is not None and committed != now_there:
        yield from removed_or_refused(_text(committed), _text(now_there))


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")
