"""One look for patterns in a vault: what is found, what of it is new, and the changes of the notes about the person.

What counts as dismissed is read from the notes and their history: a person has ticked "not helpful", or has deleted the
block. So it holds on all machines that have the vault, and in no other place.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.growth.patterns.detect import detect
from agent.growth.patterns.gather import gather
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.pattern import Pattern
from agent.growth.patterns.pattern_notes import parse_blocks, removed_or_refused, updated
from agent.memory.blame import TOOLS, blamed_lines
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.template import template_note
from agent.texts import Language
from agent.vault.change import Create, Edit
from agent.vault.folders import PROFILE
from agent.vault.history.find import commits
from agent.vault.history.trailers import HUMAN
from agent.vault.store import Vault

INSIGHTS, DAYS = f"{PROFILE}51-patterns-insights.md", f"{PROFILE}30-daily-patterns.md"
DISMISSED_FOR = timedelta(days=30)
"""The time for which a dismissed pattern is not spoken of."""
TOOL = "patterns"
"""The tool of a commit with which the program writes patterns."""
_WRITERS = TOOLS | {TOOL, "procedure"}

Also = Callable[[str, bytes], bytes]
"""Something more that is to be written into a note, by its name: the bytes after it."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one look has found. `fresh` are the patterns that no note has yet; `requests` bring the notes up to date."""

    patterns: tuple[Pattern, ...] = ()
    fresh: tuple[Pattern, ...] = ()
    requests: tuple[Create | Edit, ...] = ()


def add_nothing(name: str, data: bytes) -> bytes:
    """The same bytes; for a look that writes only patterns."""
    return data


def look(
    vault: Vault,
    language: Language,
    now: datetime,
    vectors: Vectors | None,
    also: Also = add_nothing,
) -> Look:
    """Look for patterns; writes nothing."""
    found = detect(gather(vault, now), language, vectors)
    hidden, forgotten = dismissed(vault, now), load_tombstones(vault)
    kept = [each for each in found if not any(map(forgotten.is_forgotten, (each.name, *each.words)))]
    said = [each for each in kept if each.id not in hidden]
    rhythms = [each for each in said if each.kind == "daily_rhythm"]
    others = [each for each in said if each.kind != "daily_rhythm"]
    requests = []
    known: set[str] = set()
    for name, patterns in ((INSIGHTS, others), (DAYS, rhythms)):
        path = vault.home.at(name)
        base = vault.read(path)
        known |= parse_blocks(_text(base).splitlines()).keys()
        request = _request(vault, name, base, patterns, hidden, language, also)
        requests += [request] if request is not None else []
    fresh = tuple(each for each in said if each.id not in known)
    return Look(tuple(said), fresh, tuple(requests))


def known_patterns(vault: Vault) -> frozenset[str]:
    """The ids of the patterns in the notes."""
    notes = (_text(vault.read(vault.home.at(name))) for name in (INSIGHTS, DAYS))
    return frozenset(id for note in notes for id in parse_blocks(note.splitlines()))


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


def _request(
    vault: Vault,
    name: str,
    base: bytes | None,
    patterns: list[Pattern],
    hidden: frozenset[str],
    language: Language,
    also: Also,
) -> Create | Edit | None:
    path = vault.home.at(name)
    if base is None:
        begin = template_note(name.removeprefix(PROFILE), language)
        after = also(name, _bytes(updated(_text(begin), (), patterns, hidden, language)))
        return Create(path, after) if after != begin else None
    own = [each.own for each in blamed_lines(vault, path, base, _WRITERS)]
    after = also(name, _bytes(updated(_text(base), own, patterns, hidden, language)))
    return Edit(path, base, after) if after != base else None


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _bytes(words: str) -> bytes:
    return words.encode("utf-8", "surrogateescape")
