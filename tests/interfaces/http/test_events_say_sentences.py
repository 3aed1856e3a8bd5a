"""An event may hold a sentence that knows its languages; the stream of events goes on with it."""

import json
from collections.abc import Iterator
from pathlib import Path

from agent.events.notices import NotificationSuppressed
from agent.texts import Sentence
from tests.interfaces.http.doors import open_house


def test_a_stream_goes_on_after_an_event_with_a_sentence(tmp_path: Path) -> None:
    with open_house(tmp_path) as house, house.client.stream("GET", "/api/v1/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: hello"
        for rule in (Sentence("{count} notes cannot run", count=3), "quiet"):
            house.live.bus.publish(NotificationSuppressed("n1", "task_due", "held", rule))
        said = [json.loads(line.removeprefix("data: ")) for line in _until(lines, "quiet") if line.startswith("data: ")]
        assert [each["rule"] for each in said if "rule" in each] == ["3 notes cannot run", "quiet"]


def _until(lines: Iterator[str], last: str) -> list[str]:
    found: list[str] = []
    for line in lines:
        found.append(line)
        if last in line:
            return found
    return found
