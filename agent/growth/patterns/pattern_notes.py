"""The patterns in a note about the person: one block each, which the program keeps up to date in place.

    - Asked 4 times: “Where is my passport?”. (…) [[2026-11-20]] ^pattern-1a2b3c4d
      - [ ] helpful
      - [ ] not helpful

The id at the end is a block id as Obsidian has them. The program changes a line only while nobody else has; a block in
which the person has ticked or written something is never taken out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.dataclass import dataclass
from agent.growth.patterns.pattern import Pattern
from agent.memory.profile.evidence import Evidence
from agent.memory.profile.note_edit import BlockChange
from agent.texts import Language, in_all_languages, text
from agent.vault.folders import PROFILE
from agent.vault.store import Vault

INSIGHTS, DAYS = f"{PROFILE}51-patterns-insights.md", f"{PROFILE}30-daily-patterns.md"
"""The notes with the patterns; those of the days are in the second."""
_BLOCK = re.compile(r"^[-*+] (?P<words>.*?)\s*\^pattern-(?P<id>[0-9a-f]{8})\s*$")
_LAST = re.compile(r"\s*[(（][^()（）]*\d{4}-\d\d-\d\d[^()（）]*[)）] *\[\[")
"""Where the words of a line end and its figures begin."""
_DATED = re.compile(r"\[\[((?:[^\]|#\n]*/)?(\d{4}-\d\d-\d\d)[ -][^\]|#\n]+)\]\]")
_BOX = re.compile(r"^[ \t]+[-*+] \[(.)\] (.+?)\s*$")


@dataclass(frozen=True, slots=True)
class PatternBlock:
    """One pattern in a note. `words` are those of its line; `first` and `end` are the numbers of its lines, from 0;
    `opinion` is "helpful", "not_helpful" or empty."""

    words: str
    first: int
    end: int
    opinion: str = ""


def parse_blocks(lines: Sequence[str]) -> dict[str, PatternBlock]:
    """The blocks of a note's lines, by the ids of their patterns."""
    found: dict[str, PatternBlock] = {}
    for first, line in enumerate(lines):
        if not (match := _BLOCK.match(line)):
            continue
        end, opinion = first + 1, ""
        while end < len(lines) and (box := _BOX.match(lines[end])):
            opinion = _opinion(box[2]) if box[1] in "xX" else opinion
            end += 1
        found[match["id"]] = PatternBlock(match["words"], first, end, opinion)
    return found


def pattern_opinions(vault: Vault) -> tuple[str, ...]:
    """The person's opinions of the patterns: helpful or not_helpful, once for each that has a tick."""
    found: dict[str, str] = {}
    for name in (INSIGHTS, DAYS):
        note = (vault.own_version(vault.home.at(name)) or b"").decode("utf-8", "replace")
        found |= {id: block.opinion for id, block in parse_blocks(_rows(note)).items() if block.opinion}
    return tuple(found.values())


def pattern_line(pattern: Pattern, language: Language) -> str:
    """The line of a pattern, without the list mark and the id. The confidence has one digit, so that the line does not
    change each day, and is never 1: nothing is that sure."""
    return text(
        "pattern.line",
        language,
        name=pattern.name,
        suggestion=text(f"pattern.{pattern.kind}_suggestion", language),
        last=pattern.last.isoformat(),
        confidence=f"{min(pattern.confidence, 0.94):.1f}",
        links=" ".join(map(_short, pattern.evidence)),
    )


def block_changes(
    name: str, note: str, own: Sequence[bool], patterns: Sequence[Pattern], language: Language
) -> Iterator[BlockChange]:
    """The changes of the note of this name in `profile/` to have these patterns; `own` says of each line whether the
    program wrote it. Own blocks of patterns that are over are taken out."""
    lines, heading = _rows(note), text("pattern.section", language)
    wanted = {each.id: each for each in patterns}
    for id, block in parse_blocks(lines).items():
        there = tuple(lines[block.first : block.end])
        pattern = wanted.pop(id, None)
        if pattern is not None:
            after = f"- {pattern_line(pattern, language)} ^pattern-{id}"
            if own[block.first] and _has_news(pattern, there[0], language):
                yield BlockChange(name, pattern.name, heading, _evidence(pattern), there[:1], (after,), id)
        elif all(own[block.first : block.end]) and not block.opinion:
            yield BlockChange(name, _LAST.split(block.words)[0], heading, (), there, id=id)
    boxes = [f"  - [ ] {text(f'pattern.{opinion}', language)}" for opinion in ("helpful", "not_helpful")]
    for id, each in wanted.items():
        after = f"- {pattern_line(each, language)} ^pattern-{id}"
        yield BlockChange(name, each.name, heading, _evidence(each), (), (after, *boxes), id)


def removed_or_refused(before: str, after: str) -> frozenset[str]:
    """The patterns whose block a person has deleted between two versions of a note, or said of that it is not
    helpful."""
    old, new = parse_blocks(_rows(before)), parse_blocks(_rows(after))
    was, now = ({id for id, block in blocks.items() if block.opinion == "not_helpful"} for blocks in (old, new))
    return frozenset(old.keys() - new.keys() | now - was)


def _rows(note: str) -> list[str]:
    """The lines of a note; other signs that break lines stand within them, as where it is said who wrote each."""
    return [row.removesuffix("\r") for row in note.split("\n")]


def _short(link: str) -> str:
    """A link to a note whose name begins with its day, shown as the day: names of conversations are long."""
    found = _DATED.fullmatch(link)
    return f"[[{found[1]}|{found[2]}]]" if found else link


def _has_news(pattern: Pattern, line: str, language: Language) -> bool:
    """True if the line does not say how recent, how sure and where the pattern is. Cases that have only become too old
    to count are no news: each day some would be."""
    figures = pattern_line(replace(pattern, name="", evidence=()), language).strip()
    return not (figures in line and all(_short(link) in line for link in pattern.evidence))


def _evidence(pattern: Pattern) -> tuple[Evidence, ...]:
    return tuple(Evidence(link.removeprefix("[[").removesuffix("]]")) for link in pattern.evidence)


def _opinion(box: str) -> str:
    return next((each for each in ("not_helpful", "helpful") if box in in_all_languages(f"pattern.{each}")), "")
