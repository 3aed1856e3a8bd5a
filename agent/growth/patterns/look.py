"""One look for patterns in a vault: what is found, and what is to change in the notes about the person; the changes go
through `memory.profile.changes` like all others.

What their agent does again and again is no pattern of a person: of steps, skills are learned (`skills.learning`), and
the look back at a day hears of tools that keep failing (`detectors.tool_failures`).

What counts as dismissed is read from the notes and their history: a person has ticked "not helpful", or has deleted the
block. So it holds on all machines that have the vault, and in no other place.

Takes in what a look for patterns has found: the notes about the person are brought up to date, in one commit.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from agent.dataclass import dataclass
from agent.events.growth import PatternDetected
from agent.growth.patterns.detectors import abandoned_tasks, daily_rhythms, repeated_questions, rising_topics
from agent.growth.patterns.gather import gather
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.pattern import Activity, Pattern
from agent.growth.patterns.pattern_notes import DAYS, INSIGHTS, block_changes, removed_or_refused
from agent.memory.blame import person_lines
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.profile.changes import propose_changes
from agent.memory.profile.note_edit import BlockChange
from agent.runs.owner import profile_writing
from agent.runs.status import growth_account
from agent.texts import Language, Sentence
from agent.vault.change import Stamp, actor_of
from agent.vault.folders import PROFILE
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.find import commits
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

DISMISSED_FOR = timedelta(days=30)
"""The time for which a dismissed pattern is not spoken of."""
TOOL = "patterns"
"""The tool of a commit with which the program writes patterns."""


@dataclass(frozen=True, slots=True)
class Look:
    """The patterns that one look has found; `changes` bring the notes up to date."""

    patterns: tuple[Pattern, ...] = ()
    changes: tuple[BlockChange, ...] = ()

    def written(self, blocks: Iterable[BlockChange]) -> tuple[Pattern, ...]:
        """The patterns that no note had before these blocks were written."""
        ids = {each.id for each in blocks if not each.before}
        return tuple(each for each in self.patterns if each.id in ids)


def detect(activity: Activity, language: Language, vectors: Vectors | None = None) -> tuple[Pattern, ...]:
    """The patterns of each kind, the surest first; the same for the same activity."""
    return (
        *repeated_questions(activity, language, vectors),
        *daily_rhythms(activity, language),
        *abandoned_tasks(activity, language),
        *rising_topics(activity, language),
    )


def look(vault: Vault, language: Language, now: datetime, vectors: Vectors | None) -> Look:
    """Look for patterns; writes nothing."""
    hidden, forgotten = dismissed(vault, now), load_tombstones(vault)
    found = [
        each
        for each in detect(gather(vault, now), language, vectors)
        if each.id not in hidden and not any(map(forgotten.is_forgotten, (each.name, *each.words)))
    ]
    changes = list[BlockChange]()
    for name in (INSIGHTS, DAYS):
        path = vault.home.at(name)
        base = vault.read(path) or b""
        own = [not is_theirs for is_theirs in person_lines(vault, path, base)]
        there = [each for each in found if (each.kind == "daily_rhythm") is (name == DAYS)]
        changes += block_changes(name.removeprefix(PROFILE), _text(base), own, there, language)
    return Look(tuple(found), tuple(changes))


def dismissed(vault: Vault, now: datetime) -> frozenset[str]:
    """The ids of the patterns that the person has dismissed within the last 30 days."""
    found: set[str] = set()
    for path in (vault.home.at(INSIGHTS), vault.home.at(DAYS)):
        versions = _versions(vault, path, now - DISMISSED_FOR)
        committed, now_there = vault.read_at("HEAD", path) if vault.head else None, vault.read(path)
        if committed is not None and now_there is not None:  # a change that is not committed yet was made now
            versions.append((committed, now_there))
        found.update(*(removed_or_refused(_text(before), _text(after)) for before, after in versions))
    return frozenset(found)


def _versions(vault: Vault, path: str, since: datetime) -> list[tuple[bytes, bytes]]:
    """A note before and after each change by the person since then."""
    edits = commits(vault, actor=HUMAN, path=path, since=since)
    changes = [(each.before, each.after) for commit in edits for each in commit.files if each.path == path]
    ids = [blob.oid for pair in changes if None not in pair for blob in pair if blob is not None]
    blobs = [data or b"" for data in vault.read_blobs(ids)]
    return list(zip(blobs[::2], blobs[1::2], strict=True))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


_STAMP = Stamp(actor_of(growth_account("patterns")), tool=TOOL)


def take_patterns(workspace: Workspace, vectors: Vectors | None, publish: Callable[[object], object]) -> None:
    """Look, and write what has changed; `publish` is told of each pattern that no note had. Raises what a transaction
    raises."""
    vault, settings = workspace.vault, workspace.settings
    found = look(vault, settings.vault.language, workspace.clock.now(), vectors)
    proposed = propose_changes(profile_writing(workspace), found.changes)
    if proposed.requests:
        with vault.transaction(Sentence("patterns: what repeats"), _STAMP, masked=True) as change:
            change.requests += proposed.requests
    for each in found.written(proposed.blocks):
        publish(PatternDetected(each.id, each.kind, each.name, each.confidence, each.frequency))
