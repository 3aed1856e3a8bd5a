"""The beliefs in the note of the person's preferences: one block each, which the program brings up to date in place.

A block whose lines the person has changed is theirs, and one that they have taken out never comes back. A block is
written anew when its evidence changes or it becomes (or ceases to be) sure enough to be told, not because a day has
passed. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from agent.dataclass import dataclass
from agent.growth.beliefs.belief import Belief
from agent.growth.beliefs.sign import Sign, says
from agent.memory import daily
from agent.memory.profile.belief_line import BeliefFigures, BeliefLine, format_belief_line, parse_belief_line
from agent.memory.profile.block_change import BlockChange
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.profile_file import said_in
from agent.texts import Language, text
from agent.vault.folders import PROFILE

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
    shown = [each for each in wanted if identity_of(each, language) not in refused][:MOST]
    ids = {each.dimension.id for each in shown}
    for block in blocks.values():
        if block.line.id not in ids:
            yield BlockChange(name, block.line.says, heading, (), block.rows, (), block.line.id)
    for belief in shown:
        there, after = blocks.get(belief.dimension.id), format_block(belief, language)
        if there is not None and not _has_news(there, after):
            continue
        before = there.rows if there is not None else ()
        words = plain(says(belief.dimension, belief.value, language))
        yield BlockChange(name, words, heading, evidence_of(belief), before, after, belief.dimension.id)
        for row in _quotations(note, belief):
            yield BlockChange(name, said_in(row), text("profile.own_words", language), (), (row,))


def format_block(belief: Belief, language: Language) -> tuple[str, ...]:
    """The lines of a belief."""
    figures = BeliefFigures(
        belief.confidence,
        belief.mean,
        len(belief.signs),
        len(belief.against),
        belief.is_confirmed,
        belief.is_doubted,
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
    shown = signal.shown or quoted(evidence.quote)
    day = evidence.day or signal.day.isoformat()
    return f"  - {how}: {' '.join(filter(None, (evidence.link, day, shown)))}"


def _has_news(block: BeliefBlock, after: Sequence[str]) -> bool:
    """True if a block says something else than its figures, or these cross a threshold."""
    now = parse_belief_line(after[0])
    if now is None or block.rows[1:] != tuple(after[1:]):
        return True
    return _without_figures(block.rows[0]) != _without_figures(after[0]) or _standing(block.line) != _standing(now)


def _without_figures(row: str) -> str:
    return re.sub(r"[01]\.\d\d", "", row)


def _standing(line: BeliefLine) -> bool:
    """True if the belief is told; that it is confirmed stands in words in its line."""
    return line.confidence > 0.6


def _quotations(note: str, belief: Belief) -> Iterator[str]:
    """The lines of the note that only quote what is evidence of the belief now."""
    words = {" ".join(each.evidence.quote.split()).casefold() for each in belief.signs if each.evidence.quote}
    for row in dict.fromkeys(note.splitlines()):
        said = said_in(row)
        is_quotation = row.startswith("- ") and said.startswith("“") and said.endswith("”")
        if is_quotation and " ".join(said.strip("“”").split()).casefold() in words:
            yield row
