"""A belief by its evidence, and its block in the note of the person's preferences."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import fsum
from types import MappingProxyType

from agent.dataclass import dataclass
from agent.growth.beliefs.sign import Dimension, Sign, SignKind, says
from agent.memory import daily
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.note_edit import BlockChange
from agent.memory.profile.owner import (
    TASK_KINDS,
    TOLD,
    BeliefFigures,
    BeliefLine,
    TaskKind,
    format_belief_line,
    parse_belief_line,
)
from agent.memory.profile.profile_file import words_of_line
from agent.texts import Language, text
from agent.vault.folders import PROFILE

STRENGTH: Mapping[SignKind, float] = MappingProxyType(
    {"answered": 1.0, "stated": 0.9, "edited": 0.7, "requested": 0.7, "chosen": 0.65, "followed_up": 0.3}
)
"""How strong a signal is, from 0 to 1."""
RECENT = 20
"""The newest signals of a dimension, which count: who changes their mind is not held to what they did long ago."""
ENOUGH: Mapping[SignKind, int] = MappingProxyType(
    {"answered": 1, "stated": 1, "edited": 2, "requested": 2, "chosen": 3, "followed_up": 3}
)
"""From how many signals of one kind that agree there is a belief: one edit may be an accident, and of three choices the
first two, too. Kinds add up: an edit and a choice are five sixths of a belief."""
CONFIRMED = 0.9
"""Above this confidence a preference counts as confirmed; above `TOLD` a model is told."""
DOUBTED = 0.3
"""Contradictions for each piece of evidence, above which the person is asked which value holds."""
_STATED = frozenset(("answered", "stated"))
_MANY_TASKS = 3
"""So many kinds of texts for which a preference was shown are all of them."""
_ENOUGH = 0.999
"""A whole, as a sum of thirds may come out."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What the person is believed to prefer. `signs` are the signals for the value, `against` those that contradict it,
    the newest first; `tasks` the kinds of texts for which it holds, empty for all. `is_enough`: there are enough signs
    to speak of it."""

    dimension: Dimension
    value: str
    confidence: float
    signs: tuple[Sign, ...]
    against: tuple[Sign, ...] = ()
    tasks: frozenset[TaskKind] = frozenset()
    is_enough: bool = True

    @property
    def is_used(self) -> bool:
        """True if a model is told of it: it is sure enough, and the person need not be asked whether it holds."""
        return self.is_enough and self.confidence > TOLD and not self.is_doubted

    @property
    def is_confirmed(self) -> bool:
        return self.is_enough and self.confidence > CONFIRMED

    @property
    def is_doubted(self) -> bool:
        """True if the person is to be asked which value holds: more than one accident contradicts it."""
        is_more = len(self.against) > 1 or any(each.kind in _STATED for each in self.against)
        return self.is_enough and is_more and len(self.against) > DOUBTED * len(self.signs)

    @property
    def newest(self) -> date:
        """The day of its last sign."""
        return max(each.day for each in (*self.signs, *self.against))

    @property
    def other_values(self) -> tuple[str, ...]:
        """The values that the contradictions are for, the newest first."""
        return tuple(dict.fromkeys(each.value for each in self.against))


def beliefs(signals: Iterable[Sign], today: date) -> tuple[Belief, ...]:
    """The beliefs by these signals, one for each dimension, the surest first."""
    by_key: dict[tuple[str, str], list[Sign]] = {}
    for each in signals:
        by_key.setdefault(each.dimension.key, []).append(each)
    found = (believe(group, today) for group in by_key.values())
    there = [each for each in found if each is not None]
    return tuple(sorted(there, key=lambda each: (-each.confidence, each.dimension.key)))


def believe(signals: Sequence[Sign], today: date) -> Belief | None:
    """The belief by the signals of one dimension; None if all of them are of days to come.

    What the person has said decides, the last word first; without a word of theirs what they have shown more often.
    Each signal that decides makes the confidence (old · count + strength) / (count + 1), in the order of their days,
    but one that agrees never lowers it: a weak sign of the same is no doubt. What contradicts them since is counted,
    and asked about if it is too much.
    """
    live = _newest_first(each for each in signals if each.day <= today)[:RECENT]
    if not live:
        return None
    best = _best_value(live)
    signs = tuple(each for each in live if each.plain_value == best)
    stated = [each for each in signs if each.kind in _STATED]
    last_word = stated[0] if stated else None
    against = tuple(each for each in live if each.plain_value != best and _is_after(each, last_word))
    return Belief(
        signs[0].dimension,
        signs[0].value,
        _confidence(stated or signs),
        signs,
        against,
        _tasks(signs),
        fsum(1 / ENOUGH[each.kind] for each in signs) >= _ENOUGH,
    )


def _best_value(live: Sequence[Sign]) -> str:
    """The value of the last statement, an answer first; without one, the one that was shown most often."""
    stated = [each for each in live if each.kind in _STATED]
    if not stated:
        counts = Counter(each.plain_value for each in live)
        return max((each.plain_value for each in reversed(live)), key=counts.__getitem__)
    of_last_day = (each for each in stated if each.day == stated[0].day)
    return next((each for each in of_last_day if each.kind == "answered"), stated[0]).plain_value


def _confidence(deciding: Sequence[Sign]) -> float:
    """How sure a belief is by these signals, the newest first."""
    confidence = 0.0
    for count, each in enumerate(reversed(deciding)):
        confidence = max(confidence, (confidence * count + STRENGTH[each.kind]) / (count + 1))
    return confidence


def _is_after(sign: Sign, word: Sign | None) -> bool:
    """True if a signal came after the last word of the person on the matter; an answer settles its whole day."""
    return word is None or sign.day > word.day or (sign.day == word.day and word.kind != "answered")


def _newest_first(signals: Iterable[Sign]) -> tuple[Sign, ...]:
    """The signals in an order that does not depend on the one in which they came."""
    return tuple(sorted(signals, key=_order, reverse=True))


def _order(signal: Sign) -> tuple[date, float, tuple[str, ...]]:
    words = (signal.evidence.written, signal.excerpt, signal.kind, signal.value, *sorted(signal.tasks))
    return signal.day, STRENGTH[signal.kind], words


def _tasks(signs: Sequence[Sign]) -> frozenset[TaskKind]:
    """The kinds of texts for which a preference was shown; empty for all."""
    found = frozenset[TaskKind]().union(*(each.tasks for each in signs))
    is_general = any(not each.tasks for each in signs) or len(found) >= min(_MANY_TASKS, len(TASK_KINDS))
    return frozenset() if is_general else found


NOTE = f"{PROFILE}31-preferences.md"
MOST = 40
"""The most blocks in the note, the surest first."""
_SIGNS, _AGAINST = 4, 2
"""The most lines of evidence for a belief, and against it; the newest."""
_QUOTED = 80
_BELOW = re.compile(r"^\s+[-*+]\s")

Identity = tuple[str, str]
"""What makes two blocks the same one: the id of the dimension, and what the block says."""


@dataclass(frozen=True, slots=True)
class BeliefBlock:
    """A block in a note: its lines, and the belief in the first of them."""

    line: BeliefLine
    rows: tuple[str, ...]

    @property
    def identity(self) -> Identity:
        return self.line.id, self.line.says


def parse_blocks(note: str) -> tuple[BeliefBlock, ...]:
    """The blocks of a note, in order."""
    rows = note.splitlines()
    found: list[BeliefBlock] = []
    for first, row in enumerate(rows):
        line = parse_belief_line(row) if row.startswith("- ") else None
        if line is None or not line.id:
            continue
        end = first + 1
        while end < len(rows) and _BELOW.match(rows[end]):
            end += 1
        found.append(BeliefBlock(line, tuple(rows[first:end])))
    return tuple(found)


def identity_of(belief: Belief, language: Language) -> Identity:
    """The identity of the block that a belief would have."""
    return belief.dimension.id, plain(says(belief.dimension, belief.value, language))


def block_changes(
    note: str, wanted: Sequence[Belief], refused: Collection[Identity], language: Language
) -> Iterator[BlockChange]:
    """What changes in the note to have these beliefs, the surest first, without those in `refused`: new blocks, those
    with news, and out go the blocks of what is not believed any more. The person's own quotation of a belief becomes
    its evidence."""
    name, heading = NOTE.removeprefix(PROFILE), text("belief.title", language)
    blocks = {each.line.id: each for each in parse_blocks(note)}
    listed = [each for each in wanted if identity_of(each, language) not in refused][:MOST]
    ids = {each.dimension.id for each in listed}
    over = (each for id, each in blocks.items() if id not in ids)
    yield from (BlockChange(name, each.line.says, heading, (), each.rows, (), each.line.id) for each in over)
    for belief in listed:
        there, after = blocks.get(belief.dimension.id), format_block(belief, language)
        if there is not None and not _has_news(there, after):
            continue
        before = there.rows if there is not None else ()
        words = plain(says(belief.dimension, belief.value, language))
        yield BlockChange(name, words, heading, evidence_of(belief), before, after, belief.dimension.id)
        for row in _quotations(note, belief):
            yield BlockChange(name, words_of_line(row), text("profile.own_words", language), (), (row,))


def format_block(belief: Belief, language: Language) -> tuple[str, ...]:
    """The lines of a belief."""
    figures = BeliefFigures(
        belief.confidence, len(belief.signs), len(belief.against), belief.is_confirmed, belief.is_doubted
    )
    dimension, tasks = belief.dimension, belief.tasks
    words = plain(says(dimension, belief.value, language))
    first = format_belief_line(words, figures, tasks if dimension.is_of_style else None, dimension.id, language)
    rows = [_evidence_row(each, language) for each in belief.signs[:_SIGNS]]
    rows += [_evidence_row(each, language, is_against=True) for each in belief.against[:_AGAINST]]
    return first, *dict.fromkeys(rows)


def evidence_of(belief: Belief) -> tuple[Evidence, ...]:
    """The evidence of a belief for the door of the profile, the newest first."""
    return tuple(dict.fromkeys(each.evidence for each in belief.signs[:_SIGNS]))


def plain(words: str) -> str:
    """Words as they stand in a line of a note that an editor neither loads nor links."""
    return daily.inert(" ".join(words.split())).replace("[[", "[ [").replace("]]", "] ]").replace("^", "'")


def quoted(words: str) -> str:
    """A short quotation on one line; empty for nothing."""
    flat = plain(words).replace('"', "'")
    return f'"{daily.cut(flat, _QUOTED)}"' if flat else ""


def _evidence_row(signal: Sign, language: Language, *, is_against: bool = False) -> str:
    how = text(f"belief.by_{signal.kind}", language)
    how = text("belief.otherwise", language, how=how) if is_against else how
    evidence = signal.evidence
    excerpt = signal.excerpt or quoted(evidence.quote)
    day = evidence.day or signal.day.isoformat()
    return f"  - {how}: {' '.join(filter(None, (evidence.link, day, excerpt)))}"


def _has_news(block: BeliefBlock, after: Sequence[str]) -> bool:
    """True if a block says something else than its figures, or these cross a threshold."""
    now = parse_belief_line(after[0])
    if now is None or block.rows[1:] != tuple(after[1:]):
        return True
    is_used, was_used = (each.confidence > TOLD for each in (now, block.line))  # that it is confirmed is said in words
    return _without_figures(block.rows[0]) != _without_figures(after[0]) or is_used != was_used


def _without_figures(row: str) -> str:
    return re.sub(r"[01]\.\d\d", "", row)


def _quotations(note: str, belief: Belief) -> Iterator[str]:
    """The lines of the note that only quote what is evidence of the belief now."""
    words = {" ".join(each.evidence.quote.split()).casefold() for each in belief.signs if each.evidence.quote}
    for row in dict.fromkeys(note.splitlines()):
        words_of_row = words_of_line(row)
        is_quotation = row.startswith("- ") and words_of_row.startswith("“") and words_of_row.endswith("”")
        if is_quotation and " ".join(words_of_row.strip("“”").split()).casefold() in words:
            yield row
