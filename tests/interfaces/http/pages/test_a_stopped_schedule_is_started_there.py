"""The pages say that the schedule of their vault is stopped, and have the buttons that stop and start it."""

from collections.abc import Iterator

import pytest

from agent.workspace.schedule_switch import schedule_switch
from tests.interfaces.http.pages.house import House, open_house
from tests.stories.agents import NOTES

STOPPED = "the schedule of this vault is stopped: no job and no task begins"


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("switch"), NOTES) as found:
        yield found


def test_it_is_said_on_the_first_page_and_stopped_and_started_there(house: House) -> None:
    assert "/jobs/stop" in house.fetch("/jobs") and "/jobs/start" not in house.fetch("/jobs")
    assert STOPPED not in house.fetch("/")
    house.post("/jobs/stop")
    assert not schedule_switch(house.workspace).enabled
    for page in ("/", "/needs", "/jobs", "/status"):
        found = house.fetch(page)
        assert STOPPED in found and "/jobs/start" in found and "vault-agent jobs start" in found, page
    assert "Nothing needs you" not in house.fetch("/needs")
    house.post("/jobs/start")
    assert schedule_switch(house.workspace).enabled and STOPPED not in house.fetch("/")
