"""The ledger knows after a crash, and beside another process, which occurrences were decided."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.errors import Permanent
from agent.records.database import Records
from agent.records.table import Lines
from agent.schedule import ledger as module
from agent.schedule.ledger import OccurrenceLedger
from agent.vault.layout import OCCURRENCES

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
KEY = "night@2026-11-23T02:30:00Z"


def key(minutes: int, job: str = "night") -> str:
    return f"{job}@{NOON + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def opened(folder: Path) -> OccurrenceLedger:
    return OccurrenceLedger(Records(folder, durable=False))


def test_what_was_begun_is_known_after_a_restart(tmp_path: Path) -> None:
    opened(tmp_path).begin(KEY, NOON)
    after = opened(tmp_path)
    assert after.has(KEY)
    assert after.open() == (KEY,)
    assert after.last_begin("night") == NOON
    after.end(KEY, "interrupted", NOON + timedelta(seconds=5))
    assert opened(tmp_path).open() == ()
    assert opened(tmp_path).has(KEY)


@pytest.mark.parametrize(
    "line", ["", "\0" * 512, "\t" * 7 + ".", "x\tbegin\ty\t\trun\t\t\t.", "2026-11-23T12:00:00+00:00\tbegin"]
)
def test_other_lines_are_skipped(tmp_path: Path, line: str) -> None:
    Lines(Records(tmp_path, durable=False), OCCURRENCES).append(line)
    opened(tmp_path).begin(KEY, NOON)
    Lines(Records(tmp_path, durable=False), OCCURRENCES).append(line)
    assert opened(tmp_path).open() == (KEY,)


def test_a_decision_stands_for_all_since_the_first(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.offer(key(60), NOON)
    assert ledger.is_offered(key(60))
    assert not ledger.has(key(30))
    ledger.decide(key(60), "missed", NOON + timedelta(hours=2), "the daemon\nwas off")
    for each in (ledger, opened(tmp_path)):
        assert [each.has(key(at)) for at in (-1, 0, 30, 60, 61)] == [False, True, True, True, False]
        assert not each.has(key(30, "other"))
        assert not each.is_offered(key(60))
        assert each.decisions("night")[0].reason == "the daemon was off"


def test_after_the_clock_was_set_back_only_runs_count(tmp_path: Path) -> None:
    """What was missed in a future that never came is still to come; what ran there does not run again."""
    ledger = opened(tmp_path)
    ledger.begin(key(20), NOON + timedelta(minutes=20))
    ledger.offer(key(120), NOON - timedelta(minutes=10))
    ledger.decide(key(120), "missed", NOON + timedelta(hours=2))
    ledger.set_back(NOON)
    for each in (ledger, opened(tmp_path)):
        assert [each.has(key(at)) for at in (-10, 0, 20, 60, 120)] == [True, True, True, False, False]


def test_two_processes_see_each_other_s_lines(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    one.begin(key(1), NOON)
    other.begin(key(2), NOON)
    assert set(one.open()) == {key(1), key(2)} == set(other.open())


def test_the_heartbeat_is_written_once_a_minute_and_at_the_end(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    assert ledger.looked is None
    ledger.look_at(NOON)
    ledger.look_at(NOON + timedelta(seconds=59))
    assert opened(tmp_path).looked == NOON
    ledger.close()
    assert opened(tmp_path).looked == NOON + timedelta(seconds=59)


def test_the_heartbeat_names_what_was_offered_and_not_decided(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.offer(key(3), NOON)
    ledger.offer(key(9), NOON + timedelta(minutes=9))
    ledger.offer(key(9, "other"), NOON + timedelta(minutes=9))
    ledger.begin(key(9, "other"), NOON + timedelta(minutes=9))
    ledger.look_at(NOON + timedelta(minutes=10))
    held = opened(tmp_path).held
    assert {job: [(each.key, each.first) for each in offers] for job, offers in held.items()} == {
        "night": [(key(3), NOON), (key(9), NOON + timedelta(minutes=9))]
    }
    ledger.decide(key(3), "missed", NOON)
    ledger.decide(key(9), "missed", NOON)
    ledger.close()
    assert opened(tmp_path).held == {}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"looked": 3, "held": {}}', '{"looked": "2026-01-01"}'])
def test_a_damaged_heartbeat_is_a_day_before_the_last_line(tmp_path: Path, damage: str) -> None:
    ledger = opened(tmp_path)
    ledger.begin(KEY, NOON)
    Records(tmp_path, durable=False).rows("INSERT INTO record VALUES ('heartbeat', '', ?)", damage)
    assert opened(tmp_path).looked == NOON - timedelta(days=1)


def test_decisions_older_than_five_weeks_are_left_out_of_a_long_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = opened(tmp_path)
    ledger.begin("old@2026-10-01T00:00:00Z", NOON - timedelta(days=50))
    ledger.offer(key(5), NOON)
    ledger.begin(key(5), NOON)
    ledger.end(key(5), "done", NOON)
    ledger.begin(key(6), NOON)
    ledger.decide(key(7), "skipped", NOON, "not now")
    monkeypatch.setattr(module, "_MANY", 4)
    for _ in range(2):
        after = opened(tmp_path)
        assert not after.has("old@2026-10-01T00:00:00Z")
        assert [after.has(key(each)) for each in range(-1, 9)] == [False] + [True] * 8 + [False]
        assert after.open() == (key(6),)
        assert [each.outcome for each in after.decisions("night")] == ["done", "", "skipped"]


def test_a_ledger_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("a file where the folder should be")
    with pytest.raises(Permanent, match="cannot be used"):
        opened(tmp_path / "there").begin(KEY, NOON)
