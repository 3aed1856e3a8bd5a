"""One durable change, call by call: nothing is relied on before it is on disk, and no note is ever open for writing."""

import shutil
from pathlib import Path

import pytest

from tests.trust.calls import check_opened, check_order, record

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def test_each_step_is_on_disk_before_the_next_relies_on_it(tmp_path: Path) -> None:
    root, calls = record(tmp_path)
    assert len(calls) > 50
    check_order(root, calls)
    check_opened(root, calls)
