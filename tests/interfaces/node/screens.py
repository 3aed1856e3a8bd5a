"""A screen without a monitor (Xvfb) for tests; they skip where a program for it is not installed."""

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest


def need(*programs: str) -> None:
    """Skip the test if a program is not installed."""
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    """The name of a screen."""
    need("Xvfb")
    read, write = os.pipe()
    number = f":{1000 + os.getpid() % 30_000}"  # two that start at once may both take the first free one
    command = ["Xvfb", number, "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        is_there = bool(pipe.readline().strip())
    if not is_there:
        server.wait()
        pytest.skip("Xvfb does not start here")
    yield number
    server.terminate()
    server.wait()
