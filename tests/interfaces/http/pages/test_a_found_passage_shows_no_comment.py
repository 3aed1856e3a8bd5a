"""A passage that a search has found is shown without the comments in it, also where it is cut."""

from pathlib import Path

from tests.interfaces.http.pages.house import open_house

ROOF = f"# Roof\n\nThe roof is of slate.\n\n%% zebra {'words ' * 120}%%\n"


def test_a_comment_longer_than_what_is_shown_is_left_out(tmp_path: Path) -> None:
    with open_house(tmp_path, {"roof.md": ROOF}) as house:
        house.until(lambda: "The roof is of slate." in house.fetch("/notes?q=slate"), "the note is found")
        shown = house.fetch("/notes?q=slate")
    assert "zebra" not in shown
