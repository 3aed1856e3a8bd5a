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
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        number = pipe.readline().strip()
    if not number:
        server.wait()
        pytest.skip("Xvfb does not start here")
    yield f":{number}"
    server.terminate()
    server.wait()
