"""The days of the week in a setting: lists and spans from 0 to 6, and nothing else."""

import pytest

from agent.config.load import load_settings
from agent.config.settings import setting_type
from agent.errors import ConfigError


@pytest.mark.parametrize("text", ["0-6", "0", "0,2,4", "0-1,5-6", "5-1"])
def test_days_and_spans_of_days_are_taken(text: str) -> None:
    assert setting_type("schedule.active_days").read(text) == text


@pytest.mark.parametrize("text", ["", "7", "0-7", "monday", "0-", "[0, 1]", "1 2", "０"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="days such as 0-4 or 0,2,4; 0 is Monday"):
        setting_type("schedule.active_days").read(text)


@pytest.mark.parametrize(
    ("text", "days"), [("0-6", (0, 1, 2, 3, 4, 5, 6)), ("3", (3,)), ("5-1,3", (0, 1, 3, 5, 6)), ("4,0", (0, 4))]
)
def test_the_days_are_those_of_the_spans(text: str, days: tuple[int, ...]) -> None:
    loaded = load_settings(flags={"schedule.active_days": text}, environ={"VAULT_AGENT_HOME": "/nowhere"})
    assert loaded.settings.schedule.days == days
