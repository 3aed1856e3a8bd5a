"""A job's history: rows come back as they were written, a person's lines stay, two machines' rows come together."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.escape import escape
from agent.markdown.merging.notes import merge_notes
from agent.markdown.note import Note
from agent.schedule.history import HistoryRow, Outcome, history_path, parse_history, record_of, with_rows
from agent.schedule.job import Job
from agent.vault.folders import AT_ROOT, AgentFolder, is_log

BERLIN = timezone(timedelta(hours=1))
NIGHT = datetime(2026, 11, 23, 2, 30, tzinfo=BERLIN)
JOB = Job("night", "jobs/night.md", "The night", ())
DONE = HistoryRow(
    NIGHT,
    "done",
    NIGHT + timedelta(seconds=2),
    12,
    delivery="daily/2026-11-23.md",
    money=0.0031,
    session="sessions/2026-11-23-0230.md",
    is_changed=True,
    machine="laptop",
)

visible = st.characters(codec="utf-8", exclude_characters="[]:\\", exclude_categories=["C", "Z"])
words = st.text(visible.filter(lambda each: escape(each) == each), max_size=30)
paths = st.from_regex(r"[a-z0-9-]{1,9}/[a-z0-9-]{1,9}( [a-z0-9]{1,5})?", fullmatch=True).map(lambda path: f"{path}.md")
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=offsets).map(
    lambda at: at.replace(microsecond=0)
)


@st.composite
def rows(draw: st.DrawFn) -> HistoryRow:
    started = draw(st.none() | moments)
    return HistoryRow(
        draw(moments),
        draw(st.sampled_from(["done", "nothing", "failed", "interrupted", "missed", "skipped", "waits", "refused"])),
        started,
        draw(st.integers(0, 99_999)) / 10 if started else 0,
        draw(words),
        draw(paths | words.filter(lambda each: not each.endswith(".md"))),
        draw(st.integers(0, 10**7)) / 10**6,
        draw(st.just("") | paths),
        draw(st.booleans()),
        draw(words),
        draw(st.integers(1, 9)),
        draw(st.integers(0, 600_000)),
    )


@settings(max_examples=60)
@given(st.lists(rows(), max_size=4))
def test_each_row_comes_back_as_it_was_written(given_rows: list[HistoryRow]) -> None:
    note = with_rows(None, JOB, given_rows, "en")
    assert set(parse_history(note)) == set(given_rows)
    assert with_rows(note, JOB, given_rows, "zh") == note


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_words_of_a_row_can_end_it_or_begin_another(reason: str, machine: str, delivery: str) -> None:
    row = replace(DONE, reason=reason, machine=machine, delivery=delivery, outcome="failed")
    (back,) = parse_history(with_rows(None, JOB, [row], "en"))
    assert (back.planned, back.outcome, back.session, back.money) == (NIGHT, "failed", DONE.session, DONE.money)


def test_a_row_reads_well_in_an_editor() -> None:
    assert DONE.line == (
        "- [planned:: 2026-11-23T02:30:00+01:00] [outcome:: done] [started:: 2026-11-23T02:30:02+01:00] "
        "[took:: 12 s] [delivery:: [[daily/2026-11-23]]] [cost:: 0.0031] [session:: [[sessions/2026-11-23-0230]]] "
        "[changes:: yes] [machine:: laptop]"
    )
    missed = HistoryRow(NIGHT, "missed", reason="the daemon was off", missed=3)
    assert missed.line.endswith("[outcome:: missed] [reason:: the daemon was off] [missed:: 3]")


def test_a_new_history_says_whose_it_is() -> None:
    note = Note.parse(with_rows(None, JOB, [DONE], "zh"))
    assert (note.type, note.string("job")) == ("job_history", "night")
    assert "“The night”的运行记录" in note.body
    assert "[[jobs/night]]" in note.body


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_person_s_own_lines_stay_where_they_are(newline: str) -> None:
    note = with_rows(None, JOB, [DONE], "en").decode().replace("\n", newline)
    edited = note + f"This one was good!{newline}- [ ] ask for less{newline}no line end"
    later = replace(DONE, planned=NIGHT + timedelta(days=1))
    after = with_rows(edited.encode(), JOB, [DONE, later], "en").decode()
    assert after == edited + newline + later.line + newline
    assert parse_history(after.encode()) == (DONE, later)


def test_lines_that_only_look_like_rows_are_skipped() -> None:
    lines = [
        "- [planned:: yesterday] [outcome:: done]",
        "- [planned:: 2026-11-23T02:30:00] [outcome:: done]",
        "- [planned:: 2026-11-23T02:30:00+01:00] [outcome:: splendid]",
        "- [planned:: 2026-11-23T02:30:00+01:00] [outcome:: done] [took:: long]",
        "- [x] done",
        "planned:: 2026-11-23T02:30:00+01:00",
    ]
    assert parse_history("\n".join(lines).encode()) == ()


@settings(max_examples=40)
@given(st.lists(rows(), max_size=3), st.lists(rows(), max_size=3), st.lists(rows(), max_size=3))
def test_the_rows_of_two_machines_come_together(
    base: list[HistoryRow], ours: list[HistoryRow], theirs: list[HistoryRow]
) -> None:
    before = with_rows(None, JOB, base, "en") if base else None
    one, other = with_rows(before, JOB, ours, "en"), with_rows(before, JOB, theirs, "zh" if before else "en")
    merged = merge_notes(before, one, other, is_log=True)
    assert merged.other is None
    assert set(parse_history(merged.data)) == {*base, *ours, *theirs}


def test_the_vault_merges_it_as_a_log() -> None:
    assert history_path(AT_ROOT, "night") == "jobs/history/night.md"
    assert is_log(history_path(AgentFolder("Agent/"), "night"), AgentFolder("Agent/"))


def course(*outcomes: Outcome) -> list[HistoryRow]:
    return [HistoryRow(NIGHT + timedelta(hours=at), each) for at, each in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "failures", "stopped"),
    [
        ((), 0, False),
        (("failed", "failed"), 2, False),
        (("failed", "failed", "failed"), 3, True),
        (("failed", "failed", "done", "failed"), 1, False),
        (("failed", "missed", "failed", "skipped", "failed"), 3, True),
        (("failed", "failed", "nothing"), 0, False),
        (("failed", "failed", "interrupted"), 2, False),
        (("failed", "failed", "failed", "resumed"), 0, False),
        (("failed", "failed", "failed", "resumed", "failed"), 1, False),
    ],
)
def test_failures_in_a_row_stop_a_job(outcomes: tuple[Outcome, ...], failures: int, stopped: bool) -> None:
    record = record_of(reversed(course(*outcomes)), 3)
    assert (record.consec_failures, record.is_stopped) == (failures, stopped)


def test_an_occurrence_that_was_tried_three_times_has_failed_once() -> None:
    tries = [HistoryRow(NIGHT, "failed", NIGHT, attempt=each) for each in (1, 2, 3)]
    assert record_of(tries, 3).consec_failures == 1
    assert record_of([*tries, HistoryRow(NIGHT, "done", NIGHT, attempt=4)], 3).consec_failures == 0


def test_the_last_run_is_the_last_that_ran() -> None:
    record = record_of([DONE, *course("missed", "skipped", "waits")], 3)
    assert (record.last_run_at, record.last_run_status) == (DONE.started, "done")
    assert record_of(course("missed"), 3).last_run_at is None
    assert parse_history(b"") == ()
