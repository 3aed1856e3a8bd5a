"""The ledger: several processes, kills, damaged lines."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import LimitReached, LockHeld, Permanent
from agent.llm.ledger import Ledger
from agent.llm.messages import OnText, Usage
from tests.fakes import FakeClock
from tests.llm.spending import PLENTY, QUESTION, Answers, meter

PROJECT = Path(__file__).parents[2]
CALLER = """
import sys
from dataclasses import replace
from pathlib import Path
from agent.clock import SystemClock
from agent.errors import LimitReached
from agent.llm.messages import Usage
from tests.llm.spending import PLENTY, QUESTION, Answers, meter
made = 0
metered = meter(Path(sys.argv[1]), Answers(Usage(10, 500)), replace(PLENTY, daily_tokens=40_000),
                run=sys.argv[2], clock=SystemClock())
for _ in range(60):
    try:
        metered.chat(QUESTION)
    except LimitReached:
        break
    made += 1
print(made)
"""
DYING = """
import os, signal, sys
from pathlib import Path
from agent.clock import SystemClock
from tests.llm.spending import QUESTION, Answers, meter
def die(on_text):
    os.kill(os.getpid(), signal.SIGKILL)
meter(Path(sys.argv[1]), Answers(before=die), clock=SystemClock()).chat(QUESTION)
"""


def line(**changed: object) -> bytes:
    """A line of the ledger with one of its values made wrong; values are JSON as it stands."""
    fields = {"used": '"a"', "run": '"r1"', "job": '""', "model": '"m"', "input": 5, "output": 0, "cached": 0}
    said = {**fields, "written": 0, "money": 0, **changed}
    return ("{" + ", ".join(f'"{name}": {value}' for name, value in said.items()) + "}").encode()


def lines_of(folder: Path) -> list[str]:
    return [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines() if line]


def test_a_call_that_was_cut_by_a_kill_stays_reserved(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, str(tmp_path)], cwd=PROJECT, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    spent = Ledger(tmp_path, SystemClock()).totals_of("r1")
    assert (spent.calls, spent.open, spent.usage.output) == (1, 1, QUESTION.max_output)
    assert spent.money > 0


def test_processes_share_the_ceilings_of_a_day(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CALLER, str(tmp_path)]
    running = [
        subprocess.Popen([*command, f"r{number}"], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    made = [int(each.communicate(timeout=120)[0]) for each in running]
    today = Ledger(tmp_path, SystemClock()).totals(SystemClock().now().date())
    assert today.calls == sum(made)
    assert 38_000 < today.tokens <= 40_000


def test_a_torn_line_is_skipped_and_the_next_one_stands_alone(tmp_path: Path) -> None:
    clock = FakeClock()
    metered = meter(tmp_path, Answers(), clock=clock)
    metered.chat(QUESTION)
    day = tmp_path / f"{clock.now().date()}.jsonl"
    with day.open("ab") as file:
        file.write(b'{"reserved": "x", "run": "r1", "jo')
    afresh = meter(tmp_path, Answers(), clock=clock)
    assert afresh.spent().calls == 1
    clock.new_id()
    clock.new_id()
    afresh.chat(QUESTION)
    spent = Ledger(tmp_path, clock).totals_of("r1")
    assert (spent.calls, spent.damaged) == (2, 1)


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x00" * 80,
        b"[]",
        b'"text"',
        b"{}",
        line(input=-5),
        line(money="NaN"),
        line(money=-1),
        line(input="true"),
        line(used=7),
        line(run="null"),
        b"[" * 100_000,
    ],
    ids=str,
)
def test_a_damaged_line_is_counted_as_such_and_nothing_else(damaged: bytes, tmp_path: Path) -> None:
    clock = FakeClock()
    meter(tmp_path, Answers(), clock=clock).chat(QUESTION)
    day = tmp_path / f"{clock.now().date()}.jsonl"
    day.write_bytes(damaged + b"\n" + day.read_bytes())
    totals = Ledger(tmp_path, clock).totals(clock.now().date())
    assert (totals.calls, totals.usage, totals.damaged) == (1, Usage(100, 50), 1)


def test_what_was_used_counts_when_the_line_of_its_reservation_is_lost(tmp_path: Path) -> None:
    clock = FakeClock()
    meter(tmp_path, Answers(), clock=clock).chat(QUESTION)
    day = tmp_path / f"{clock.now().date()}.jsonl"
    lost, kept, _ = day.read_bytes().split(b"\n")
    day.write_bytes(b"garbage".ljust(len(lost)) + b"\n" + kept + b"\n")
    assert Ledger(tmp_path, clock).totals_of("r1").usage == Usage(100, 50)


@pytest.mark.parametrize("harm", ["remove", "empty", "half", "last line", "first line", "folder"])
def test_what_was_lost_from_a_day_gives_no_fresh_budget(tmp_path: Path, harm: str) -> None:
    clock, provider = FakeClock(), Answers()
    for _ in range(3):
        meter(tmp_path, provider, clock=clock).chat(QUESTION)
    day = tmp_path / f"{clock.now().date()}.jsonl"
    lines = day.read_bytes().splitlines(keepends=True)
    day.unlink()
    if harm == "folder":
        day.mkdir()
    elif harm != "remove":
        kept = {"empty": [], "half": lines[: len(lines) // 2], "last line": lines[:-1], "first line": lines[1:]}[harm]
        day.write_bytes(b"".join(kept))
    sent = len(provider.sent)
    with pytest.raises(Permanent, match="damaged|cannot be used") as raised:
        meter(tmp_path, provider, clock=clock).chat(QUESTION)
    assert len(provider.sent) == sent and raised.value.hint


def test_a_changed_figure_is_a_damaged_line_and_an_old_line_counts(tmp_path: Path) -> None:
    clock = FakeClock()
    meter(tmp_path, Answers(), clock=clock).chat(QUESTION)
    day = tmp_path / f"{clock.now().date()}.jsonl"
    whole = day.read_bytes()
    day.write_bytes(whole.replace(b'"input": 100', b'"input": 101', 1))
    assert Ledger(tmp_path, clock).totals(clock.now().date()).damaged == 1
    day.write_bytes(re.sub(rb', "crc": \d+', b"", whole))
    (tmp_path / f"{clock.now().date()}.length").unlink()
    assert Ledger(tmp_path, clock).totals(clock.now().date()).damaged == 0


def test_a_file_of_rubbish_stops_all_calls_and_says_what_to_do(tmp_path: Path) -> None:
    clock = FakeClock()
    day = tmp_path / f"{clock.now().date()}.jsonl"
    day.write_bytes(os.urandom(50).replace(b"\n", b"").join([b"x\n"] * 20))
    provider = Answers()
    with pytest.raises(Permanent) as raised:
        meter(tmp_path, provider, clock=clock).chat(QUESTION)
    assert "move it away" in raised.value.hint and provider.sent == []
    day.unlink()
    meter(tmp_path, provider, clock=clock).chat(QUESTION)


def test_a_day_that_cannot_be_read_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    clock = FakeClock()
    (tmp_path / f"{clock.now().date()}.jsonl").mkdir()
    provider = Answers()
    with pytest.raises(Permanent):
        meter(tmp_path, provider, clock=clock).chat(QUESTION)
    with pytest.raises(Permanent):
        Ledger(tmp_path, clock).totals(clock.now().date())
    assert provider.sent == []


def test_a_ledger_that_another_process_keeps_is_waited_for_and_then_reported(tmp_path: Path) -> None:
    clock = FakeClock()
    provider = Answers()
    with (tmp_path / "ledger.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(LockHeld):
            meter(tmp_path, provider, clock=clock).chat(QUESTION)
    assert provider.sent == [] and clock.elapsed >= 10


def test_every_reservation_is_on_the_disk_before_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        real(descriptor)
        steps.append("flushed")

    def called(on_text: OnText) -> None:
        steps.append(f"called after {len(lines_of(tmp_path))} line")

    monkeypatch.setattr(os, "fsync", watched)
    metered = replace(meter(tmp_path, Answers(before=called)), ledger=Ledger(tmp_path, FakeClock()))
    metered.chat(QUESTION)
    assert steps[0] == "flushed" and steps[-2:] == ["called after 1 line", "flushed"]


def test_the_lines_say_who_spent_what_and_nothing_of_what_was_said(tmp_path: Path) -> None:
    meter(tmp_path, Answers(), job="digest").chat(QUESTION)
    reserved, used = (json.loads(line) for line in lines_of(tmp_path))
    assert reserved["reserved"] == used["used"]
    assert used["run"] == "r1" and used["job"] == "digest" and used["model"] == "model-a"
    assert "tea" not in str(reserved) + str(used)


def test_a_ledger_outlives_many_meters(tmp_path: Path) -> None:
    clock = FakeClock()
    provider = Answers(Usage(0, 1000))
    ceilings = replace(PLENTY, daily=0.055)
    with pytest.raises(LimitReached):
        for number in range(20):
            meter(tmp_path, provider, ceilings, run=f"r{number}", clock=clock).chat(QUESTION)
    assert len(provider.sent) == 5
