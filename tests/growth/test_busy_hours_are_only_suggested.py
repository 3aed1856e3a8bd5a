"""Hours in which a person usually works: found in their edits, offered as one suggestion, and never by chance."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.attention.quiet import parse_quiet
from agent.growth.patterns.activity import Activity, Remark
from agent.growth.patterns.busy_hours import busy_hours, find_busy_hours
from agent.growth.patterns.look import look
from agent.growth.patterns.pattern_notes import DAYS, parse_blocks
from agent.memory.profile.changes import propose_changes
from agent.runs.owner import profile_writing
from agent.texts import LANGUAGES, Language
from agent.vault.change import Stamp
from tests.growth.work import NOW, office
from tests.vaults import git, write

QUIET = "22-8"


def edited(at: datetime, number: int = 0) -> Remark:
    """A note that was changed by hand."""
    return Remark("edited", at, "plan", f"[[n{number}]]")


def random_person(seed: int) -> list[Remark]:
    """Five weeks of a person who works at random hours from 7 to 23: with a pace of their own, in sessions of one to
    four hours, or now and then, and on one day in three in an hour that they like, which is no habit."""
    random, remarks = Random(seed), list[Remark]()
    pace, liked = random.choice((1, 3) if seed % 3 == 2 else (1, 3, 8, 20)), random.randrange(8, 22)
    for back in range(1, 36):
        day = (NOW - timedelta(days=back)).replace(minute=10)
        for number in range(random.randrange(pace + 1)):
            hour = random.randrange(7, 23)
            hours = range(hour, min(23, hour + random.randrange(1, 5))) if seed % 3 == 1 else [hour]
            remarks += [edited(day.replace(hour=each), number) for each in hours]
        if seed % 3 == 2 and random.random() < 1 / 3:
            remarks.append(edited(day.replace(hour=liked)))
    return sorted(remarks, key=lambda each: each.at)


def habit(share: float, seed: int = 0, hours: tuple[int, ...] = (9, 10), days: range = range(5)) -> list[Remark]:
    """A person who works in these hours on this share of the days, and in three random hours besides."""
    random, remarks = Random(seed), list[Remark]()
    for back in range(1, 36):
        day = (NOW - timedelta(days=back)).replace(minute=20)
        if day.weekday() in days and random.random() < share:
            remarks += [edited(day.replace(hour=each), each) for each in hours]
        remarks += [edited(day.replace(hour=random.randrange(8, 22)), 99) for _ in range(3)]
    return sorted(remarks, key=lambda each: each.at)


@pytest.mark.parametrize("people", [150, pytest.param(1_000, marks=pytest.mark.chaos)])
def test_random_hours_suggest_nothing(people: int) -> None:
    """3 of 1,000 were measured: one without any liking, two with one."""
    wrong = [seed for seed in range(people) if busy_hours(Activity(NOW, tuple(random_person(seed))), "en", QUIET)]
    assert len(wrong) <= people * 0.01, wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_habit_is_one_suggestion_with_its_command(language: Language) -> None:
    (found,) = busy_hours(Activity(NOW, tuple(habit(0.9))), language, QUIET)
    assert 'config set attention.quiet "22-8, mon-fri 9-11"' in found.suggestion
    assert found.confidence > 0.7 and found.evidence
    (other,) = busy_hours(Activity(NOW, tuple(habit(0.9, hours=(6,), days=range(5, 7)))), language, "0-0")
    assert 'attention.quiet "sat-sun 6-7"' in other.suggestion and other.id == found.id


def test_what_is_quiet_already_and_a_whole_working_day_suggest_nothing() -> None:
    assert not busy_hours(Activity(NOW, tuple(habit(0.9))), "en", "22-8, mon-fri 9-12")
    assert not busy_hours(Activity(NOW, tuple(habit(0.95, hours=tuple(range(9, 18))))), "en", QUIET)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 23)), max_size=200),
    st.sampled_from(["", "0-0", "22-8", "mon-fri 9-17, sat-sun 0-24"]),
    st.sampled_from([(), (9, 10), (13,), (23,)]),
)
def test_what_is_suggested_is_a_setting_that_makes_these_hours_quiet(
    moments: list[tuple[int, int]], quiet: str, hours: tuple[int, ...]
) -> None:
    remarks = [edited((NOW - timedelta(days=back)).replace(hour=hour)) for back, hour in moments]
    remarks = sorted([*remarks, *habit(0.9, hours=hours)], key=lambda each: each.at)
    found = busy_hours(Activity(NOW, tuple(remarks)), "en", quiet)
    assert found == busy_hours(Activity(NOW, tuple(remarks)), "en", quiet) and len(found) <= 1
    for each in found:
        setting = each.suggestion.partition('quiet "')[2].partition('"')[0]
        after, before = parse_quiet(setting), parse_quiet(quiet)
        hour = timedelta(hours=1)
        week = [datetime(2026, 11, 16) + number * hour for number in range(7 * 24)]
        assert all(after.holds(at) for at in week if before.holds(at)), "what was quiet stays so"
        assert any(after.holds(at) and not before.holds(at) for at in week)
        assert not busy_hours(Activity(NOW, tuple(remarks)), "en", f"{quiet}, 0-24" if quiet else "0-24")


def test_today_does_not_count_as_it_is_not_over() -> None:
    days = [edited(NOW - timedelta(days=back)) for back in range(4)]
    assert not find_busy_hours(days[:1], NOW, parse_quiet(""))
    assert all(NOW.date() not in each.busy for each in find_busy_hours(days, NOW, parse_quiet("")))


def test_it_stands_in_the_note_with_boxes_and_no_setting_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = office(tmp_path, monkeypatch, {})
    begin = made.clock.now()
    for each in {each.at: each for each in habit(1.0)}.values():
        write(made.root / "plan.md", f"# Plan\n\n{each.at.isoformat()}\n")
        at = each.at.astimezone(UTC).isoformat()
        monkeypatch.setenv("GIT_AUTHOR_DATE", at)
        monkeypatch.setenv("GIT_COMMITTER_DATE", at)
        git(made.root, "add", "-A")
        git(made.root, "commit", "-q", "-m", "mine")
    settings = made.workspace.settings.attention.quiet
    seen = look(made.workspace.vault, "en", begin, None, settings)
    proposed = propose_changes(profile_writing(made.workspace), seen.changes)
    with made.workspace.vault.transaction("patterns", Stamp("agent", tool="patterns")) as change:
        change.requests += proposed.requests
    note = made.text(DAYS)
    busy = [each for each in seen.patterns if each.kind == "busy_hours"]
    assert [each.id for each in busy] == [id for id in parse_blocks(note.splitlines()) if id in {b.id for b in busy}]
    assert "from Monday to Friday between 9:00 and 11:00" in note and "- [ ] not helpful" in note
    write(made.root / DAYS, note.replace("[ ] helpful", "[x] helpful"))
    made.workspace.vault.commit_human()
    assert made.workspace.settings.attention.quiet == settings, "a note changes no setting of the machine"
