"""The table of phrases, from `phrases_en.yaml` and `phrases_zh.yaml`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import yaml

from agent.dataclass import dataclass
from agent.schedule.occurrences import next_times
from agent.schedule.triggers import parse_triggers
from agent.times.reading import Unclear
from agent.times.when import parse_when

FILES = tuple(sorted(Path(__file__).parent.glob("phrases_*.yaml")))


@dataclass(frozen=True, slots=True)
class Phrase:
    """What somebody writes at `now`, and what it means, as the head of `phrases_en.yaml` says."""

    words: str
    meaning: str
    now: datetime

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(str(self.now.tzinfo))


def phrases(section: Literal["ahead", "back", "days"]) -> list[Phrase]:
    """The phrases of a section, of all languages."""
    return [each for path in FILES for each in _of_file(path, section)]


def _of_file(path: Path, section: str) -> Iterator[Phrase]:
    loaded: Mapping[str, str | Sequence[Sequence[str]]] = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)
    now = datetime.fromisoformat(str(loaded["now"])).replace(tzinfo=ZoneInfo(str(loaded["zone"])))
    for row in loaded[section]:
        words, *meaning = row
        yield Phrase(words, ", ".join(meaning), now)


def meaning_of(words: str, now: datetime) -> str:
    """What a time to come means, as the table has it: its moments, or the next three times."""
    found = parse_when(words, now)
    if isinstance(found, Unclear):
        return "ask"
    zone, usual = ZoneInfo(str(now.tzinfo)), "usual " if found.taken else ""
    times = next_times(parse_triggers(found.on), zone, now, anchor=now)
    shown = [f"{at:%Y-%m-%d %H:%M}" for _, at in zip(range(3), times, strict=False)]
    if found.moments:
        return (usual or "at ") + ", ".join(shown)
    return f"{usual}next {' '.join(shown)}"
