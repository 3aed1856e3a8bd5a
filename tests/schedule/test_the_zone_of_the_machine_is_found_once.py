"""The zone of the machine is looked for again when it may have changed, and not for each job."""

from itertools import count
from pathlib import Path

import pytest
import tzlocal

from agent.schedule import occurrences
from agent.schedule.occurrences import machine_zone


def test_it_is_looked_for_again_after_a_change_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def look() -> str:
        looks.append(link.resolve().name)
        return f"Asia/{looks[-1]}"

    link, other = tmp_path / "localtime", tmp_path / "other"
    link.symlink_to("Tokyo")
    monkeypatch.setattr(occurrences, "_SET_IN", (str(link), str(tmp_path / "none")))
    monkeypatch.setattr(occurrences, "_looks", count(1))
    monkeypatch.setattr(tzlocal, "reload_localzone", look)
    monkeypatch.setattr(tzlocal, "get_localzone_name", lambda: f"Asia/{looks[-1]}")
    assert [machine_zone().key for _ in range(3)] == ["Asia/Tokyo"] * 3 and len(looks) == 1
    other.symlink_to("Seoul")
    other.replace(link)
    assert [machine_zone().key for _ in range(3)] == ["Asia/Seoul"] * 3 and len(looks) == 2
    monkeypatch.setenv("TZ", "Asia/Seoul")
    assert machine_zone().key == "Asia/Seoul" and len(looks) == 3
