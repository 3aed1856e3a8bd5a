"""What freed work has used goes back to the system, however many threads it was done in."""

import subprocess
import sys

import pytest

WORK = """
import sys, threading
from agent.workspace.process_memory import give_back_memory, use_one_heap

def held():
    lines = open("/proc/self/status").read().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1_000

class Part:
    def __init__(self):
        self.other = self  # found by the search for garbage only
        self.data = [bytes(50_000) for _ in range(200)]

def work():
    kept.append([bytes(50_000) for _ in range(2)])
    Part()

if sys.argv[1] == "yes":
    use_one_heap()
kept, before = [], held()
both = threading.Barrier(2)  # a second thread that lives at the same time has a heap of its own
for _ in range(40):
    threads = [threading.Thread(target=lambda: (both.wait(), work(), both.wait())) for _ in range(2)]
    for each in threads: each.start()
    for each in threads: each.join()
    if sys.argv[1] == "yes":
        give_back_memory()
print(held() - before - 80 * 0.1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_work_in_many_threads_leaves_nothing_behind() -> None:
    left = float(subprocess.run([sys.executable, "-c", WORK, "yes"], capture_output=True, check=True, text=True).stdout)

    assert left < 15, f"{left:.0f} MB"
