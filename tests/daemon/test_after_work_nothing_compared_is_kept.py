"""Texts that work has compared are forgotten with its end: a daemon meets new ones all day long."""

from pathlib import Path

import pytest

from agent.memory.understanding.rules import is_same
from agent.memory.understanding.wording import wording
from tests.daemon.house import BRISK, living
from tests.stories.agents import furnish


def test_the_pool_forgets_what_was_compared_once_it_is_idle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in BRISK.items():
        monkeypatch.setenv(key, value)
    with living(furnish(tmp_path, monkeypatch.setenv)) as house:
        assert is_same("My sister lives in Porto", "My sister lives in Porto.")
        assert wording.cache_info().currsize
        house.live.pool.idle()
        assert not wording.cache_info().currsize
