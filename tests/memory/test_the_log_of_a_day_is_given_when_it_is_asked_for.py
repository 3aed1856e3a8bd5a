"""The log of today and of the last days is given when a question names the day, past the floor and beside nothing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath

import pytest

from agent.config.load import load_settings
from agent.memory.entry import Entry, EntryType
from agent.memory.recall.authorship import Asker
from agent.memory.recall.recaller import LONGEST, Recollection
from agent.memory.recall.where_and_when import asked_days, without_facts
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault, recaller_over

NOW = datetime(2026, 11, 21, 14, tzinfo=UTC)
OWNER = Asker()
TODAY, YESTERDAY = "daily/2026-11-21.md", "daily/2026-11-20.md"
NOTES = {
    TODAY: b"# 2026-11-21\n\n## 09:00 - Is basil hardy?\n\n- In [[sessions/2026/11/basil]]\n\n"
    b"## 09:30 - Memory upkeep\n\n- said again (1): tea\n",
    YESTERDAY: "# 2026-11-20\n\n## 16:00 - 给茶园写信\n\n- In [[sessions/2026/11/tea]]\n\n"
    "%% vault-agent: summary 0123456789ab %%\n## Summary of the day\n\n"
    "### Key conversations\n\n- 16:00 给茶园写信\n%% vault-agent: end of summary %%\n".encode(),
    "daily/2026-11-10.md": b"# 2026-11-10\n\n## 08:00 - We talked about the kayak\n\n- Answer: A red one.\n",
    "daily/2026-11-02.md": b"# 2026-11-02\n\n## 08:00 - We talked about the kayak\n\n- Answer: None yet.\n",
    "daily/2026-11-16.md": b"# 2026-11-16\n\n## 08:00 - We talked about the kayak\n\n- Answer: A blue one.\n",
}


BEES = Entry("01HZZZZZZZ0000000000000001", NOW - timedelta(1), "Mara keeps bees in Porto.", EntryType.FACT)
SUMMARY = """# Day

%% vault-agent: summary 0123456789ab %%
## Summary of the day

New entries: fact × 2

### Facts and decisions

- Mara keeps bees in Porto. [[{bees}]]
- The hives in Porto are blue. [[2026-11-21-hives]]

### Key conversations

- 16:00 Bees in Porto [[sessions/2026/11/bees]]
%% vault-agent: end of summary %%
"""


def recalled(
    folder: Path, question: str, asker: Asker = OWNER, entries: Sequence[Entry] = (BEES,), **notes: bytes
) -> Recollection:
    """What a run is given of these days' logs and entries, unless others are named, one about something else."""
    every = {**NOTES, **{f"daily/{day[1:].replace('_', '-')}.md": note for day, note in notes.items()}}
    every |= {each.path: each.note() for each in entries}
    searcher = MemoryVault(every).searcher(folder, "whoosh", KEYWORDS_ONLY)
    settings = load_settings(environ={}).settings.memory
    recaller = recaller_over(
        lambda text, limit: searcher.search(text, limit, explain=True), every.get, lambda: NOW, settings
    )
    return recaller.recall(question, asker, 8, unasked=True)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did we talk about today?", [TODAY]),
        ("where did we stop yesterday?", [YESTERDAY]),
        ("我们今天聊了什么？", [TODAY]),
        ("昨天聊到哪儿了", [YESTERDAY]),
        ("What did you do for me yesterday and today?", [TODAY, YESTERDAY]),
        ("what were we discussing five days ago?", ["daily/2026-11-16.md"]),
        ("What did I do last Monday?", ["daily/2026-11-16.md"]),
        ("上周二我做了什么？", ["daily/2026-11-10.md"]),
        ("上上周一我们聊了什么", ["daily/2026-11-02.md"]),
        ("What did we decide on Monday?", ["daily/2026-11-16.md"]),
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
        "what do I have to do on Monday?",
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


def test_of_days_to_come_no_log_is_wanted() -> None:
    today = date(2026, 11, 21)
    assert asked_days("What did I do on 10 November?", today) == ("2026-11-10",)
    assert asked_days("What do we do on 30 November, and on Tuesday?", today) == ()


def told(folder: Path, question: str, *, facts: str, entries: Sequence[Entry] = (BEES,)) -> str:
    """All that a run is given, with this summary of the day."""
    found = recalled(folder, question, entries=entries, _2026_11_21=facts.encode())
    return "\n".join(each.text for each in found.found)


def test_a_fact_is_given_once_by_its_entry_or_else_by_the_log(tmp_path: Path) -> None:
    summary = SUMMARY.format(bees=PurePosixPath(BEES.path).stem)
    found = told(tmp_path / "beside", "What did I say today, where does Mara keep her bees in Porto?", facts=summary)
    assert found.count("keeps bees in Porto") == 1 and "hives in Porto are blue" in found
    other = Entry("01HZZZZZZZ0000000000000003", NOW, "Mara's bees in Porto need a new hive.", EntryType.FACT)
    only = told(
        tmp_path / "only", "What did I say today, where does Mara keep her bees?", facts=summary, entries=(other,)
    )
    assert only.count("keeps bees in Porto") == 1


def test_a_part_of_which_every_fact_is_given_goes_with_its_heading() -> None:
    log = "## Summary\n\n### Facts\n\n- Bees. [[a]]\n\n### Talks\n\n- 16:00 Bees [[sessions/a]]"
    assert without_facts(log, {"[[a]]"}) == "## Summary\n\n### Talks\n\n- 16:00 Bees [[sessions/a]]"
    assert without_facts("- Bees. [[a]]\n- Mine.", {"[[a]]"}) == "- Mine."
    assert without_facts(log, {"[[b]]"}) == log


def test_a_log_does_not_tell_what_was_replaced(tmp_path: Path) -> None:
    bees = PurePosixPath(BEES.path).stem
    new = Entry(
        "01HZZZZZZZ0000000000000002",
        NOW,
        "Mara keeps bees in Lisbon.",
        EntryType.FACT,
        supersedes=f"[[{bees}]]",
    )
    old = replace(BEES, superseded_by=f"[[{PurePosixPath(new.path).stem}]]")
    found = told(tmp_path, "Where does Mara keep her bees?", facts=SUMMARY.format(bees=bees), entries=(old, new))
    assert "bees in Lisbon" in found and "keeps bees in Porto" not in found
