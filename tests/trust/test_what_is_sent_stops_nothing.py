"""Promise 22, but for git: whatever strangers send through a door, nothing raises past it, the next good item is read,
nothing is met twice, and memory stays small."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trust.foreign_doors import DOORS

ROOT = Path(__file__).parents[2]
MOST_MEGABYTES = 500
COUNTS = [200, pytest.param(10_000, marks=pytest.mark.chaos)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("door", sorted(DOORS))
def test_whatever_comes_the_next_good_item_is_read(tmp_path: Path, door: str, count: int) -> None:
    environ = {**os.environ, "VAULT_AGENT_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.trust.foreign_doors", door, str(count)]
    ran = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=1_800, check=False)
    assert ran.returncode == 0, ran.stderr[-3_000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["failed"] == [] and found["twice"] == 0, found
    assert found["read"] == found["good"] > 0 and found["items"] >= count, found
    assert found["megabytes"] <= MOST_MEGABYTES, found
