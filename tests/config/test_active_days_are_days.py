"""The days of the week in a setting: lists and spans from 0 to 6, and nothing else."""

import pytest

from agent.config.settings import setting_type
from agent.errors import ConfigError


@pytest.mark.parametrize("text", ["0-6", "0", "0,2,4", "0-1,5-6", "5-1"])
def test_days_and_spans_of_days_are_taken(text: str) -> None:
    assert setting_type("schedule.active_days").read(text) == text


@pytest.mark.parametrize("text", ["", "7", "0-7", "monday", "0-", "[0, 1]", "1 2", "０"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="days such as 0-4 or 0,2,4; 0 is Monday"):
        setting_type("schedule.active_days").read(text)
