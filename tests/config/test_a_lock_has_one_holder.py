"""A lock has one holder at a time, is waited for no longer than was said, and is free again when its holder dies."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.config.private import hold, is_held
from tests.fakes import FakeClock

HOLDER = """
import sys
from pathlib import Path
from agent.clock import SystemClock
from agent.config.private import hold
with hold(Path(sys.argv[1]), SystemClock(), 0):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_second_waits_as_long_as_was_said_and_is_told(tmp_path: Path) -> None:
    clock, path = FakeClock(), tmp_path / "lock"
    assert not is_held(path) and not path.exists()
    with hold(path, clock, 0) as first:
        assert first is not None and is_held(path)
        assert path.stat().st_mode & 0o777 == 0o600
        with hold(path, clock, 0.5) as second:
            assert second is None
        assert 0.5 <= clock.elapsed < 0.6
        assert is_held(path), "who came too late has freed it"
    assert not is_held(path)
    with hold(path, clock, 0) as again:
        assert again is not None


def test_it_is_free_after_an_error_and_who_asks_does_not_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with pytest.raises(KeyError), hold(path, FakeClock(), 0):
        raise KeyError
    assert not is_held(path) and not is_held(path)


def test_a_file_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError), hold(tmp_path / "none" / "lock", FakeClock(), 0):
        pass


def test_it_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        assert is_held(path)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with hold(path, SystemClock(), 0) as held:
        assert held is not None
