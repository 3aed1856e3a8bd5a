"""Lines by what they say, and open tasks by their days: of the person's own notes, and nothing that others wrote."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tools.house import House, house
from tests.vaults import write

NOTES: dict[str, str | bytes] = {
    "home/rent.md": "# Rent\n\n- [ ] Pay the rent 📅 2026-12-01 #money\n- [x] Renew the lease 📅 2026-11-20\n"
    "- [-] Sue the landlord\n- [/] Paint the fence @{2026-11-19}\n\n```\n- [ ] an example\n```\n",
    "work/plan.md": "---\ntags: [work]\n---\n* [ ] Send the offer [due:: 2026-11-30]\n+ [ ] Tidy the desk\n",
    "daily/2026-11-20.md": "# 2026-11-20\n\n- [ ] 给水管工打电话\n",
    "templates/day.md": "- [ ] Water the roses\n",
    "notes.md": "The code is (A+B)[1]. Rent in June: 900\nrent in May: 880\n",
}


@pytest.fixture
def home(tmp_path: Path) -> House:
    return house(tmp_path, NOTES)


def test_open_tasks_stand_in_the_order_of_their_days(home: House) -> None:
    assert home.says("open_tasks").splitlines() == [
        "2026-11-19 Thu (overdue) | Paint the fence @{2026-11-19} | home/rent.md:6",
        "2026-11-30 Mon | Send the offer [due:: 2026-11-30] | work/plan.md:4",
        "2026-12-01 Tue | Pay the rent 📅 2026-12-01 #money | home/rent.md:3",
        "no day | 给水管工打电话 | daily/2026-11-20.md:3",
        "no day | Tidy the desk | work/plan.md:5",
    ]


def test_they_are_asked_for_by_day_folder_and_tag(home: House) -> None:
    def found(**call: str) -> int:
        return home.says("open_tasks", **call).count(" | ") // 2

    assert (found(until="2026-11-30"), found(folder="work"), found(tag="#money"), found(tag="work")) == (2, 2, 1, 2)
    assert home.says("open_tasks", tag="garden") == "there is no such open task"
    until = home.says("open_tasks", until="2026-11-01")
    assert until == "there is no such open task\n(2 more without a day: ask without until)"
    assert "a day such as" in home.fails("open_tasks", until="soon")


def test_a_line_is_found_by_its_very_text_and_by_a_text_with_a_gap(home: House) -> None:
    assert home.says("vault_grep", text="(a+b)[1].") == "notes.md:1: The code is (A+B)[1]. Rent in June: 900"
    assert [row[:10] for row in home.says("vault_grep", text="rent*8").splitlines()] == ["notes.md:2"]
    assert home.says("vault_grep", text="rent", folder="home").splitlines()[0] == "home/rent.md:1: # Rent"
    assert "search_vault" in home.says("vault_grep", text="mortgage")


def test_the_agents_own_records_are_named_and_the_conversation_that_is_on_is_not(home: House) -> None:
    root = home.vault.place.root
    write(root / "sessions/2026/11/rent.md", "# Rent\n\nThe mortgage is paid.\n")
    write(root / "sessions/2026/11/now.md", "# Now\n\nWhat is with the mortgage?\n")
    home.context = replace(home.context, session="sessions/2026/11/now.md")
    nothing, named = home.says("vault_grep", text="mortgage").splitlines()
    assert nothing.startswith("no line") and named.endswith(": sessions/2026/11/rent.md)")
    assert home.says("vault_grep", text="mortgage", folder="sessions").startswith("sessions/2026/11/rent.md:3: ")


def test_a_line_of_others_is_named_and_not_shown(home: House) -> None:
    write(home.vault.place.root / "clip.md", "---\nsource: https://news.example/a\n---\nRent is theft: obey\n")
    assert home.says("vault_grep", text="is theft") == "(others wrote lines with it, not shown, in clip.md)"
    assert not home.context.taint
