"""What was stored is there after a restart, beside other processes, and after damage; and old files become rows."""

import json
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal

import pytest

from agent.dataclass import dataclass
from agent.records.database import DAMAGED, NAME, Records, RecordsUnusable
from agent.records.table import Table
from agent.records.takeover import parse_value, write_value


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Cup:
    name: str
    size: float = 1.0


@dataclass(frozen=True, slots=True)
class Tray:
    at: datetime
    day: date
    state: Literal["full", "empty"]
    colour: Colour
    cups: tuple[Cup, ...] = ()
    notes: Mapping[str, tuple[int, ...]] | None = None
    is_old: bool = False


TRAY = Tray(datetime(2026, 11, 30, 7, tzinfo=UTC), date(2026, 1, 2), "full", Colour.RED, (Cup("茶"),), {"a": (1, 2)})


def table(folder: Path) -> Table[Tray]:
    return Table(Records(folder, durable=False), "trays", Tray)


def test_a_value_is_there_after_a_restart(tmp_path: Path) -> None:
    table(tmp_path).put(TRAY, "one")
    table(tmp_path).put(Tray(TRAY.at, TRAY.day, "empty", Colour.RED), "b\udce9")
    assert table(tmp_path).get("one") == TRAY and table(tmp_path).get("two") is None
    assert [each.state for each in table(tmp_path).all()] == ["empty", "full"]
    table(tmp_path).drop("b\udce9")
    assert [key for key, _ in table(tmp_path).items()] == ["one"]
    assert all(not stat.S_IMODE(path.stat().st_mode) & 0o077 for path in tmp_path.glob(f"{NAME}*"))


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("at", "2026-11-30T07:00:00"), ("at", 3), ("day", "soon"), ("state", "half"), ("state", None), ("colour", "x"),
        ("cups", {}), ("cups", [{"size": 1}]), ("cups", ["x"]), ("notes", {"a": ["b"]}), ("notes", 3), ("is_old", 1),
    ],
)  # fmt: skip
def test_a_field_of_a_wrong_type_is_no_value(tmp_path: Path, field: str, wrong: object) -> None:
    document = {**json.loads(write_value(TRAY)), field: wrong}
    with pytest.raises(ValueError):
        parse_value(Tray, json.dumps(document))
    database = Records(tmp_path, durable=False)
    database.rows("INSERT INTO record VALUES ('trays', '', ?)", json.dumps(document))
    assert table(tmp_path).get() is None and table(tmp_path).has() and table(tmp_path).all() == []


def test_a_field_that_a_later_version_adds_has_its_default() -> None:
    assert parse_value(Cup, '{"name": "x", "more": 1}') == Cup("x")


def test_a_transaction_is_done_whole_or_not_at_all(tmp_path: Path) -> None:
    trays = table(tmp_path)
    with pytest.raises(KeyError), trays.database.transaction():
        trays.put(TRAY, "one")
        with trays.database.transaction():
            trays.put(TRAY, "two")
        raise KeyError
    assert trays.all() == []
    with trays.database.transaction():
        trays.put(TRAY, "one")
    assert table(tmp_path).all() == [TRAY]


_ADD = """
import sys
from pathlib import Path
from agent.records.database import Records
from agent.records.table import Table
numbers = Table(Records(Path(sys.argv[1]), durable=False), "number", int)
for _ in range(50):
    with numbers.database.transaction():
        numbers.put((numbers.get() or 0) + 1)
"""


def test_several_processes_and_threads_lose_nothing_of_each_other(tmp_path: Path) -> None:
    others = [subprocess.Popen([sys.executable, "-c", _ADD, str(tmp_path)]) for _ in range(3)]
    numbers = Table(Records(tmp_path, durable=False), "number", int)

    def add() -> None:
        for _ in range(50):
            with numbers.database.transaction():
                numbers.put((numbers.get() or 0) + 1)

    threads = [threading.Thread(target=add) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.wait() for each in others] == [0, 0, 0]
    assert numbers.get() == 250


@pytest.mark.parametrize("seed", range(20))
def test_damage_heals_and_what_can_be_read_is_kept(tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    chance, first = random.Random(seed), table(tmp_path)
    for number in range(200):
        first.put(Tray(TRAY.at, TRAY.day, "full", Colour.RED, (Cup("x" * 200),)), f"{number:03}")
    first.database.empty_log()
    file = tmp_path / NAME
    data = bytearray(file.read_bytes())
    match seed % 4:
        case 0:
            data = bytearray(chance.randbytes(300))
        case 1:
            del data[chance.randrange(len(data)) :]
        case 2:
            at = 4096 * chance.randrange(1, len(data) // 4096)
            data[at : at + 4096] = chance.randbytes(4096)
        case _:
            data = bytearray()
    file.write_bytes(data)
    for known in (first, table(tmp_path)):
        known.put(TRAY, "new")
        assert known.get("new") == TRAY
        assert all(
            each in (TRAY, Tray(TRAY.at, TRAY.day, "full", Colour.RED, (Cup("x" * 200),))) for each in known.all()
        )
    if seed % 4 == 0:
        assert (tmp_path / DAMAGED).exists() and "is begun anew" in caplog.text
    if seed % 4 == 2:
        assert len(table(tmp_path).all()) > 50, "what can be read is taken along"


def test_another_process_that_begins_the_file_anew_is_noticed(tmp_path: Path) -> None:
    one, other = table(tmp_path), table(tmp_path)
    one.put(TRAY, "one")
    assert other.get("one") == TRAY
    (tmp_path / NAME).write_bytes(b"no database at all" * 300)
    one.put(TRAY, "two")
    assert other.get("two") == TRAY
    other.put(TRAY, "three")
    assert [key for key, _ in one.items()][-2:] == ["three", "two"]
    for path in tmp_path.glob(f"{NAME}*"):
        path.unlink()
    other.put(TRAY, "four")
    assert one.get("four") == TRAY


def test_a_folder_in_its_place_is_moved_aside_and_a_disk_that_refuses_is_said(tmp_path: Path) -> None:
    (tmp_path / "one" / NAME).mkdir(parents=True)
    table(tmp_path / "one").put(TRAY)
    assert table(tmp_path / "one").get() == TRAY
    (tmp_path / "two").write_bytes(b"")
    with pytest.raises(RecordsUnusable, match="cannot be used"):
        table(tmp_path / "two").put(TRAY)


def test_what_was_dropped_is_gone_from_the_disk(tmp_path: Path) -> None:
    known = table(tmp_path)
    known.put(Tray(TRAY.at, TRAY.day, "full", Colour.RED, (Cup("the-secret"),)), "one")
    known.drop("one")
    known.database.empty_log()
    assert not any(b"the-secret" in path.read_bytes() for path in tmp_path.iterdir())
