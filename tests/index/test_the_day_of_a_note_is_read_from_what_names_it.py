"""`after:` and `before:` read a note's day from its header, file name, title or first heading, in the usual forms."""

from pathlib import Path

import pytest

from agent.index.records import Filters
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault

DAY = "2023-05-08"


@pytest.mark.parametrize(
    ("path", "note"),
    [
        ("a.md", "---\ndate: 2023-05-08\n---\ntea\n"),
        ("a.md", "---\ncreated: 8 May 2023\n---\ntea\n"),
        ("a.md", "---\n日期: 2023年5月8日\n---\ntea\n"),
        ("log/2023-05-08 tea.md", "tea\n"),
        ("log/20230508.md", "tea\n"),
        ("log/2023_05_08.md", "tea\n"),
        ("Monday, May 8th, 2023.md", "tea\n"),
        ("log/2023年5月8日.md", "tea\n"),
        ("a.md", "---\ntitle: Tea on 8.5.2023\n---\ntea\n"),
        ("a.md", "# 8 May 2023\n\ntea\n"),
        ("a.md", "Intro.\n\n## 2023.05.08\n\ntea\n"),
    ],
)
def test_the_day(tmp_path: Path, path: str, note: str) -> None:
    searcher = MemoryVault({path: note.encode(), "other.md": b"tea of no day\n"}).searcher(
        tmp_path, "whoosh", KEYWORDS_ONLY
    )
    found = {day: [hit.path for hit in searcher.search(f"tea after:{day} before:{day}").hits] for day in (DAY, "2023")}
    searcher.close()
    assert found == {DAY: [path], "2023": [path]}


@pytest.mark.parametrize("note", ["# 8 May 2023 to 9 May 2023\n\ntea\n", "# May 2023\n\ntea\n", "tea on 8 May 2023\n"])
def test_a_note_that_names_no_one_day_has_none(tmp_path: Path, note: str) -> None:
    searcher = MemoryVault({"a.md": note.encode()}).searcher(tmp_path, "whoosh", KEYWORDS_ONLY)
    assert searcher.search("tea after:2000 before:2100").hits == ()
    searcher.close()


def test_what_a_search_leaves_out_is_not_found_with_any_filter(tmp_path: Path) -> None:
    notes = {
        path: b"---\ntype: about\n---\ntea\n" if "about" in path else b"tea\n"
        for path in ("a.md", "b/about.md", "c/d.md")
    }
    searcher = MemoryVault(notes).searcher(tmp_path, "whoosh", KEYWORDS_ONLY)
    without = (Filters(keys=(("type", "about"),)), Filters(paths=("c/",)))
    for query in ("tea", "tea path:b/", "tea type:about", "path:c/"):
        found = {hit.path for hit in searcher.search(query, without=without).hits}
        assert found <= {"a.md"}, query
    assert {hit.path for hit in searcher.search("tea", without=without).hits} == {"a.md"}
    searcher.close()


def test_a_heading_that_all_notes_of_a_folder_share_says_nothing_of_any(tmp_path: Path) -> None:
    days = {f"days/{at}.md": f"# Garden diary {at}\n\nRain, all of day {at}.\n".encode() for at in range(6)}
    beds = {"plan.md": b"# Beds\n\nThe garden has four beds, the diary is in the shed.\n"}
    searcher = MemoryVault({**days, **beds}).searcher(tmp_path, "whoosh", KEYWORDS_ONLY)
    assert searcher.search("garden diary beds").hits[0].path == "plan.md"
    assert {leg.score for hit in searcher.search("garden diary", explain=True).hits for leg in hit.why
            if leg.name == "title" and hit.path in days} == {0.0}  # fmt: skip
    few = {path: note for path, note in days.items() if path < "days/3"}
    searcher.close()
    searcher = MemoryVault({**few, **beds}).searcher(tmp_path / "few", "whoosh", KEYWORDS_ONLY)
    assert max(leg.score for hit in searcher.search("garden diary", explain=True).hits for leg in hit.why
               if leg.name == "title") > 0  # fmt: skip
    searcher.close()
