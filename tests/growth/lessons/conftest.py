"""Fixtures of the tests about rules."""

from pathlib import Path

import pytest

from tests.fakes import FakeClock
from tests.growth.lessons.desk import START, Desk
from tests.vaults import make_vault


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    clock = FakeClock(START)
    return Desk(make_vault(tmp_path, {"tea.md": "# Tea\n"}, clock=clock), clock)
