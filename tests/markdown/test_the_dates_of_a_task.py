"""Which day of a task counts: people's programs write many kinds of dates, and most are not the day it is due."""

from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.blocks import parse_body
from agent.markdown.tasks import TaskDates, find_tasks, parse_task_dates, without_created

TODAY = date(2026, 11, 29)
COMES = (
    "Pay 📅 2026-11-28",
    "Pay 📅2026-11-28",
    "Pay 🗓️ 2026-11-29 ⏫",
    "Pay 📆 2026-11-28 🔁 every month",
    "Pay 🔁 every month on the 28th 🛫 2026-11-20 📅 2026-11-28 ➕ 2026-10-28",
    "Pay ⏳ 2026-11-28 📅 2026-12-20",
    "Pay ⌛ 2026-11-29",
    "Pay 🛫 2026-11-20",
    "Begin 🛫 2026-11-29 📅 2027-03-01",
    "Pay 📅 2026-11-28, for the trip on 2027-01-31",
    "Pay ⏰ 2026-11-28 09:00",
    "Pay @{2026-11-28}",
    "Pay @{2026-11-28} @@{09:00}",
    "Pay @[[2026-11-28]]",
    "Pay (@2026-11-28 09:00)",
    "Pay (@2026-11-28)",
    "Pay (@[[2026-11-28]] 09:00)",
    "Pay [due:: 2026-11-28]",
    "Pay (due::2026-11-28)",
    "Pay [due:: [[2026-11-28]]] [created:: 2026-11-01]",
    "Pay [due:: 2026-11-28T09:00]",
    "Pay [scheduled:: 2026-11-28], [due:: 2026-12-20]",
    "Pay [Due Date:: 2026-11-28]",
    "Pay due:2026-11-28 @home",
    "Pay @due(2026-11-28)",
    "Pay due: 2026-11-28",
    "Pay (2026-11-18)",
    "Pay 2026-11-28.",
    "Pay [[2026-11-28]]",
    "Pay on 2026-11-28 ➕ 2026-11-01",
    "交房租 📅 2026-11-28，去年是 2027-01-31",
    "在2026-11-28交房租",
)
STAYS_AWAY = (
    "Idea ➕ 2026-11-01",
    "Idea [created:: 2026-11-01]",
    "Idea [reviewed:: 2026-11-01]",
    "Idea ➕ 2026-11-01 📅 2026-12-20",
    "Later 🛫 2026-12-05",
    "Later 🛫 2026-11-20 📅 2026-12-20",
    "Later ⏳ 2026-12-05 📅 2026-12-20",
    "Later 📅 2026-12-20, as said on 2026-11-01",
    "Later @{2026-12-01}",
    "Later (@2026-12-01 09:00)",
    "Later [due:: 2026-12-01]",
    "From 2026-11-20 to 2026-12-03",
    "Was done 📅 2026-11-20 ✅ 2026-11-21",
    "Is cancelled 📅 2026-11-20 ❌ 2026-11-21",
    "Was done [due:: 2026-11-20] [completion:: 2026-11-21]",
    "Was done due:2026-11-20 @done(2026-11-21)",
    "No such day 📅 2026-11-31",
    "Read scan-2026-11-20.pdf and https://example.org/2026-11-20/page",
    "No date at all",
)


@pytest.mark.parametrize("text", COMES)
def test_its_day_has_come(text: str) -> None:
    assert parse_task_dates(text).has_come(TODAY), parse_task_dates(text)


@pytest.mark.parametrize("text", STAYS_AWAY)
def test_its_day_has_not_come(text: str) -> None:
    assert not parse_task_dates(text).has_come(TODAY), parse_task_dates(text)


@pytest.mark.parametrize(
    ("state", "is_open"),
    [(" ", True), ("/", True), ("!", True), ("x", False), ("X", False), ("-", False), (">", False)],
)
def test_what_is_in_the_box_says_whether_it_is_still_to_be_done(state: str, is_open: bool) -> None:
    (box,) = find_tasks(parse_body(f"- [{state}] Pay 📅 2026-11-28\n"))
    assert box.is_open is is_open


DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))


@given(st.dictionaries(st.sampled_from(("due", "scheduled", "start", "created")), DAYS), st.randoms(), st.data())
def test_the_order_and_the_form_of_the_signs_do_not_matter(
    days: dict[str, date], order: Random, data: st.DataObject
) -> None:
    forms = {"due": "📅 {}", "scheduled": "⏳ {}", "start": "🛫 {}", "created": "➕ {}"}
    parts = [forms[kind].format(day) if data.draw(st.booleans()) else f"[{kind}:: {day}]" for kind, day in days.items()]
    order.shuffle(parts)
    wanted = TaskDates(days.get("due"), days.get("scheduled"), days.get("start"))
    assert parse_task_dates(" ".join(["Pay", *parts])) == wanted


def test_the_day_on_which_it_was_written_down_says_nothing_of_what_it_is_about() -> None:
    assert "2026-11-29" not in without_created("Idea ➕ 2026-11-29 [created:: 2026-11-29]")
    assert without_created("Call on 2026-11-29 📅 2026-12-01") == "Call on 2026-11-29 📅 2026-12-01"
