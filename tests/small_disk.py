"""A file system of a few megabytes, for what happens on a full disk."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def mounted_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A new folder in this one, on a disk of its own; skips the test where none can be mounted."""
    place = folder / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(place)]
    with suppress(OSError):
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            try:
                yield place
            finally:
                subprocess.run(["umount", "-l", place], capture_output=True, check=True)
            return
    pytest.skip("only root may mount a small disk")
