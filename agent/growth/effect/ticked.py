"""The boxes that the person ticked, from their own commits: what they got done, whoever reminded them.

A box counts when a commit of theirs has it ticked that was open before; also one that moved to another note meanwhile.
Boxes with which they decide or answer the agent do not count, nor does a commit of many files, which came from
elsewhere at once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime

from agent.attention.feedback import parse_opinion_box
from agent.dataclass import dataclass
from agent.texts import in_all_languages
from agent.vault.folders import DAILY, OWN_NOTES
from agent.vault.history.commits import Commit
from agent.vault.history.find import commits
from agent.vault.history.trailers import HUMAN
from agent.vault.store import Vault

_BOX = re.compile(rb"^[>\s]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\][ \t]+(\S[^\r\n]*)", re.MULTILINE)
_COMMITS, _BULK = 5_000, 50
_LARGEST = 1_000_000
"""The most bytes of a note that is looked at."""
_FEEDBACK = frozenset(word for key in ("pattern.helpful", "pattern.not_helpful") for word in in_all_languages(key))


@dataclass(frozen=True, slots=True)
class EditDay:
    """One commit of the person's: when it was made, and how many boxes it ticks."""

    when: datetime
    ticked: int


@dataclass(slots=True)
class TickReader:
    """The boxes that the person ticked; a commit is read once."""

    _known: dict[str, int] = field(default_factory=dict)

    def edits(self, vault: Vault, since: datetime) -> tuple[EditDay, ...]:
        """The person's commits since then, the newest first, the last 5,000 of them."""
        found = [each for each in commits(vault, actor=HUMAN, since=since, limit=_COMMITS) if len(each.parents) < 2]
        fresh = [each for each in found if each.id not in self._known and 0 < len(each.files) <= _BULK]
        self._known |= _ticked(vault, fresh)
        return tuple(EditDay(each.when, self._known.get(each.id, 0)) for each in found)


def _ticked(vault: Vault, fresh: Iterable[Commit]) -> Mapping[str, int]:
    changes = {each.id: [change for change in each.files if _is_own(vault, change.path)] for each in fresh}
    sides = [blob for files in changes.values() for change in files for blob in (change.before, change.after)]
    ids = list({blob.oid for blob in sides if blob is not None})
    boxes = dict(zip(ids, map(_boxes, vault.read_blobs(ids)), strict=True)) if ids else {}
    found: dict[str, int] = {}
    for id, files in changes.items():
        opened, done = Counter[bytes](), Counter[bytes]()
        for change in files:
            for blob, sign in ((change.before, -1), (change.after, 1)):
                if blob is not None:
                    for state, count in boxes[blob.oid].items():
                        (opened if state[:1] == b" " else done)[state[1:]] += sign * count
        ticked = {box: min(number, -opened[box]) for box, number in done.items() if number > 0 and opened[box] < 0}
        found[id] = sum(number for box, number in ticked.items() if not _is_answer(box))
    return found


def _boxes(data: bytes | None) -> Counter[bytes]:
    """The boxes of a note by their state (" " or "x") and text."""
    if data is None or len(data) > _LARGEST or b"]" not in data:
        return Counter()
    return Counter(state.lower() + words.strip() for state, words in _BOX.findall(data))


def _is_answer(words: bytes) -> bool:
    """True for a box with which the person tells the agent something."""
    text = words.decode("utf-8", "replace").strip()
    return text in _FEEDBACK or parse_opinion_box(text) is not None


def _is_own(vault: Vault, path: str) -> bool:
    return path.endswith(".md") and (vault.home.row(path) == OWN_NOTES or vault.home.holds(path, DAILY))
