"""Two weeks of a person's life, and what the agent has understood of it by its upkeep, without a model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.growth.patterns.pattern_notes import INSIGHTS
from agent.memory.profile.load import template_note
from agent.memory.profile.profile_file import CHANGELOG
from agent.texts import Language
from tests.growth.fortnight import Fortnight, at, fortnight
from tests.growth.work import Office, office

SURE = 0.7
_CONFIDENCE = re.compile(r"(?:confidence|把握) (\d\.\d)")
_LINE = re.compile(r"^[-*] ", re.MULTILINE)


@dataclass
class Understood:
    """What the notes about the person say after the fortnight, compared with what is true."""

    found: list[str] = field(default_factory=list)
    in_its_note: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    unplanted: list[str] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    false_patterns: list[str] = field(default_factory=list)

    def share(self, of: Sequence[str]) -> float:
        return len(of) / (len(self.found) + len(self.missed))

    @property
    def figures(self) -> str:
        return (
            f"facts {self.share(self.found):.2f}, in the note where they belong {self.share(self.in_its_note):.2f}, "
            f"unplanted {len(self.unplanted)}, kinds of patterns {len(self.kinds)}, false {len(self.false_patterns)}"
        )


def lived(made: Fortnight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int) -> Office:
    """A vault in which upkeep was done on so many mornings."""
    monkeypatch.setenv("VAULT_AGENT_PROFILE__SENSITIVE", "yes")
    here = office(tmp_path, monkeypatch, made.notes, language=made.language)
    made.apply_edits(here.root)
    for day in range(every, 15, every):
        here.clock.start = at(day, 9)
        ended = here.do("upkeep")
        assert ended.status == "completed", (day, ended.text)
    return here


def understood(made: Fortnight, here: Office) -> Understood:
    """Each line of the profile against the truth."""
    result = Understood()
    notes = {path.stem: path.read_text("utf-8") for path in (here.root / "profile").rglob("*.md")}
    notes.pop(CHANGELOG.removesuffix(".md"), None)
    for fact in made.facts:
        stem = fact.path.removesuffix(".md").rpartition("/")[2]
        where = [name for name, text in notes.items() if _has(text, stem, fact.quote)]
        (result.found if where else result.missed).append(fact.quote)
        result.in_its_note += [fact.quote] if fact.note in where else []
    for name, text in notes.items():
        template = template_note(f"{name}.md", made.language).decode().splitlines()
        for row in _body(text):
            if row in template or not _LINE.match(row):
                continue
            if "^pattern-" in row:
                _judge_pattern(made, row, result)
            elif "^belief-" in row:
                rests = _below(text, row)
                is_stated = all(any(_cites(each, fact.path, fact.quote) for fact in made.facts) for each in rests)
                result.unplanted += [] if rests and is_stated else [f"{name}: {row}"]
            elif not any(_says(row, fact.path, fact.quote, text) for fact in made.facts):
                result.unplanted.append(f"{name}: {row}")
    return result


def _body(text: str) -> list[str]:
    return text.split("\n---\n", 1)[-1].splitlines()


def _below(text: str, row: str) -> list[str]:
    """The lines of evidence below a belief."""
    rows = text.splitlines()
    first = rows.index(row) + 1
    end = next((at for at in range(first, len(rows)) if not rows[at].startswith("  - ")), len(rows))
    return rows[first:end]


def _cites(row: str, path: str, quote: str) -> bool:
    """True for a line of evidence that links to the entry with its words."""
    return f"[[{path.removesuffix('.md').rpartition('/')[2]}]]" in row and f'"{quote}"' in row


def _links_to(stem: str, row: str) -> bool:
    return f"[[{stem}]]" in row or f"[[{stem}|" in row


def _has(text: str, stem: str, quote: str) -> bool:
    """True for a note that has a line which links to the entry, with the words of the person as evidence."""
    is_cited = any(_links_to(stem, row) for row in _body(text) if _LINE.match(row))
    escaped = quote.replace('"', '\\"')
    return is_cited and any(f"[[{stem}]]" in row and escaped in row for row in text.splitlines() if '\\"' in row)


def _says(row: str, path: str, quote: str, text: str) -> bool:
    stem = path.removesuffix(".md").rpartition("/")[2]
    if not _links_to(stem, row):
        return False
    value = re.sub(r"^[-*] (?:\*\*[^*]+\*\*: )?", "", row).partition(" ([[")[0].strip("“”")
    return value.rstrip("。.") in quote and _has(text, stem, quote)


def _judge_pattern(made: Fortnight, row: str, result: Understood) -> None:
    kinds = {each.kind for each in made.patterns if any(word in row for word in each.words)}
    result.kinds |= kinds
    sure = _CONFIDENCE.search(row)
    if not kinds and sure is not None and float(sure[1]) > SURE:
        result.false_patterns.append(row)


def has_found_patterns(result: Understood, here: Office) -> None:
    assert len(result.kinds) >= 4 and not result.false_patterns, result.figures
    assert "^pattern-" in here.text(INSIGHTS)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.chaos)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_model_the_profile_gains_fields_that_were_stated_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: Language, every: int
) -> None:
    made = fortnight(language)
    here = lived(made, tmp_path, monkeypatch, every)
    result = understood(made, here)
    assert len(result.found) >= 6 and not result.unplanted, result.figures
    has_found_patterns(result, here)
