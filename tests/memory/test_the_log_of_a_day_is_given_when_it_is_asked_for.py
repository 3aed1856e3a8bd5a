"""The log of today and of the last days is given when a question names the day, past the floor and beside nothing."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from agent.config.load import load_settings
from agent.index.dates import relative_days
from agent.memory.entry import Entry, EntryType
from agent.memory.recall.asker import Asker
from agent.memory.recall.recaller import LONGEST, Recaller, Recollection
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault

NOW = datetime(2026, 11, 21, 14, tzinfo=UTC)
OWNER = Asker()
TODAY, YESTERDAY = "daily/2026-11-21.md", "daily/2026-11-20.md"
NOTES = {
    TODAY: b"# 2026-11-21\n\n## 09:00 - Is basil hardy?\n\n- In [[sessions/2026/11/basil]]\n\n"
    b"## 09:30 - Memory upkeep\n\n- said again (1): tea\n",
    YESTERDAY: "# 2026-11-20\n\n## 16:00 - 给茶园写信\n\n- In [[sessions/2026/11/tea]]\n\n"
    "%% vault-agent: summary 0123456789ab %%\n## Summary of the day\n\n"
    "### Key conversations\n\n- 16:00 给茶园写信\n%% vault-agent: end of summary %%\n".encode(),
    "daily/2026-11-16.md": b"# 2026-11-16\n\n## 08:00 - We talked about the kayak\n\n- Answer: A blue one.\n",
}


def recalled(folder: Path, question: str, asker: Asker = OWNER, **notes: bytes) -> Recollection:
    """What a run is given of these days' logs and one entry about something else."""
    entry = Entry("01HZZZZZZZ0000000000000001", NOW - timedelta(1), "Mara keeps bees in Porto.", EntryType.FACT)
    every = {**NOTES, **{f"daily/{day[1:].replace('_', '-')}.md": note for day, note in notes.items()}}
    every[entry.path] = entry.note()
    searcher = MemoryVault(every).searcher(folder, "whoosh", KEYWORDS_ONLY)
    settings = load_settings(environ={}).settings.memory
    recaller = Recaller(
        lambda text, limit: searcher.search(text, limit, explain=True), every.get, lambda: NOW, settings
    )
    return recaller.recall(question, asker, 8, unasked=True).above("normal")


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did we talk about today?", [TODAY]),
        ("where did we stop yesterday?", [YESTERDAY]),
        ("我们今天聊了什么？", [TODAY]),
        ("昨天聊到哪儿了", [YESTERDAY]),
        ("What did you do for me yesterday and today?", [TODAY, YESTERDAY]),
        ("what were we discussing five days ago?", ["daily/2026-11-16.md"]),
    ],
)
def test_the_log_of_the_day_is_given_and_nothing_beside_it(tmp_path: Path, question: str, days: list[str]) -> None:
    found = recalled(tmp_path, question).found
    assert sorted(each.path for each in found) == sorted(days)
    told = {TODAY: "Is basil hardy?", YESTERDAY: "- 16:00 给茶园写信"}
    assert all(told.get(each.path, "kayak") in each.text for each in found)
    assert all("vault-agent:" not in each.text and "said again" not in each.text for each in found)


@pytest.mark.parametrize(
    "question",
    [
        "In which country is Waterloo today?",
        "滑铁卢在今天的哪个国家？",
        "What did we talk about?",
        "What did we talk about the day before yesterday?",
    ],
)
def test_a_day_that_is_not_asked_for_is_not_given(tmp_path: Path, question: str) -> None:
    assert recalled(tmp_path, question).found == ()


def test_a_guest_is_given_no_log(tmp_path: Path) -> None:
    assert recalled(tmp_path, "What did we talk about today?", Asker("ben", is_owner=False)).found == ()


def test_of_a_long_day_the_end_is_given(tmp_path: Path) -> None:
    blocks = "\n".join(f"## {hour:02}:00 - Shelf {hour}\n\n- Answer: {'it holds ' * 20}\n" for hour in range(9, 21))
    (found,) = recalled(tmp_path, "where did we stop today?", _2026_11_21=f"# Day\n\n{blocks}".encode()).found
    assert "20:00 - Shelf 20" in found.text and "09:00" not in found.text
    assert found.text.startswith("## ") and len(found.text) <= LONGEST


def test_the_days_that_words_name() -> None:
    today = date(2026, 3, 1)
    named = {
        "today and last night": [today, date(2026, 2, 28)],
        "the day before yesterday": [date(2026, 2, 27)],
        "three days ago, 三天前": [date(2026, 2, 26)],
        "两天以前": [date(2026, 2, 27)],
        "today's": [today],
        "a todaylike day, 30 days ago": [],
    }
    assert {text: list(relative_days(text, today)) for text in named} == named
