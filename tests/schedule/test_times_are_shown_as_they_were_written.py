"""A time that a person has written is shown as they wrote it, also on the other side of a clock change.

The clock says now with an offset, and an offset knows nothing of other days.
"""

import ast
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

import agent
from agent.asking.questions.notes import QuestionDraft, format_question
from agent.clock import in_clock_zone
from agent.deeds.jobs import times_of
from agent.interfaces.cli.job_texts import format_job, format_list
from agent.interfaces.cli.time_format import format_time
from agent.schedule.history import JobRecord
from agent.schedule.job import Job
from agent.schedule.job_header import parse_job
from agent.schedule.occurrences import moment_in
from agent.schedule.shelf import Shelf
from agent.vault.history.typed_time import parse_time

ZONES = (
    *("Europe/Warsaw", "Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "Africa/Casablanca"),
    *("Australia/Lord_Howe", "Pacific/Auckland", "Asia/Shanghai", "Asia/Kolkata", "Pacific/Apia", "UTC"),
)
SIZES = [200, pytest.param(20_000, marks=pytest.mark.chaos)]


@contextmanager
def machine_in(zone: str) -> Iterator[None]:
    """The machine's zone, for this process."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()


def job(on: str) -> Job:
    found = parse_job("jobs/pay.md", f"---\ntype: job\non: {on}\n---\nPay the rent.\n".encode())
    assert isinstance(found, Job)
    return found


def some_now(draw: Random) -> datetime:
    """A moment as the machine's clock says it: with the offset that holds then."""
    return (datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=draw.randrange(4 * 525_600))).astimezone()


@pytest.mark.parametrize("trials", SIZES)
def test_what_is_shown_is_what_was_written(trials: int) -> None:
    draw = Random(29)
    for _ in range(trials):
        zone = draw.choice(ZONES)
        with machine_in(zone):
            now = some_now(draw)
            written = (now + timedelta(minutes=draw.randrange(1, 525_600))).replace(tzinfo=None, second=0)
            exists = moment_in(written, ZoneInfo(zone)).replace(tzinfo=None, fold=0) == written
            if not exists or moment_in(written, ZoneInfo(zone)) <= now:
                continue
            words = f"{written:%Y-%m-%d %H:%M}"
            once = job(f'{{at: "{words}"}}')
            where = f"{zone}, now {now}, written {words}"
            assert f"next {words}" in format_list(Shelf((once,)), now), where
            assert any(words in line for line in format_job(once, now, JobRecord())[1:]), where
            shown = [datetime.fromisoformat(each) for each in times_of(once, now, 1)]
            assert [f"{each:%Y-%m-%d %H:%M}" for each in shown] == [words], where
            assert format_time(parse_time(written.isoformat(), now), now) == words, where
            daily = job(f'{{cron: "{written.minute} {written.hour} * * *"}}')
            times = [format_time(each.at, now)[11:] for each in daily.coming(now, 400)]
            assert times.count(f"{written:%H:%M}") >= 396, where  # a day of a change may have no such time


@pytest.mark.parametrize("zone", ZONES)
def test_a_question_is_said_to_wait_until_the_hour_at_which_it_ends(zone: str) -> None:
    with machine_in(zone):
        for day in range(0, 366, 7):
            now = (datetime(2026, 1, 1, 9, tzinfo=UTC) + timedelta(days=day)).astimezone()
            expires = now + timedelta(days=7)
            note = format_question(QuestionDraft("Tea?", expires), "1", now, "en").decode()
            assert f"until {expires.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" in note


def test_a_clock_elsewhere_keeps_its_offset() -> None:
    with machine_in("Asia/Tokyo"):
        now = datetime(2026, 11, 29, 9, tzinfo=UTC)
        assert in_clock_zone(datetime(2027, 7, 5, 9, tzinfo=ZoneInfo("Europe/Warsaw")), now).hour == 7
        assert in_clock_zone(datetime(2027, 7, 5, 9), now) == datetime(2027, 7, 5, 9, tzinfo=UTC)
        assert in_clock_zone(datetime.max.replace(tzinfo=UTC), now) == datetime.max.replace(tzinfo=UTC)


def test_no_other_module_converts_by_the_offset_of_now() -> None:
    """`at.astimezone(now.tzinfo)` is an hour off on the other side of a change: `in_clock_zone` is not."""
    root = Path(agent.__file__).parent
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in root.rglob("*.py")
        if path != root / "clock.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        for given in (*node.args, *(each.value for each in node.keywords))
        if isinstance(given, ast.Attribute) and given.attr == "tzinfo" and "now" in ast.unparse(given.value)
    ]
    pages = {path.relative_to(root): path.read_text("utf-8") for path in root.rglob("*.html")}
    templates = [str(path) for path, words in pages.items() if re.search(r"now\.tzinfo", words)]
    assert [*found, *templates] == []
