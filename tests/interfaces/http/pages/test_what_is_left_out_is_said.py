"""The page of the status tells a file that no commit takes in from one that waits for its commit."""

import re
from pathlib import Path

from agent.texts import text
from tests.interfaces.http.pages.house import open_house


def test_a_file_that_is_no_text_does_not_wait_for_its_commit(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        (house.root / "photo.jpg").write_bytes(b"\xff\xd8\0\0 not for the history")
        page = house.fetch("/status")
    told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page, re.DOTALL))
    assert "photo.jpg" in told[text("pages.left_out", "en")]
    assert "photo.jpg" not in told[text("pages.uncommitted", "en")]
