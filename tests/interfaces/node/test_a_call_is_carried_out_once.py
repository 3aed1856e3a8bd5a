"""A call's id: the same answer for a day, and nothing twice, also across a crash of the host."""

import json
import os
from pathlib import Path

import pytest

from agent.interfaces.node.calls import CallLog, NodeResponse
from agent.interfaces.node.session import NodeFailure
from tests.fakes import FakeClock


def counting(done: list[int]) -> NodeResponse:
    done.append(1)
    return NodeResponse(200, {"output": f"done {len(done)}"})


def test_a_new_process_knows_the_calls_of_the_last(tmp_path: Path) -> None:
    done: list[int] = []
    for _ in range(3):
        calls = CallLog(tmp_path / "calls", FakeClock())
        assert calls.once("a", "t", {"x": 1}, lambda: counting(done)).document == {"output": "done 1"}


def test_a_call_that_was_cut_off_is_not_done_again(tmp_path: Path) -> None:
    def crash() -> NodeResponse:
        raise SystemExit

    with pytest.raises(SystemExit):
        CallLog(tmp_path / "calls", FakeClock()).once("a", "t", {}, crash)
    done: list[int] = []
    for _ in range(2):
        with pytest.raises(NodeFailure) as failed:
            CallLog(tmp_path / "calls", FakeClock()).once("a", "t", {}, lambda: counting(done))
        assert failed.value.code == "call_cut_off" and "look at what it did" in failed.value.hint
    assert done == []


def test_a_damaged_record_counts_as_cut_off(tmp_path: Path) -> None:
    done: list[int] = []
    calls = CallLog(tmp_path / "calls", FakeClock())
    calls.once("a", "t", {}, lambda: counting(done))
    [record] = (tmp_path / "calls").iterdir()
    for damage in (b"", b"{", b"\xff", b"[]", b"{}"):
        record.write_bytes(damage)
        with pytest.raises(NodeFailure):
            calls.once("a", "t", {}, lambda: counting(done))
    assert done == [1]


def test_records_are_private_and_go_after_a_day(tmp_path: Path) -> None:
    clock, done = FakeClock(), list[int]()
    calls = CallLog(tmp_path / "calls", clock)
    calls.once("../../a\ud800", "t", {}, lambda: counting(done))
    [record] = (tmp_path / "calls").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600 and (tmp_path / "calls").stat().st_mode & 0o777 == 0o700
    old = clock.now().timestamp() - 90_000
    os.utime(record, (old, old))
    calls.once("b", "t", {}, lambda: counting(done))
    assert not record.exists()


def test_each_request_has_a_line_in_the_log(tmp_path: Path) -> None:
    calls = CallLog(tmp_path / "node/calls", FakeClock())
    calls.log("clipboard", "a", {"text": "x" * 900}, NodeResponse(502, {"detail": "it broke"}), 0.25)
    [line] = calls.log_file.read_text().splitlines()
    row = json.loads(line)
    assert (row["tool"], row["call_id"], row["status"], row["problem"]) == ("clipboard", "a", 502, "it broke")
    assert len(row["arguments"]) < 520 and row["seconds"] == 0.25
    assert calls.log_file.stat().st_mode & 0o777 == 0o600
