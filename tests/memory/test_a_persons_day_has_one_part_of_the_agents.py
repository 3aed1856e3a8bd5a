"""In a daily note that is the person's, the program writes between two marks, and changes nothing outside them."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from agent.memory import daily
from agent.memory.blame import AuthoredLine
from agent.vault.change import Stamp
from agent.vault.day_section import add_between_marks, before_end, with_marks
from agent.vault.store import Vault
from tests.vaults import git, make_vault, write

DAY, NOTE = date(2026, 11, 29), "Journal/2026-11-29.md"
OWN = "---\nmood: good\n---\n# Sunday\n\n- my own day\n\n## Conversations\n\nWith Ana, about tea.\n"
SETTINGS = {".obsidian/daily-notes.json": '{"folder": "Journal"}'}
BEGIN, END = "%% vault-agent: day %%\n", "%% vault-agent: end of day %%\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {**SETTINGS, NOTE: OWN})


PROGRAM = Stamp("agent", tool="x")


def tell(vault: Vault, title: str, kind: daily.DayPart = "conversations", stamp: Stamp = PROGRAM) -> None:
    block = daily.block(datetime(2026, 11, 29, 10, tzinfo=UTC), title, ["said"])
    path = vault.home.day_note(DAY)
    with vault.transaction(f"memory(daily): {title}", stamp) as change:
        change.append(path, block.encode(), daily.beginning(vault, DAY), daily.section(kind, "en").encode())


def text(vault: Vault) -> str:
    return (vault.place.root / NOTE).read_text("utf-8")


def test_all_that_the_program_adds_is_in_one_part(vault: Vault) -> None:
    for title, kind in (("Tea", "conversations"), ("A parcel", "notices"), ("Cake", "conversations")):
        tell(vault, title, kind)  # type: ignore[arg-type]
    written = text(vault)
    own, _, rest = written.partition(BEGIN)
    inside, _, below = rest.partition(END)
    assert own.rstrip("\n") + "\n" == OWN and below == "" and written.count(BEGIN) == written.count(END) == 1
    assert inside.startswith("\n## Conversations\n\n### 10:00 - Tea\n"), "one blank line"
    titles = [line for line in inside.splitlines() if line.startswith("##")]
    assert titles == ["## Conversations", "### 10:00 - Tea", "### 10:00 - Cake", "## Notices", "### 10:00 - A parcel"]
    assert [each.title for each in daily.log(written)] == ["Tea", "Cake"]


def test_a_line_of_the_persons_in_it_stays_and_so_does_what_stands_below(vault: Vault) -> None:
    tell(vault, "Tea")
    edited = text(vault).replace("- said\n", "- said\n\nNo, it was coffee.\n") + "\n## Evening\n\nTired.\n"
    write(vault.place.root / NOTE, edited)
    tell(vault, "Cake")
    written = text(vault)
    assert "No, it was coffee.\n" in written and written.endswith("\n## Evening\n\nTired.\n")
    assert written.index("coffee") < written.index("Cake") < written.index(END) < written.index("## Evening")


@pytest.mark.parametrize("mark", [BEGIN, END])
def test_without_a_mark_all_of_it_is_the_persons(vault: Vault, mark: str) -> None:
    tell(vault, "Tea")
    before = text(vault).replace(mark, "")
    write(vault.place.root / NOTE, before)
    tell(vault, "Cake")
    assert text(vault).startswith(before.rstrip("\n")) and "Cake" in text(vault).rpartition(BEGIN)[2]


def test_the_summary_stands_there_too(vault: Vault) -> None:
    tell(vault, "Tea")
    written = daily.with_summary(text(vault), "## Summary of the day\n\n- tea\n")
    assert written.endswith(f"%% vault-agent: end of summary %%\n{END}")
    again = daily.with_summary(written, "## Summary of the day\n\n- tea, and cake\n")
    assert again.count(END) == 1 and "tea, and cake" in again and again.startswith(OWN.rstrip("\n"))


def test_what_a_tool_call_adds_goes_where_it_says(vault: Vault) -> None:
    tell(vault, "Asked for", stamp=Stamp("agent", tool="vault_append", call="c1", run="r"))
    assert BEGIN not in text(vault) and text(vault).index("With Ana") < text(vault).index("Asked for")


def test_a_day_of_the_agents_own_has_no_marks(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    tell(vault, "Tea")
    assert BEGIN not in git(vault.place.root, "show", "HEAD:daily/2026-11-29.md")


def test_an_old_day_is_shortened_between_its_marks(vault: Vault) -> None:
    tell(vault, "Tea")
    mine = set(OWN.splitlines(keepends=True))
    lines = [AuthoredLine(each, each not in mine) for each in text(vault).splitlines(keepends=True)]
    left = daily.shortened(lines)
    assert "Tea" not in left and BEGIN in left and END in left and left.startswith(OWN.rstrip("\n"))


PIECES = some.sampled_from(
    ["- a\n", "\n", "## Conversations\n", "text", "%%\n", "```\n", "| a |\n", BEGIN, END, "é\r\n"]
)


@example(f"{BEGIN}- a\n{END}é\r\n")
@given(some.lists(PIECES, max_size=8).map("".join))
def test_nothing_outside_the_marks_changes(before: str) -> None:
    data = before.encode()
    marked = with_marks(data)
    assert marked.startswith(data)
    after = add_between_marks(data, b"## Notices", b"### 10:00 - x\n")
    above, below = before_end(after.decode())
    own, _ = before_end(marked.decode())
    assert above.startswith(own[: own.rindex(BEGIN.strip())]) and "10:00 - x" in above
    assert marked.endswith(below.encode())
    assert [line for line in data.split() if line not in after.split()] == []
