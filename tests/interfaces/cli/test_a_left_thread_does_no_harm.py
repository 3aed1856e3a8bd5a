"""A thread that is left in the midst of something does not crash the program's end, and what was said is shown."""

import subprocess
import sys

import pytest

from tests.stories.agents import PROJECT

ENDS = """
import atexit, sys, threading, time
from agent.interfaces.cli.main import leave
atexit.register(lambda: print("taken down", flush=True))
threading.Thread(target=lambda: time.sleep(1000), daemon=True).start() if {starts} else None
sys.stdout.write("said; ")
leave(3)
"""


@pytest.mark.parametrize(("starts", "shown"), [(True, "said; "), (False, "said; taken down\n")])
def test_the_interpreter_is_taken_down_only_where_nothing_runs(starts: bool, shown: str) -> None:
    words = [sys.executable, "-c", ENDS.format(starts=starts)]
    ended = subprocess.run(words, capture_output=True, text=True, cwd=PROJECT, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, shown, "")
