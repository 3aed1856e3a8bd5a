"""What holds since a moment is said with the time of day: "since just now" is no English."""

import re
from pathlib import Path

from tests.interfaces.http.doors import wait_until
from tests.interfaces.http.pages.house import open_house


def test_the_status_says_since_what_time_the_agent_sleeps(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        assert re.search(r"since <time [^>]*>\d\d:\d\d</time>", house.fetch("/status"))


def test_the_status_is_shown_before_the_daemon_has_written_its_state(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        wait_until(house.workspace.daemon_state.exists, "the daemon has written its state")
        house.workspace.daemon_state.unlink()
        assert "That did not work" not in house.fetch("/status")
