"""A schedule is typed as lines: what is shown is read back as the same, and what cannot be read says where and why."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.note import Note
from agent.schedule.trigger_lines import BadLine, format_lines, parse_lines
from agent.schedule.triggers import EVENTS, At, ChangeTrigger, Cron, Every, OnEvent, Trigger, parse_triggers

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_WORD = st.text("abcz09-_/*#: {}[]\"',早", min_size=1, max_size=12).map(str.strip).filter(bool)
_TRIGGER: st.SearchStrategy[Trigger] = st.one_of(
    st.sampled_from(["0 9 * * 1-5", "*/15 * * * *", "30 7 1 * *", "0 0 * * SUN"]).map(Cron),
    st.integers(60, 366 * 86_400).map(Every),
    st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1)).map(lambda at: At(at.replace(microsecond=0))),
    st.sampled_from(sorted(EVENTS)).map(OnEvent),
    st.builds(
        ChangeTrigger,
        paths=st.lists(_WORD.filter(lambda word: not word.startswith("/")), max_size=2).map(tuple),
        task=st.sampled_from(["", "ticked", "unticked", "added"]),
        tag=_WORD.filter(lambda word: not word.startswith("#")) | st.just(""),
        key=_WORD | st.just(""),
        heading=_WORD.filter(lambda word: not word.startswith("#")) | st.just(""),
        created=st.booleans(),
        count=st.integers(1, 9),
        anywhere=st.booleans(),
        quiet=st.sampled_from([10.0, 0.0, 2.5, 60.0]),
    ),
)


@given(st.lists(_TRIGGER, min_size=1, max_size=4))
def test_what_is_shown_is_read_back_as_the_same(triggers: list[Trigger]) -> None:
    typed = parse_lines(format_lines(triggers), NOW)
    assert parse_triggers(typed.on) == tuple(triggers)
    written = Note.parse(b"---\ntype: job\n---\n").with_key("on", typed.on)
    assert parse_triggers(written.header["on"]) == tuple(triggers)


@pytest.mark.parametrize(
    ("text", "triggers", "zone"),
    [
        ("every weekday at 9", (Cron("0 9 * * 1-5"),), ""),
        ("每个工作日九点", (Cron("0 9 * * 1-5"),), ""),
        ("daily at 7:30 Asia/Tokyo", (Cron("30 7 * * *"),), "Asia/Tokyo"),
        ("  every 2h \n\n every 5 minutes\n", (Every(7200), Every(300)), ""),
        ("cron: */5 * * * *", (Cron("*/5 * * * *"),), ""),
        ("@daily", (Cron("0 0 * * *"),), ""),
        ("at 2026-12-24 09:00", (At(datetime(2026, 12, 24, 9)),), ""),
        ("on run.ended", (OnEvent("run.ended"),), ""),
        ("change projects/**", (ChangeTrigger(("projects/**",)),), ""),
        ("change any note", (ChangeTrigger(),), ""),
        ("change {path: inbox/**, task: added}", (ChangeTrigger(("inbox/**",), "added"),), ""),
    ],
)
def test_lines_are_words_or_what_a_header_has(text: str, triggers: tuple[Trigger, ...], zone: str) -> None:
    typed = parse_lines(text, NOW)
    assert (parse_triggers(typed.on), typed.zone) == (triggers, zone)


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("", "nothing says when", "every weekday at 9"),
        ("0 25 * * *", "0 25 * * * is no cron expression", "each day at 02:30"),
        ("every 5 minutes\n\n0 25 * * *", "line 3: 0 25 * * * is no cron", "each day at 02:30"),
        ("every weekday", "the time is not clear: every weekday", "every weekday at 9"),
        ("every day at 9 brief me", "this is more than a time: brief me", "below it what it does"),
        ("every 5s", "every 5s is too often", "from 1m"),
        ("at 2026-13-40", "2026-13-40 is no moment", "2026-12-24 09:00"),
        ("event run.endet", "no event has the name run.endet", "run.ended"),
        ("change {task: eaten}", "cannot be understood", "ticked, unticked, added"),
        ("change {task: [", "cannot be understood", "task: ticked"),
        ("change x\nchange: y: z", "line 2:", "task: ticked"),
        ("daily at 7 UTC\ndaily at 8 Asia/Tokyo", "name several", "second job"),
        ("@never", "@never is no cron expression", "each day at 02:30"),
    ],
)
def test_what_cannot_be_read_says_where_and_what_to_write(text: str, says: str, hint: str) -> None:
    with pytest.raises(BadLine) as caught:
        parse_lines(text, NOW)
    assert says in caught.value.message and hint in caught.value.hint
