"""Ctrl-C at a terminal is for this program, not for the git that it has started."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.interfaces.cli.terminal import take_terminal
from tests.vaults import blob_id, make_vault

PROGRAM = """
import os, signal, sys
from pathlib import Path
from agent.git.runner import Git

signals = []
signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
end, begin = os.pipe()
running = Git(Path(sys.argv[1]), Path(sys.argv[2])).start("hash-object", "-w", "--stdin", stdin=os.fdopen(end, "rb"))
print("git runs", flush=True)
sys.stdin.readline()
os.write(begin, b"tea")
os.close(begin)
print("signals", len(signals), "made", running.wait().decode())
"""


def test_a_git_at_work_is_not_ended_by_ctrl_c_at_the_terminal(tmp_path: Path) -> None:
    place = make_vault(tmp_path).place
    keyboard, inside = pty.openpty()
    command = [sys.executable, "-c", PROGRAM, str(place.gitdir), str(place.worktree)]
    process = subprocess.Popen(
        command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True, preexec_fn=take_terminal
    )
    os.close(inside)
    with process:
        assert b"git runs" in _seen(keyboard, b"git runs")
        os.write(keyboard, b"\x03\n")
        seen = _seen(keyboard)
    os.close(keyboard)
    assert f"signals 1 made {blob_id(b'tea')}".encode() in seen


def _seen(terminal: int, wanted: bytes = b"") -> bytes:
    """What comes from the terminal: up to `wanted`, or until the program has ended."""
    seen = b""
    while not wanted or wanted not in seen:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the program has ended
            break
        if not piece:
            break
        seen += piece
    return seen
