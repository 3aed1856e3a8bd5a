"""Promise 12: what other programs do to the files is in the index soon, whatever the system tells of it."""

from pathlib import Path

import pytest

from tests.daemon.house import furnish, on_disk
from tests.trust import outside

MOST_GROWN = 150 << 20


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)


def test_a_checkout_of_many_files_under_load_is_seen_whole(tmp_path: Path) -> None:
    assert outside.check_checkout(tmp_path, 1_000, 30) < MOST_GROWN


@pytest.mark.chaos
def test_a_checkout_of_10_000_files_under_load_is_seen_whole(tmp_path: Path) -> None:
    assert outside.check_checkout(tmp_path, 10_000, 60, None) < MOST_GROWN


def test_dropped_events_are_made_up_for_at_once_where_the_system_says_so(tmp_path: Path) -> None:
    outside.check_overflow(tmp_path)
    assert on_disk(tmp_path / "vault").keys() == {"a.md", "c.md"}


def test_and_with_the_next_look_at_all_files_where_it_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("SCAN_SECONDS", "STILL_SCAN_SECONDS"):
        monkeypatch.setenv(f"VAULT_AGENT_WATCH__{key}", "2")
    outside.check_silence(tmp_path)
    assert on_disk(tmp_path / "vault").keys() == {"a.md"}
