"""Programs that flood, hang, fork and hide: stopped in time, and nothing of them stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import Interrupted, ToolFailed
from agent.tools.builtin.program import Program, ProgramLimits
from agent.tools.builtin.sandbox import best_sandbox, sandboxed_command

PROJECT = Path(__file__).parents[2]
SPARE = ProgramLimits(seconds=1.0)
HIDES = "setsid sh -c 'sleep 9{mark}' & setsid setsid sleep 8{mark} & (sleep 7{mark} &) ; trap '' TERM HUP INT; "


def program(folder: Path, script: str, limits: ProgramLimits, *, shut_in: bool = False) -> Program:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    command = ["sh", "-c", script]
    return Program(
        sandboxed_command(best_sandbox(), command, folder, home, ()) if shut_in else command,
        folder,
        home,
        limits,
        SystemClock(),
    )


def alive(mark: str) -> list[str]:
    """Processes that have `mark` in their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and any(word.endswith(mark.encode()) for word in words):
            found.append(entry.parent.name)
    return found


def gone(mark: str, seconds: float = 60.0) -> bool:
    """Whether such processes end within a while; killed ones take a moment to be cleared away."""
    over = time.monotonic() + seconds
    pause = threading.Event()
    while alive(mark):
        if time.monotonic() > over:
            return False
        pause.wait(0.02)
    return True


@pytest.mark.parametrize("shut_in", [False, True])
def test_what_hides_in_sessions_of_its_own_is_killed_too(shut_in: bool, tmp_path: Path) -> None:
    mark = f"{os.getpid()}1{int(shut_in)}"
    hiding = program(tmp_path, HIDES.format(mark=mark) + f"sleep 6{mark}", SPARE, shut_in=shut_in)
    began = time.monotonic()
    with pytest.raises(ToolFailed, match="stopped after 1 s"):
        hiding.run(lambda: False)
    assert time.monotonic() - began < 30
    assert gone(mark)


def test_what_is_left_in_the_background_goes_when_the_program_ends(tmp_path: Path) -> None:
    mark = f"{os.getpid()}20"
    assert program(tmp_path, HIDES.format(mark=mark) + "exit 5", ProgramLimits()).run(lambda: False) == 5
    assert gone(mark)


def test_it_is_cancelled_at_once(tmp_path: Path) -> None:
    mark = f"{os.getpid()}30"
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        program(tmp_path, f"sleep 9{mark}", ProgramLimits()).run(stop.is_set)
    assert time.monotonic() - began < 30
    assert gone(mark)


def test_it_ends_with_the_agent(tmp_path: Path) -> None:
    """The agent is killed outright: nothing of its own can clean up."""
    mark = f"{os.getpid()}40"
    script = (
        "import sys\nfrom pathlib import Path\nfrom agent.clock import SystemClock\n"
        "from agent.tools.builtin.program import ProgramLimits, Program\n"
        f"Program(['sh', '-c', 'setsid sleep 9{mark} & echo; sleep 8{mark}'], Path(sys.argv[1]), Path(sys.argv[1]), "
        "ProgramLimits(), SystemClock()).run(lambda: False)\n"
    )
    agent = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=PROJECT)
    pause = threading.Event()
    for _ in range(500):
        if len(alive(mark)) == 2:
            break
        pause.wait(0.02)
    assert len(alive(mark)) == 2
    agent.send_signal(signal.SIGKILL)
    agent.wait(60)
    assert gone(mark)


def test_a_flood_of_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    flood = program(
        tmp_path, "echo begin; head -c 50000000 /dev/zero | tr '\\0' a; echo; echo end", ProgramLimits(seconds=30.0)
    )
    assert flood.run(lambda: False) == 0
    text = flood.output.text()
    assert text.startswith("begin\na") and text.endswith("a\nend") and "bytes left out" in text
    assert len(text) < 15_000


def test_an_endless_flood_is_stopped(tmp_path: Path) -> None:
    flood = program(tmp_path, "yes", SPARE)
    with pytest.raises(ToolFailed) as raised:
        flood.run(lambda: False)
    assert len(raised.value.message) < 20_000


def test_time_on_the_processor_memory_and_files_are_limited(tmp_path: Path) -> None:
    limits = ProgramLimits(seconds=20.0, cpu=1, memory=64 << 20, file=1 << 20)
    assert program(tmp_path, "while :; do :; done", limits).run(lambda: False) == 128 + signal.SIGKILL
    eats = program(tmp_path, f"{sys.executable} -c 'x = bytearray(200 << 20)'", limits)
    assert eats.run(lambda: False) != 0 and "MemoryError" in eats.output.text()
    program(tmp_path, "head -c 5000000 /dev/zero > large", limits).run(lambda: False)
    assert (tmp_path / "large").stat().st_size <= 1 << 20


def test_a_program_has_no_input_to_wait_for(tmp_path: Path) -> None:
    assert program(tmp_path, 'cat; read x; echo "[$x]"', SPARE).run(lambda: False) == 0


def test_a_signal_is_told_as_shells_tell_it(tmp_path: Path) -> None:
    assert program(tmp_path, "kill -9 $$", SPARE).run(lambda: False) == 137
