"""The patterns in the notes about the person: kept up to date, theirs to change, and quiet once they are dismissed."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from agent.growth.patterns.look import dismissed, look
from agent.growth.patterns.pattern import Pattern
from agent.growth.patterns.pattern_notes import INSIGHTS, block_changes, parse_blocks
from agent.memory.profile.changes import propose_changes
from agent.memory.profile.profile_file import parse_profile
from agent.runs.owner import profile_writing
from agent.texts import LANGUAGES, Language, text
from tests.growth.work import YESTERDAY, Office, day, office
from tests.vaults import write

QUESTIONS = ("Where is my passport?", "Where did I put my passport?", "where is my passport")
CHANGELOG = "profile/_changelog.md"
DAYS = {
    path: note
    for back, question in enumerate(QUESTIONS)
    for path, note in day(YESTERDAY - timedelta(days=back), ("09:10", question), ("20:00", "Read on")).items()
}


def found(made: Office) -> str:
    made.do("upkeep")
    return made.text(INSIGHTS)


def changed_by_hand(made: Office, text: str) -> None:
    write(made.root / INSIGHTS, text)
    made.workspace.vault.commit_human()


def asked_again(made: Office, back: int = 0) -> None:
    """The question once more, on another day."""
    later = made.clock.now() - timedelta(days=back)
    for path, note in day(later, ("07:30", "Where is my passport?")).items():
        write(made.root / path, note)
    made.workspace.vault.commit_human()


def test_a_line_is_brought_up_to_date_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, DAYS)
    changed_by_hand(made, found(made) + "\n## Mine\n\nMy own words.\n")
    asked_again(made)
    note = found(made)
    assert "Asked 4 times" in note and "Asked 3 times" not in note and "My own words." in note
    assert len(parse_blocks(note.splitlines())) == 1
    before = made.commit_count()
    assert not made.do("upkeep").result.did_something and made.commit_count() == before + 2, "only the task itself"


@pytest.mark.parametrize("language", LANGUAGES)
def test_cases_that_are_too_old_to_count_change_nothing(language: Language) -> None:
    links = tuple(f"[[sessions/2026/11/2026-11-{day} The tea]]" for day in (20, 19, 18, 17, 16))
    tea = Pattern("rising_topic", "tea", "Tea: 9 times.", 0.84, 9, date(2026, 11, 20), links)
    (added,) = block_changes(INSIGHTS, "", (), [tea], language)
    note, own = "\n".join(added.after), [True] * len(added.after)

    def changes(pattern: Pattern) -> list[tuple[str, ...]]:
        return [each.after for each in block_changes(INSIGHTS, note, own, [pattern], language)]

    fewer = replace(tea, name="Tea: 8 times.", frequency=8, confidence=0.81)
    assert changes(fewer) == changes(replace(fewer, evidence=links[:4])) == []
    for news in (
        replace(tea, last=date(2026, 11, 21)),
        replace(tea, confidence=0.7),
        replace(tea, evidence=("[[sessions/2026/11/2026-11-20 More tea]]", *links[:4])),
    ):
        ((line,),) = changes(news)
        assert line != added.after[0]
    (over,) = block_changes(INSIGHTS, note, own, [], language)
    assert over.says.startswith("Tea: 9 times.") and over.says.endswith(
        text("pattern.rising_topic_suggestion", language)
    )


@pytest.mark.parametrize("sign", ["\u2028", "\x0c", "\x85"])
def test_a_sign_that_breaks_lines_above_does_not_hide_who_has_written_a_block(sign: str) -> None:
    tea = Pattern("rising_topic", "tea", "Tea: 9 times.", 0.84, 9, date(2026, 11, 20), ("[[tea]]",))
    (added,) = block_changes(INSIGHTS, "", (), [tea], "en")
    note = "\n".join([f"my own{sign}words", *added.after, ""])
    for is_own in (True, False):
        own = [False, is_own, *[True] * (len(added.after) - 1), True]
        assert len(list(block_changes(INSIGHTS, note, own, [], "en"))) == is_own


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pattern_is_a_line_of_the_profile_and_no_field(language: Language) -> None:
    name = "You mostly write between 9:00 and 11:00: on 20 days."
    rhythm = Pattern("daily_rhythm", "day", name, 0.9, 20, date(2026, 11, 27), ("[[mosses]]",))
    (added,) = block_changes(INSIGHTS, "", (), [rhythm], language)
    lines = "\n".join(("# Days", *added.after, "- I get up at 7:30", "- [ ] sleep", "- Age: 42"))
    note = parse_profile("profile/30-daily-patterns.md", "30-daily-patterns.md", lines.encode())
    assert [(each.label, each.value) for each in note.fields] == [("Age", "42")]
    told, up, sleep = note.statements
    assert told.text.startswith(name) and "mosses" not in told.text and "pattern-" not in told.text
    assert (up.text, sleep.text) == ("I get up at 7:30", "[ ] sleep")


def test_a_line_that_the_person_has_changed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, DAYS)
    changed_by_hand(made, found(made).replace("Asked 3 times", "I ask too often"))
    asked_again(made)
    note = found(made)
    assert "I ask too often" in note and "Asked 4 times" not in note


@pytest.mark.parametrize("way", ["ticked", "deleted", "ticked, not committed"])
def test_a_dismissed_pattern_is_quiet_for_thirty_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    made = office(tmp_path, monkeypatch, DAYS)
    note = found(made)
    (id,) = parse_blocks(note.splitlines())
    made.clock.advance(3600)
    block = note[note.index("- Asked 3") : note.index("not helpful\n") + len("not helpful\n")]
    theirs = note.replace("[ ] not helpful", "[x] not helpful") if "ticked" in way else note.replace(block, "")
    write(made.root / INSIGHTS, theirs)
    if "not committed" not in way:
        made.workspace.vault.commit_human()
    assert dismissed(made.workspace.vault, made.clock.now()) == {id}
    asked_again(made)
    assert found(made) == theirs, "it is not spoken of, and the person's note stays as it is"
    made.workspace.vault.commit_human()
    made.clock.advance(32 * 86_400)
    for back in range(3):
        asked_again(made, back)
    assert not dismissed(made.workspace.vault, made.clock.now())
    assert "Asked" in found(made)


def test_what_is_over_is_taken_out_unless_the_person_has_said_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = office(tmp_path, monkeypatch, DAYS)
    note = found(made)
    made.clock.advance(60 * 86_400)
    assert "Asked 3 times" not in found(made)
    changed_by_hand(made, note.replace("[ ] helpful", "[x] helpful"))
    assert "Asked 3 times" in found(made)


def test_each_change_of_a_pattern_has_its_row_in_the_changelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, DAYS)
    note = found(made)
    asked_again(made)
    found(made)
    made.clock.advance(60 * 86_400)
    assert "Asked" not in found(made) and "## What repeats" not in made.text(INSIGHTS)
    rows = [row for row in made.text(CHANGELOG).splitlines() if "[[profile/51-patterns-insights]]" in row]
    assert [row.split(" · ")[2].partition(":")[0] for row in rows] == ["added", "replaced", "taken out"]
    assert "Asked 3 times" in rows[0] and "Asked 4 times" in rows[1] and "[[2026-11-21]]" in rows[0]
    assert all("^pattern-" not in row and row.endswith(" · agent") for row in rows), note


def test_a_pattern_whose_evidence_is_gone_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = office(tmp_path, monkeypatch, DAYS)
    seen = look(made.workspace.vault, "en", made.clock.now(), None)
    (made.root / next(path for path in DAYS if path.startswith("daily/"))).unlink()
    proposed = propose_changes(profile_writing(made.workspace), seen.changes)
    assert not proposed.requests and "not there" in proposed.refused[0].why
