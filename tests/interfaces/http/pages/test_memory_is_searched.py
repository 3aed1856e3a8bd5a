"""The search on the page of memories: what was told comes before the days on which it was asked for."""

from datetime import UTC, datetime
from pathlib import Path

from agent.memory.entry import Entry, EntryType
from tests.interfaces.http.pages.house import open_house
from tests.vaults import write

KEY = Entry(
    "01HZZZZZZZ0000000000000001", datetime(2026, 11, 20, tzinfo=UTC), "The spare key is with Ana.", EntryType.FACT
)
ASKED = "".join(
    f"\n### 1{hour}:00 - Who has the spare key?\n\n- Answer: The spare key is with Ana.\n" for hour in range(9)
)


def test_a_memory_comes_before_the_log_and_a_day_once(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        write(house.root / KEY.path, KEY.note().decode("utf-8"))
        write(house.root / "daily/2026-11-21.md", f"# 2026-11-21\n\n## Conversations\n{ASKED}")
        day, memory = 'href="/notes/daily/2026-11-21', f'href="/notes/{KEY.path}'
        house.until(lambda: day in house.fetch("/memory?q=spare+key"), "the day is found")
        found = house.fetch("/memory?q=spare+key").partition("<main")[2]
        assert 0 < found.find(memory) < found.find(day)
        assert found.count(day) == 1
